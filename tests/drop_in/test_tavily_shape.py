"""``/tavily`` in Tavily's shape; programs made for Tavily are in test_drop_in_clients.py."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.web.drop_in.tavily import TavilyError, TavilyExtractAnswer, TavilySearchAnswer
from tests.support.openai_world import serving
from tests.support.scripted_model import Reply
from tests.support.web_server import WebServer, page_site


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with page_site() as (site, reader), WebServer.over("tavily", "brave", reader=reader) as server:
        server.site = site
        yield server


def sent(server: WebServer) -> Any:
    return server.world["tavily"].seen[-1].json


class TestSearch:
    def search(self, server: WebServer, query: str, **body: Any) -> Any:
        answer = server.client.post("/tavily/search", json={"query": query, **body})
        assert answer.status_code == 200, answer.text
        TavilySearchAnswer.model_validate_json(answer.content, extra="forbid")
        return answer.json()

    def test_fields_are_those_of_tavily(self, server: WebServer) -> None:
        data = self.search(server, "大模型 智能体", include_answer=True, include_images=True)
        assert list(data) == [
            "query", "follow_up_questions", "answer", "images", "results", "response_time", "request_id",
        ]  # fmt: skip
        assert (data["query"], data["images"]) == ("大模型 智能体", [])
        assert "大模型 智能体" in data["answer"]  # without a model: sentences of the results
        assert self.search(server, "大模型 智能体")["answer"] is None
        assert len(data["results"]) == 5
        first = data["results"][0]
        assert "大模型 智能体" in first["title"]
        assert first["url"] == "https://site1.example.com/page/1"
        assert (0 <= first["score"] <= 1, first["raw_content"]) == (True, None)
        assert data["response_time"] >= 0

    def test_parameters_have_their_effect(self, server: WebServer) -> None:
        self.search(
            server,
            "elections",
            topic="news",
            time_range="w",
            max_results=3,
            include_domains=["https://example.com/news", "*.example.com"],
            exclude_domains=["site2.example.com"],
            search_depth="advanced",
            chunks_per_source=3,
        )
        body = sent(server)
        assert (body["topic"], body["time_range"], body["max_results"]) == ("news", "week", 3)
        assert (body["include_domains"], body["exclude_domains"]) == (["example.com"], ["site2.example.com"])
        self.search(server, "money", topic="finance", include_domains=[], exclude_domains=None)
        assert sent(server)["topic"] == "general"

    @pytest.mark.parametrize(
        ("country", "arrives"), [("china", "china"), ("us", "united states"), ("CN", "china"), ("atlantis", None)]
    )
    def test_country(self, server: WebServer, country: str, arrives: str | None) -> None:
        self.search(server, f"from {country}", country=country)
        assert sent(server).get("country") == arrives

    @pytest.mark.parametrize(
        ("days", "arrives"), [(1, "day"), (3, "week"), (7, "week"), (20, "month"), (300, "year"), (3000, None)]
    )
    def test_dates_become_the_range_that_leaves_nothing_out(
        self, server: WebServer, days: int, arrives: str | None
    ) -> None:
        self.search(server, f"days {days}", days=days, topic="news")
        assert sent(server).get("time_range") == arrives
        # The SDK's helpers send it with every topic; Tavily heeds it for news alone.
        self.search(server, f"days {days}", days=days)
        assert sent(server).get("time_range") is None
        start = (datetime.now(UTC) - timedelta(days=days)).date().isoformat()
        self.search(server, f"since {days}", start_date=start)
        assert sent(server).get("time_range") == arrives

    def test_dates_are_kept_to(self, server: WebServer) -> None:
        days = sorted(row["published_date"][:10] for row in self.search(server, "dated", topic="news")["results"])
        assert days[0] < days[-1]
        data = self.search(server, "dated", topic="news", end_date=days[0])
        assert {row["published_date"][:10] for row in data["results"]} == {days[0]}
        assert "notes" not in data
        assert "end_date" in self.search(server, "undated", end_date=days[0])["notes"][0]

    def test_no_results_wanted_makes_no_request(self, server: WebServer) -> None:
        before = server.world.requests("tavily")
        assert self.search(server, "none", max_results=0)["results"] == []
        assert server.world.requests("tavily") == before

    def test_many_results(self, server: WebServer) -> None:
        assert len(self.search(server, "many", max_results=20)["results"]) == 20

    def test_usage(self, server: WebServer) -> None:
        assert self.search(server, "usage", include_usage=True)["usage"] == {"credits": 0}

    def test_scores_of_other_engines_fit_the_scale(self, server: WebServer) -> None:
        server.world["tavily"].fault = Fault.SERVER_ERROR
        try:
            scores = [row["score"] for row in self.search(server, "from brave")["results"]]
        finally:
            server.world["tavily"].fault = None
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)

    def test_raw_content_is_read_from_the_pages(self) -> None:
        with page_site() as (site, reader):

            class Local(Tavily):
                def answer(self, seen: Seen) -> Answer:
                    rows = [{"title": path, "url": site.url + path, "content": "x"} for path in ("/article", "/gone")]
                    return Answer({"query": seen.json["query"], "results": rows})

            with ProviderServer(Local()) as provider:
                engine = TavilyEngine(provider.key, base_url=provider.base_url)
                with WebServer(SearchService([engine], Settings.load()), reader=reader) as server:
                    rows = self.search(server, "pages", include_raw_content=True)["results"]
        assert "求索文章" in rows[0]["raw_content"]
        assert rows[1]["raw_content"] is None

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ({}, "query"),
            ({"query": " "}, "query"),
            ({"query": "x", "max_results": -1}, "max_results"),
            ({"query": "x", "max_results": 51}, "max_results"),
            ({"query": "x", "topic": "sports"}, "topic"),
            ({"query": "x", "time_range": "hour"}, "time_range"),
            ({"query": "x", "start_date": "yesterday"}, "start_date"),
            ({"query": "x", "include_domains": ["not a domain"]}, "domain"),
        ],
    )
    def test_errors_have_tavilys_shape(self, server: WebServer, body: dict[str, Any], says: str) -> None:
        answer = server.client.post("/tavily/search", json=body)
        assert answer.status_code == 400
        TavilyError.model_validate_json(answer.content, extra="forbid")
        assert says in answer.json()["detail"]["error"]

    def test_failures_keep_their_status(self) -> None:
        with WebServer.over("tavily", rate_limit=2) as server:
            server.world["tavily"].fault = Fault.SERVER_ERROR
            failed = server.client.post("/tavily/search", json={"query": "a"})
            assert failed.status_code == 502
            assert "tavily" in failed.json()["detail"]["error"]
            server.client.post("/tavily/search", json={"query": "b"})
            limited = server.client.post("/tavily/search", json={"query": "c"})
            assert limited.status_code == 429
            assert limited.headers["retry-after"]
            assert limited.json()["detail"]["error"]


class TestExtract:
    def extract(self, server: WebServer, urls: Any, **body: Any) -> Any:
        answer = server.client.post("/tavily/extract", json={"urls": urls, **body})
        assert answer.status_code == 200, answer.text
        TavilyExtractAnswer.model_validate_json(answer.content, extra="forbid")
        return answer.json()

    def test_pages_are_read(self, server: WebServer) -> None:
        url = f"{server.site.url}/article"
        data = self.extract(server, [url], format="text", extract_depth="advanced")
        assert data["failed_results"] == []
        page = data["results"][0]
        assert (page["url"], page["title"], page["images"]) == (url, "求索文章", [])
        assert "路漫漫其修远兮" in page["raw_content"]
        assert self.extract(server, url)["results"] == data["results"]

    def test_what_cannot_be_read_is_told_by_address(self, server: WebServer) -> None:
        urls = [
            f"{server.site.url}/article",
            f"{server.site.url}/gone",
            "http://169.254.169.254/latest",
            "nonsense",
            "",
        ]
        data = self.extract(server, urls, include_usage=True)
        assert [page["url"] for page in data["results"]] == urls[:1]
        failed = {failure["url"]: failure["error"] for failure in data["failed_results"]}
        assert list(failed) == urls[1:]
        assert "404" in failed[urls[1]]
        assert "metadata" in failed[urls[2]]
        assert all(failed.values())

    def test_a_slow_page_does_not_hold_the_others(self, server: WebServer) -> None:
        started = time.monotonic()
        data = self.extract(server, [server.site.silent_url, f"{server.site.url}/article"], timeout=2.0)
        assert time.monotonic() - started < 8
        assert (len(data["results"]), len(data["failed_results"])) == (1, 1)
        assert "2 s" in data["failed_results"][0]["error"]

    @pytest.mark.parametrize("body", [{}, {"urls": []}, {"urls": ["https://example.com"] * 21}, {"urls": 7}])
    def test_wrong_bodies(self, server: WebServer, body: dict[str, Any]) -> None:
        answer = server.client.post("/tavily/extract", json=body)
        assert answer.status_code == 400
        assert "urls" in answer.json()["detail"]["error"]


class TestAnswers:
    def test_the_model_writes_it(self) -> None:
        with serving(Reply.text("<think>Hm.</think>Tea is hot [1], and green [2].")) as served:
            answer = served.web.client.post("/tavily/search", json={"query": "What is tea?", "include_answer": "basic"})
            assert answer.json()["answer"] == "Tea is hot, and green."
            assert "site1.example.com" in served.prompt()[-1][1]

    def test_without_it_sentences_of_the_results(self) -> None:
        with serving(Reply.error(500)) as served:
            answer = served.web.client.post("/tavily/search", json={"query": "tea leaves", "include_answer": True})
            assert answer.status_code == 200
            assert "tea leaves" in answer.json()["answer"]


def test_reading_pages_counts_against_the_limit() -> None:
    with page_site() as (site, reader), WebServer.over("tavily", reader=reader, rate_limit=2) as server:
        statuses = [
            server.client.post("/tavily/extract", json={"urls": f"{site.url}/article"}).status_code for _ in range(3)
        ]
        assert statuses == [200, 200, 429]
        many = server.client.post("/tavily/search", json={"query": "x"})
        assert many.status_code == 429
        assert many.json()["detail"]["error"]
