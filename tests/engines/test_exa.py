"""The Exa engine: its place in the common table, the shape of its requests, page contents, and what is Exa's own."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from exa_py import Exa as ExaClient

from qiusuo.engines.base import EngineOptions, EngineResults
from qiusuo.engines.exa import ExaEngine, PageContent
from qiusuo.errors import AuthFailed, BadResponse, ConfigurationError, QuotaExceeded, Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Query, SearchResultItem, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance, close_engine
from qiusuo.testing.providers.exa import Exa
from qiusuo.words import Fact, said

A, B, MISSING = "https://a.example.com/1", "https://b.example.com", "https://c.example.com/missing"


async def search(server: ProviderServer, query: Query, **extra: Any) -> list[SearchResultItem]:
    """Search with settings that only Exa knows, as configuration passes them."""
    options = EngineOptions(api_key=server.key, base_url=server.base_url, extra=extra)
    engine = ExaEngine.from_options(options, HttpClient())
    try:
        return await engine.search(query, 5)
    finally:
        await close_engine(engine)


async def read(server: ProviderServer, *urls: str, **options: Any) -> list[PageContent]:
    """Read pages and close what was opened."""
    engine = ExaEngine(server.key, base_url=server.base_url)
    try:
        return await engine.contents(urls, **options)
    finally:
        await engine.aclose()


class TestExa(EngineConformance):
    engine_class = ExaEngine
    provider = Exa

    async def test_search_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        query = Query(
            "人工智能",
            type=SearchType.NEWS,
            region="cn",
            freshness=Freshness.WEEK,
            include_domains=("gov.cn",),
            exclude_domains=("example.org",),
        )
        await self.run(server, query, 7)
        (ours,) = server.seen
        client = ExaClient(api_key=server.key, base_url=server.base_url)
        # The SDK is synchronous; the server runs in its own thread.
        found = await asyncio.to_thread(
            client.search,
            "人工智能",
            num_results=7,
            category="news",
            user_location="CN",
            start_published_date=ours.json["startPublishedDate"],
            include_domains=["gov.cn"],
            exclude_domains=["example.org"],
            contents={"highlights": True},
        )
        theirs = server.seen[1]
        assert len(found.results) == 7
        assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("POST", "/search")
        assert ours.headers["x-api-key"] == theirs.headers["x-api-key"]
        assert ours.headers["content-type"] == theirs.headers["content-type"]
        assert "authorization" not in ours.headers
        assert ours.json == theirs.json

    async def test_search_with_summary_and_text_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        await search(server, Query("x"), summary=True, text=500)
        client = ExaClient(api_key=server.key, base_url=server.base_url)
        contents: Any = {"highlights": True, "summary": True, "text": {"max_characters": 500}}
        await asyncio.to_thread(client.search, "x", num_results=5, contents=contents)
        ours, theirs = server.seen
        assert ours.json == theirs.json

    async def test_contents_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        await read(server, A, MISSING, summary=True, max_characters=300)
        client = ExaClient(api_key=server.key, base_url=server.base_url)
        found = await asyncio.to_thread(
            lambda: client.get_contents([A, MISSING], text={"max_characters": 300}, summary=True)
        )
        ours, theirs = server.seen
        assert [status.status for status in found.statuses or ()] == ["success", "error"]
        assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("POST", "/contents")
        assert ours.headers["x-api-key"] == theirs.headers["x-api-key"]
        assert ours.json == theirs.json

    async def test_only_highlights_are_asked_for_unless_set_otherwise(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("law"), 3)
        assert server.seen[0].json["contents"] == {"highlights": True}
        assert results[0].snippet == 'About law: text 1 "quoted" 中文 <ok>. … second passage 1'

    async def test_page_without_a_title_is_called_by_its_address(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("law"), 3)
        assert [item.title for item in results] == ["law & result 1", "law & result 2", results[2].url]

    async def test_summary_is_what_the_snippet_shows_when_asked_for(self, server: ProviderServer) -> None:
        results = await search(server, Query("x"), summary=True)
        assert [item.snippet for item in results[:2]] == ["Summary of page 1.", "Summary of page 2."]

    @pytest.mark.parametrize(("text", "characters"), [(True, 2000), (300, 300)])
    async def test_text_is_what_the_snippet_shows_when_asked_for(
        self, server: ProviderServer, text: bool | int, characters: int
    ) -> None:
        results = await search(server, Query("x"), text=text)
        assert server.seen[0].json["contents"] == {"highlights": True, "text": {"maxCharacters": characters}}
        assert results[0].snippet.startswith("# Page 1 def indented()")

    async def test_summary_and_text_together(self, server: ProviderServer) -> None:
        results = await search(server, Query("x"), summary=True, text=True)
        assert results[0].snippet.startswith("Summary of page 1. # Page 1")

    @pytest.mark.parametrize(
        ("row", "snippet"),
        [
            ({"highlights": ["h1", "h2"], "summary": "s", "text": "t"}, "h1 … h2"),
            ({"highlights": [], "summary": "s", "text": "t"}, "s"),
            ({"highlights": None, "summary": None, "text": "t"}, "t"),
            ({}, ""),
        ],
    )
    async def test_snippet_takes_the_best_that_is_there(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, row: dict[str, Any], snippet: str
    ) -> None:
        page = {"url": "https://site.example.com", "title": "t"}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"results": [page | row]}))
        (item,) = await self.run(server, Query("x"))
        assert item.snippet == snippet

    @pytest.mark.parametrize("extra", [{"summary": "yes"}, {"text": "long"}, {"text": -1}, {"text": 1.5}])
    def test_unusable_settings_name_the_fix(self, extra: dict[str, Any]) -> None:
        with pytest.raises(ConfigurationError) as caught:
            ExaEngine.from_options(EngineOptions(api_key="k", extra=extra), HttpClient())
        assert "[engines.exa]" in caught.value.fix

    @pytest.mark.parametrize(
        ("freshness", "span"),
        [
            (Freshness.HOUR, timedelta(hours=1)),
            (Freshness.DAY, timedelta(days=1)),
            (Freshness.WEEK, timedelta(days=7)),
            (Freshness.MONTH, timedelta(days=31)),
            (Freshness.YEAR, timedelta(days=366)),
        ],
    )
    async def test_freshness_is_a_date(self, server: ProviderServer, freshness: Freshness, span: timedelta) -> None:
        before = datetime.now(UTC)
        await self.run(server, Query("x", freshness=freshness))
        sent = server.seen[0].json["startPublishedDate"]
        assert sent.endswith(".000Z")
        assert timedelta(seconds=-1) <= datetime.fromisoformat(sent) - (before - span) < timedelta(seconds=30)

    async def test_what_exa_relaxed_is_on_the_receipt(self, server: ProviderServer) -> None:
        assert isinstance(server.provider, Exa)
        server.provider.notices = ("Too few results: the domain filter was relaxed.",)
        results = await self.run(server, Query("x", include_domains=("example.com",)))
        assert isinstance(results, EngineResults)
        assert results.notes == tuple(map(said, server.provider.notices))

    @pytest.mark.parametrize("odd", [None, 7, {}, ["text"], [{"code": "X"}], [None]])
    async def test_notices_in_no_shape_do_no_harm(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, odd: Any
    ) -> None:
        body = {"results": [{"url": "https://site.example.com"}], "notices": odd, "warnings": odd}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        results = await self.run(server, Query("x"))
        assert isinstance(results, EngineResults)
        assert (len(results), results.notes) == (1, ())

    @pytest.mark.parametrize("tag", ["NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED"])
    async def test_used_up_credits(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, tag: str) -> None:
        monkeypatch.setattr(server.provider, "refuse", lambda _: Exa.error(402, tag, "Please top up."))
        server.fault = Fault.QUOTA
        with pytest.raises(QuotaExceeded, match=r"Please top up\.") as caught:
            await self.run(server, Query("x"))
        assert caught.value.status == 402
        assert "Top up" in caught.value.fix

    def test_options_that_exa_lacks_are_reported(self) -> None:
        engine = ExaEngine("k")
        assert engine.notes(Query("x", language="zh-CN"), 101) == (
            Fact("engine.ignored", features=["language"]),
            Fact("engine.at_most", count=100),
        )
        assert engine.notes(Query("x", type=SearchType.NEWS, region="CN", freshness=Freshness.HOUR), 100) == ()


class TestContents:
    @pytest.fixture
    def server(self) -> Any:
        with ProviderServer(Exa()) as server:
            yield server

    async def test_pages_come_in_order_and_failures_are_data(self, server: ProviderServer) -> None:
        first, missing, last = await read(server, B, MISSING, A)
        assert [first.url, missing.url, last.url] == [B, MISSING, A]
        assert missing == PageContent(MISSING, error="CRAWL_NOT_FOUND (HTTP 404)")
        assert first.error is last.error is None
        assert first.title == "page & result 1"
        assert first.text.startswith("# Page 1\n\n    def indented() -> List<int>:\n")
        assert len(first.text) == 10_000
        assert last.title == ""
        assert first.summary == ""

    async def test_summary_and_length(self, server: ProviderServer) -> None:
        (page,) = await read(server, A, summary=True, max_characters=50)
        assert page.summary == "Summary of page 1."
        assert len(page.text) == 50

    async def test_addresses_agree_but_for_the_last_slash(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = {
            "results": [
                {"id": f"{B}/", "url": "https://moved.example.com", "text": "by id"},
                {"url": A, "text": "by url"},
            ],
            "statuses": [],
        }
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        assert [page.text for page in await read(server, A, B)] == ["by url", "by id"]

    @pytest.mark.parametrize(
        ("statuses", "error"),
        [
            ([], "no content"),
            (None, "no content"),
            ([None, 7], "no content"),
            ([{"id": A, "status": "error"}], "no content"),
            ([{"id": A, "status": "error", "error": {"tag": "CRAWL_TIMEOUT"}}], "CRAWL_TIMEOUT"),
        ],
    )
    async def test_page_that_is_not_there(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, statuses: Any, error: str
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"results": [None], "statuses": statuses}))
        assert await read(server, A) == [PageContent(A, error=error)]

    async def test_invisible_characters_are_taken_out(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"id": A, "title": "a\u202eb", "text": "一\u200b二\x1b[31m\n\t三　四\u00a0五"}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"results": [row]}))
        assert await read(server, A) == [PageContent(A, "ab", "一二[31m\n\t三　四\u00a0五")]

    async def test_one_address_may_come_alone(self, server: ProviderServer) -> None:
        engine = ExaEngine(server.key, base_url=server.base_url)
        assert [page.url for page in await engine.contents(A)] == [A]
        await engine.aclose()

    async def test_nothing_asked_nothing_sent(self, server: ProviderServer) -> None:
        assert await read(server) == []
        assert server.seen == []

    @pytest.mark.parametrize(
        ("fault", "kind"),
        [
            (Fault.AUTH, AuthFailed),
            (Fault.QUOTA, QuotaExceeded),
            (Fault.OVERLOADED, Unavailable),
            (Fault.WRONG_SHAPE, BadResponse),
            (Fault.HTML, BadResponse),
        ],
    )
    async def test_failure_of_the_whole_call_is_an_error(
        self, server: ProviderServer, fault: Fault, kind: type[Exception]
    ) -> None:
        server.fault = fault
        with pytest.raises(kind):
            await read(server, A)

    def test_a_page_is_frozen(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            PageContent(A).text = "x"  # type: ignore[misc]  # what is tested
