"""``/search`` in SearXNG's shape; programs made for SearXNG are in test_drop_in_clients.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import EngineError, RequestRejected
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.web.drop_in.searxng import SearxngAnswer
from tests.support.web_server import WebServer


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("tavily", "brave") as server:
        yield server


def ask(server: WebServer, q: str = "agents", **params: Any) -> httpx.Response:
    return server.client.get("/search", params={"q": q, "format": "json", **params})


def test_fields_are_those_of_searxng(server: WebServer) -> None:
    answer = ask(server, "开源 搜索")
    assert answer.status_code == 200
    SearxngAnswer.model_validate_json(answer.content, extra="forbid")
    data = answer.json()
    assert list(data) == [
        "query", "results", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines",
    ]  # fmt: skip
    assert data["query"] == "开源 搜索"
    first = data["results"][0]
    assert (first["engine"], first["engines"], first["positions"], first["category"]) == (
        "tavily", ["tavily"], [1], "general",
    )  # fmt: skip
    assert "开源 搜索" in first["title"]
    assert first["parsed_url"] == ["https", "site1.example.com", "/page/1", "", "", ""]
    assert len(data["results"]) == 10


def test_a_form_is_the_same(server: WebServer) -> None:
    by_form = server.client.post("/search", data={"q": "form", "format": "json"})
    assert by_form.status_code == 200
    assert by_form.json()["results"] == ask(server, "form").json()["results"]
    # The form wins over the address.
    mixed = server.client.post("/search?q=address&format=json", data={"q": "form"})
    assert mixed.json()["query"] == "form"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_query_at_the_root_is_sent_on(server: WebServer, method: str) -> None:
    params = {"q": "根 a&b", "format": "json"}
    kind = "params" if method == "GET" else "data"
    options: dict[str, Any] = {kind: params}
    answer = server.client.request(method, "/", **options)
    assert answer.status_code == 308
    assert answer.headers["location"].startswith("/search")
    followed = server.client.request(method, "/", follow_redirects=True, **options)
    assert (followed.status_code, followed.json()["query"]) == (200, "根 a&b")


def test_pages_go_on_where_the_last_one_ended(server: WebServer) -> None:
    pages = [ask(server, "pages", engines="brave", pageno=number).json()["results"] for number in (1, 2, 3, 6, 999)]
    assert [len(page) for page in pages] == [10, 10, 0, 0, 0]  # Brave has 20 at most
    assert len({row["url"] for page in pages for row in page}) == 20
    assert [row["positions"] for row in pages[1]] == [[number] for number in range(11, 21)]


def test_parameters_have_their_effect(server: WebServer) -> None:
    ask(server, "news today", categories="news", time_range="week", language="de", safesearch=1)
    sent = server.world["tavily"].seen[-1].json
    assert (sent["topic"], sent["time_range"], sent["max_results"]) == ("news", "week", 10)
    assert ask(server, "news today", categories="news").json()["results"][0]["category"] == "news"
    ask(server, "general today", categories="general,news", time_range="")
    sent = server.world["tavily"].seen[-1].json
    assert (sent["topic"], sent.get("time_range")) == ("general", None)


@pytest.mark.parametrize(
    ("engines", "found_by"),
    [
        ("brave", {"brave"}),
        ("duckduckgo,brave", {"brave"}),
        ("duckduckgo, qwant", {"tavily"}),
        ("", {"tavily"}),
        ("tavily,brave", {"tavily", "brave"}),
    ],
)
def test_only_engines_of_ours_are_chosen(server: WebServer, engines: str, found_by: set[str]) -> None:
    rows = ask(server, f"by {engines}", engines=engines).json()["results"]
    assert {name for row in rows for name in row["engines"]} == found_by


LIBRECHAT = "google,bing,duckduckgo"


def test_other_engines_are_ignored_and_told() -> None:
    with ProviderServer(Searxng()) as provider:
        settings = Settings.load(provider_priority=("searxng",), searxng_url=provider.base_url, rate_limit=0)
        with WebServer(SearchService.from_settings(settings), settings) as server:
            answer = ask(server, "chat", engines=LIBRECHAT)
            assert answer.status_code == 200
            assert answer.json()["results"]
            told = dict(answer.json()["unresponsive_engines"])
            assert list(told) == ["google", "bing", "duckduckgo"]
            assert len(set(told.values())) == 1
            assert len(provider.seen) >= 1  # the operator's own order, and nobody else


def test_an_engine_that_is_asked_for_by_name_and_fails_is_replaced() -> None:
    with WebServer.over("tavily", "brave") as server:
        server.world["tavily"].fault = Fault.SERVER_ERROR
        data = ask(server, "a", engines="tavily,google").json()
        assert {row["engine"] for row in data["results"]} == {"brave"}
        assert [name for name, _ in data["unresponsive_engines"]] == ["tavily", "google"]


def test_the_configuration(server: WebServer) -> None:
    data = server.client.get("/config").json()
    assert [engine["name"] for engine in data["engines"] if engine["enabled"]] == ["tavily", "brave"]
    assert data["categories"] == ["general", "news"]
    assert {"instance_name", "version", "plugins", "locales", "default_locale", "safe_search", "autocomplete"} <= set(
        data
    )


def test_nothing_is_completed(server: WebServer) -> None:
    before = len(server.world["tavily"].seen)
    answer = server.client.get("/autocompleter", params={"q": "tea le"})
    assert answer.json() == ["tea le", []]
    assert answer.headers["content-type"].startswith("application/x-suggestions+json")
    by_script = server.client.post("/autocompleter", data={"q": "tea"}, headers={"X-Requested-With": "XMLHttpRequest"})
    assert by_script.json() == []
    assert len(server.world["tavily"].seen) == before


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"q": "x"}, "format=json"),
        ({"q": "x", "format": "html"}, "format=json"),
        ({"q": "x", "format": "csv"}, "format=json"),
        ({"format": "json"}, "No query"),
        ({"q": "", "format": "json"}, "No query"),
        ({"q": "  ", "format": "json"}, "empty"),
        ({"q": "x", "format": "json", "pageno": "0"}, 'Invalid value "0" for parameter pageno'),
        ({"q": "x", "format": "json", "pageno": "x"}, 'Invalid value "x" for parameter pageno'),
        ({"q": "x", "format": "json", "pageno": "1.0"}, 'Invalid value "1.0" for parameter pageno'),
        ({"q": "x", "format": "json", "pageno": "９"}, "pageno"),
        ({"q": "x", "format": "json", "pageno": "9" * 5000}, "pageno"),
        ({"q": "x", "format": "json", "time_range": "hour"}, 'Invalid value "hour" for parameter time_range'),
        ({"q": "x", "format": "json", "language": "中文"}, 'Invalid value "中文" for parameter language'),
        ({"q": "x", "format": "json", "safesearch": "3"}, 'Invalid value "3" for parameter safesearch'),
    ],
)
def test_errors_are_worded_as_searxng_does(server: WebServer, params: dict[str, str], says: str) -> None:
    for answer in (server.client.get("/search", params=params), server.client.post("/search", data=params)):
        assert answer.status_code == 400
        assert list(answer.json()) == ["error"]
        assert says in answer.json()["error"]


def test_engines_that_failed_are_named_in_searxngs_words() -> None:
    with WebServer.over("tavily", "brave") as server:
        server.world["tavily"].fault = Fault.RATE_LIMITED
        assert ask(server, "a").json()["unresponsive_engines"] == [["tavily", "too many requests"]]
        assert ask(server, "b").json()["unresponsive_engines"] == [["tavily", "Suspended: too many requests"]]
        server.world["brave"].fault = Fault.SERVER_ERROR
        failed = ask(server, "c")
        assert failed.status_code == 502
        assert list(failed.json()) == ["error"]


def test_the_limit() -> None:
    with WebServer.over("tavily", rate_limit=1) as server:
        assert ask(server, "a").status_code == 200
        limited = ask(server, "b")
        assert limited.status_code == 429
        assert "Wait" in limited.json()["error"]
        assert limited.headers["retry-after"]


class TestOurOwnEngine:
    """One Qiusuo behind another: our engine for SearXNG takes this server for one."""

    async def test_searches(self, server: WebServer) -> None:
        engine = SearxngEngine(base_url=server.url)
        found = await engine.search(
            Query("chain 链", type=SearchType.NEWS, language="zh-CN", freshness=Freshness.MONTH), 15
        )
        await engine.aclose()
        assert len(found) == 15
        assert "chain 链" in found[0].title

    async def test_understands_the_errors(self, server: WebServer) -> None:
        engine = SearxngEngine(base_url=server.url)
        try:
            with pytest.raises(RequestRejected, match="time_range"):
                await engine.endpoint.get("/search", {"q": "x", "format": "json", "time_range": "hour"})
            with pytest.raises(EngineError):
                await engine.endpoint.get("/nothing")
            # A Qiusuo must not find another one, or itself, by chance.
            assert not await engine.detect()
        finally:
            await engine.aclose()
