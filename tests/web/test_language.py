"""Everything the server tells is told in the reader's language, with a code and values for programs."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.bocha import BochaEngine
from qiusuo.engines.zhipu import ZhipuEngine
from qiusuo.testing import Fault
from qiusuo.web.language import reader_language, wished_language
from qiusuo.words import Language
from tests.support.web_server import WebServer

CHINESE = re.compile(r"[\u4e00-\u9fff]")
TOKENS = "alice:tok-alice-0123456789"


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("tavily", "brave", hedge_delay=0) as server:
        yield server


@pytest.fixture
def own() -> Iterator[WebServer]:
    """A server that a test may break."""
    with WebServer.over("tavily", "brave", hedge_delay=0, timeout=1) as server:
        yield server


def both(server: WebServer, method: str, path: str, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same request by a reader of Chinese and by one of English: the same facts in other words."""
    given = options.pop("headers", {})
    answers = [
        server.client.request(method, path, headers={**given, "Accept-Language": accepted}, **options)
        for accepted in ("zh-CN,zh;q=0.9,en;q=0.8", "en-GB,en;q=0.9,zh;q=0.5")
    ]
    assert [answer.headers["content-language"] for answer in answers] == ["zh-CN", "en"]
    assert all("Accept-Language" in answer.headers["vary"] for answer in answers)
    assert answers[0].status_code == answers[1].status_code
    return answers[0].json(), answers[1].json()


def facts(data: dict[str, Any]) -> tuple[Any, Any]:
    return data["code"], data["values"]


@pytest.mark.parametrize(
    ("query", "header", "language"),
    [
        (b"", None, Language.ENGLISH),
        (b"", "zh-TW", Language.TRADITIONAL),
        (b"lang=zh-Hant", "en", Language.TRADITIONAL),
        (b"lang=zh", None, Language.CHINESE),
        (b"lang=zh-CN&x=1", "en", Language.CHINESE),
        (b"lang=en", "zh", Language.ENGLISH),
        (b"lang=fr", "zh", Language.CHINESE),
        (b"language=zh", None, Language.ENGLISH),
        (b"", "fr, de;q=0.5", Language.ENGLISH),
    ],
)
def test_the_parameter_goes_first_then_the_header(query: bytes, header: str | None, language: Language) -> None:
    headers = [(b"accept-language", header.encode())] if header else []
    assert reader_language({"query_string": query, "headers": headers}) is language


def test_who_asks_for_no_language_of_ours_has_no_wish() -> None:
    assert wished_language({"query_string": b"lang=fr", "headers": [(b"accept-language", b"*")]}) is None
    assert wished_language({"headers": [(b"accept-language", b"en")]}) is Language.ENGLISH


def test_a_reader_of_traditional_chinese_is_told_in_it(server: WebServer) -> None:
    answer = server.client.delete("/api/search", headers={"Accept-Language": "zh-TW,zh;q=0.9,en;q=0.8"})
    assert answer.headers["content-language"] == "zh-Hant"
    assert answer.json()["message"] == "這個位址不接受 DELETE 請求。"
    docs = server.client.get("/docs/deployment", headers={"Accept-Language": "zh-HK"})
    assert "回到對話" in docs.text, "the frame is in the reader's own characters"
    assert '<main lang="zh-CN">' in docs.text, "the guide itself is written in simplified ones"
    assert '<main lang="en">' in server.client.get("/docs/cli?lang=zh").text, "some have no Chinese yet"


class TestRefusals:
    def test_what_is_not_there(self, server: WebServer) -> None:
        chinese, english = both(server, "GET", "/nothing")
        assert facts(chinese) == facts(english) == ("web.no_such_address", {})
        assert (chinese["message"], english["message"]) == ("这个地址上没有内容。", "There is nothing at this address.")

    def test_a_wrong_method(self, server: WebServer) -> None:
        chinese, english = both(server, "DELETE", "/api/search")
        assert facts(chinese) == facts(english) == ("web.no_such_method", {"method": "DELETE"})
        assert (chinese["message"], english["message"]) == (
            "这个地址不接受 DELETE 请求。",
            "This address does not take DELETE.",
        )

    def test_no_token(self) -> None:
        with WebServer.over("tavily", tokens=TOKENS) as guarded:
            chinese, english = both(guarded, "GET", "/api/engines")
        assert facts(chinese) == facts(english) == ("web.unauthorized", {})
        assert "令牌" in chinese["message"]
        assert "QIUSUO_TOKENS" in chinese["fix"]
        assert "token" in english["message"]

    def test_another_site(self, server: WebServer) -> None:
        chinese, english = both(server, "GET", "/api/engines", headers={"Sec-Fetch-Site": "cross-site"})
        assert facts(chinese) == facts(english) == ("web.cross_site", {})
        assert "另一个网站" in chinese["message"]

    def test_another_name_of_the_server(self, server: WebServer) -> None:
        chinese, english = both(server, "GET", "/api/engines", headers={"Host": "evil.example"})
        assert facts(chinese) == facts(english) == ("web.wrong_host", {})

    def test_a_body_that_is_too_large(self, server: WebServer) -> None:
        chinese, english = both(server, "POST", "/api/search", content=b"x" * 70_000)
        assert facts(chinese) == facts(english) == ("web.body_too_large", {"limit": 64})
        assert (chinese["message"], english["message"]) == (
            "请求正文超过 64 KiB。",
            "The request's body is larger than 64 KiB.",
        )

    @pytest.mark.parametrize(("tag", "words"), [("zh", "请求头超过 32 KiB"), ("en", "headers are larger than 32 KiB")])
    def test_headers_that_are_too_large(self, server: WebServer, tag: str, words: str) -> None:
        port = int(server.url.rpartition(":")[2])
        request = f"GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Language: {tag}\r\nX: {'x' * 40_000}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            raw.sendall(request.encode())
            answer = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
        assert "431" in answer.partition("\r\n")[0]
        assert f"content-language: {'zh-CN' if tag == 'zh' else 'en'}" in answer
        assert words in answer
        assert '"code":"web.headers_too_large"' in answer


class TestSearch:
    def test_what_is_wrong_with_a_body(self, server: WebServer) -> None:
        body = {"query": "x", "numResults": 0, "freshness": "decade", "engin": "tavily"}
        chinese, english = both(server, "POST", "/api/search", json=body)
        assert facts(chinese) == facts(english)
        assert chinese["code"] == "body.invalid"
        told = {each["values"]["field"]: each["values"]["problem"]["code"] for each in chinese["values"]["problems"]}
        assert told == {"numResults": "body.at_least", "freshness": "body.one_of", "engin": "body.unknown"}
        assert "numResults：不能小于 1；freshness：应为 'hour', 'day'" in chinese["message"]
        assert "numResults: it must not be less than 1; freshness: one of 'hour', 'day'" in english["message"]

    @pytest.mark.parametrize("page", ["tools.md", "tools.zh-CN.md"])
    def test_the_example_of_the_documentation(self, server: WebServer, page: str) -> None:
        text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
        example = re.search(r"(/api/search\?lang=zh)' -d '(.*?)'\n```\n\n```json\n(.*?)```", text, re.DOTALL)
        assert example
        answer = server.client.post(example[1], content=example[2])
        assert answer.json() == json.loads(example[3])

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            (b"{", "body.not_json"),
            (b"[]", "body.object"),
            (b"{}", "body.missing"),
            (b'{"query": 7}', "body.text"),
            (b'{"query": ""}', "body.too_short"),
            (b'{"query": " "}', "body.pattern"),
            (b'{"query": "x", "numResults": "5"}', "body.whole"),
            (b'{"query": "x", "skipCache": 1}', "body.boolean"),
            (b'{"query": "x", "timeout": "x"}', "body.number"),
            (b'{"query": "x", "includeDomains": "x"}', "body.list"),
        ],
    )
    def test_each_thing_that_can_be_wrong(self, server: WebServer, content: bytes, code: str) -> None:
        chinese, english = both(server, "POST", "/api/search", content=content)
        assert facts(chinese) == facts(english)
        (problem,) = chinese["values"]["problems"]
        assert problem["values"].get("problem", problem)["code"] == code
        assert CHINESE.search(chinese["message"])
        assert not CHINESE.search(english["message"])

    def test_the_receipt(self, own: WebServer) -> None:
        own.world["tavily"].fault = Fault.SERVER_ERROR
        chinese, english = both(own, "POST", "/api/search", json={"query": "x", "skipCache": True})
        for told in (chinese, english):
            failed, good = told["attempts"]
            assert (failed["engine"], failed["outcome"], good["engine"]) == ("tavily", "unavailable", "brave")
        assert facts(chinese["attempts"][0]) == facts(english["attempts"][0])

    def test_no_engine(self) -> None:
        with WebServer(SearchService([], Settings.load(rate_limit=0))) as off:
            chinese, english = both(off, "POST", "/api/search", json={"query": "x"})
        assert facts(chinese) == facts(english)


class TestState:
    def test_engines_and_health_tell_what_is_wrong(self, own: WebServer) -> None:
        own.world["tavily"].fault = Fault.AUTH
        own.search("first")
        chinese, english = both(own, "GET", "/api/engines")
        for told in (chinese, english):
            states = {engine["name"]: engine for engine in told["engines"]}
            assert (states["tavily"]["state"], states["tavily"]["code"] != "") == ("resting", True)
            assert (states["brave"]["code"], states["brave"]["values"]) == ("", {})
        assert facts(chinese["engines"][0]) == facts(english["engines"][0])
        chinese, english = both(own, "GET", "/api/health")
        (told,) = chinese["problems"]
        assert facts(told) == facts(english["problems"][0])
        assert told["engine"] == "tavily"
        assert chinese["message"] == f"tavily：{told['message']}"

    def test_the_parameter(self, own: WebServer) -> None:
        assert own.client.get("/api/health?lang=zh").headers["content-language"] == "zh-CN"
        own.world["tavily"].fault = own.world["brave"].fault = Fault.AUTH
        own.search("first")
        answer = own.client.get("/api/health?lang=zh", headers={"Accept-Language": "en"})
        assert "；" in answer.json()["message"]

    def test_engines_are_called_by_one_name(self) -> None:
        engines = [BochaEngine("key"), ZhipuEngine("key")]
        with WebServer(SearchService(engines, Settings.load(rate_limit=0))) as server:
            chinese, english = both(server, "GET", "/api/engines")
        assert [engine["label"] for engine in chinese["engines"]][:2] == ["博查", "智谱"]
        assert [engine["label"] for engine in english["engines"]][:2] == ["Bocha", "Zhipu"]


class TestOtherDoors:
    def test_openai(self, server: WebServer) -> None:
        chinese, english = both(server, "GET", "/v1/nothing")
        for told in (chinese["error"], english["error"]):
            assert told["qiusuo"] == {"code": "openai.no_such_endpoint", "values": {}}
            assert (told["type"], told["code"]) == ("invalid_request_error", None), "OpenAI's own field"
        assert (chinese["error"]["message"], english["error"]["message"]) == (
            "这里没有 OpenAI 的这个接口。请用 /v1/chat/completions 或 /v1/responses；模型列在 /v1/models。",
            (
                "This endpoint of OpenAI's is not offered here. Use /v1/chat/completions or /v1/responses; "
                "/v1/models lists the models."
            ),
        )

    def test_tavily(self, server: WebServer) -> None:
        chinese, english = both(server, "POST", "/tavily/search", json={})
        assert (set(chinese), set(chinese["detail"])) == ({"detail"}, {"error"})
        assert chinese["detail"]["error"] == "请求正文无效：query：缺少这一项。格式见 /openapi.json。"
        assert english["detail"]["error"].startswith("The request's body is not valid: query: it is missing. Its")

    def test_a_page_that_tavily_s_clients_cannot_have(self, server: WebServer) -> None:
        body = {"urls": ["http://127.0.0.1:1/"]}
        chinese, english = both(server, "POST", "/tavily/extract", json=body)
        assert [set(told["failed_results"][0]) for told in (chinese, english)] == [{"url", "error"}] * 2

    def test_searxng_s_own_words_stay(self, server: WebServer) -> None:
        chinese, english = both(server, "GET", "/search?format=json")
        assert chinese == english == {"error": "No query"}
        chinese, english = both(server, "GET", "/search?q=x")
        assert set(chinese) == {"error"}
        assert "format=json" in chinese["error"]
        assert CHINESE.search(chinese["error"])

    def test_the_documentation(self, server: WebServer) -> None:
        for path, words in (
            ("/docs/usage", ("回到对话", "Back to the chat")),
            ("/docs/none", ("没有这一页", "no such page")),
        ):
            for tag, expected in zip(("zh-CN", "en"), words, strict=True):
                answer = server.client.get(path, headers={"Accept-Language": tag})
                assert expected in answer.text
                assert answer.headers["content-language"] == tag
                assert answer.headers["vary"] == "Accept-Encoding, Accept-Language"
