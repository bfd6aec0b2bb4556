"""Legal search over a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.legal.routes import CasesAnswer, LegalStatsAnswer, RegulationAnswer, RegulationsAnswer
from qiusuo.web.schemas import ErrorAnswer
from tests.support.web_server import WebServer

pytest_plugins = ["tests.support.legal_fixtures"]


@pytest.fixture(scope="module")
def server(sample_folder: Path) -> Iterator[WebServer]:
    with WebServer.over("tavily", legal_dir=str(sample_folder)) as server:
        yield server


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A server without an index and without an engine."""
    folder = tmp_path_factory.mktemp("no-index")
    with WebServer(SearchService([], Settings.load(legal_dir=str(folder)))) as server:
        yield server


def regulations(server: WebServer, query: str, **body: Any) -> Any:
    answer = server.client.post("/api/legal/regulations", json={"query": query, **body})
    assert answer.status_code == 200, answer.text
    RegulationsAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    return answer.json()


class TestRegulations:
    def test_an_article_by_its_number(self, server: WebServer) -> None:
        data = regulations(server, "茶叶法第三条第二款", asOf="2020-01-01")
        assert (data["origin"], data["totalResults"]) == ("index", 1)
        (result,) = data["results"]
        assert (result["lawName"], result["articleNumber"]) == ("中华人民共和国茶叶法", "第三条")
        assert (result["status"], result["version"], result["effectiveDate"]) == (
            "现行有效",
            "2010-03-01",
            "2010-07-01",
        )
        assert result["chapter"] == "第二章 茶农的权利"
        assert result["excerpt"].startswith("采摘时间由茶农书面告知茶厂")
        assert server.world.requests("tavily") == 0

    def test_an_answer_says_whether_it_comes_from_the_cache(self, server: WebServer) -> None:
        assert regulations(server, "茶叶法第三条")["cached"] is False
        asked = [regulations(server, "可可豆发酵标准") for _ in range(2)]
        assert [(data["origin"], data["cached"]) for data in asked] == [("web", False), ("web", True)]

    def test_of_another_day(self, server: WebServer) -> None:
        assert regulations(server, "茶叶法第三条", asOf="2027-06-01")["results"][0]["version"] == "2025-10-01"

    def test_words_and_their_number(self, server: WebServer) -> None:
        assert regulations(server, "茶叶", limit=2)["totalResults"] == 2

    def test_what_the_index_lacks_comes_from_the_web_and_says_so(self, server: WebServer) -> None:
        data = regulations(server, "咖啡豆烘焙管理办法", limit=3)
        assert (data["origin"], data["totalResults"]) == ("web", 3)
        assert "网络检索" in data["notes"][-1]

    @pytest.mark.parametrize(
        "body",
        [{}, {"query": " "}, {"query": "x", "asOf": "tomorrow"}, {"query": "x", "limit": 0}, {"query": "x", "q": 1}],
    )
    def test_a_body_that_is_not_valid(self, server: WebServer, body: dict[str, Any]) -> None:
        answer = server.client.post("/api/legal/regulations", json=body)
        assert answer.status_code == 400
        assert answer.json()["error"] == "InvalidQuery"

    def test_a_day_that_does_not_exist(self, server: WebServer) -> None:
        answer = server.client.post("/api/legal/regulations", json={"query": "茶叶法", "asOf": "2021-02-30"})
        assert (answer.status_code, "2021-02-30" in answer.json()["message"]) == (400, True)


class TestCases:
    def test_found_filtered_and_read(self, server: WebServer) -> None:
        body = {"query": "窃取茶叶", "caseType": "刑事", "court": "黑山", "dateFrom": None, "limit": 3}
        answer = server.client.post("/api/legal/cases", json=body)
        assert answer.status_code == 200
        CasesAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
        (found,) = answer.json()["results"]
        assert found["caseNumber"] == "（2020）某0102刑初1号"
        assert "赵铁柱" not in answer.text
        for reference in (found["id"], found["caseNumber"]):
            detail = server.client.get(f"/api/legal/cases/{quote(reference)}")
            assert detail.status_code == 200
            (case,) = detail.json()["results"]
            assert "窃取茶叶二十斤" in case["text"]
            assert "赵铁柱" not in detail.text

    def test_one_that_is_not_there(self, server: WebServer) -> None:
        answer = server.client.get("/api/legal/cases/" + quote("（1999）某01民终1号"))
        assert answer.status_code == 404
        assert "（1999）某01民终1号" in answer.json()["message"]
        assert server.client.get("/api/legal/cases/" + "9" * 201).status_code == 400


class TestCard:
    def test_the_law_behind_a_search_result(self, server: WebServer, sample_folder: Path) -> None:
        item = regulations(server, "茶叶法第四条")["results"][0]
        answer = server.client.get("/api/legal/card", params={"url": item["url"]})
        assert answer.status_code == 200
        RegulationAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
        card = answer.json()
        assert card["content"].startswith("茶厂拖欠茶款的")
        names = ("lawName", "articleNumber", "status", "version", "effectiveDate", "chapter", "url", "cited")
        assert {name: card[name] for name in names} == {name: item[name] for name in names}
        assert str(sample_folder) not in answer.text

    @pytest.mark.parametrize(
        "url", ["https://example.com/", "https://flk.npc.gov.cn/?title=x", "javascript:alert(1)", "x"]
    )
    def test_of_any_other_address_there_is_none(self, server: WebServer, url: str) -> None:
        assert server.client.get("/api/legal/card", params={"url": url}).status_code == 404
        assert server.client.get("/api/legal/card").status_code == 400


def test_stats(server: WebServer, sample_folder: Path) -> None:
    answer = server.client.get("/api/legal/stats")
    LegalStatsAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    assert answer.json()["cases"] == 4
    assert str(sample_folder) not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/legal/regulations", {"query": "民法典第577条"}),
        ("POST", "/api/legal/cases", {"query": "醉驾"}),
        ("GET", "/api/legal/cases/1", None),
        ("GET", "/api/legal/card?url=https://flk.npc.gov.cn/", None),
        ("GET", "/api/legal/stats", None),
    ],
)
def test_without_an_index_the_fix_is_named(bare: WebServer, method: str, path: str, body: Any) -> None:
    answer = bare.client.request(method, path, json=body)
    assert answer.status_code == 503
    ErrorAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    assert answer.json()["fix"] == "On the server, run: qiusuo legal install"
    assert "no-index" not in answer.text
