"""The Bing engine: Web IQ in the common table and beside its SDK, SerpApi in its place, and what an old key is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from webiq import WebIQClient
from webiq.types import ContentFormat
from webiq.types.generated.models import NewsRequest, WebRequest

from qiusuo.engines import discover_engines
from qiusuo.engines.base import EngineOptions, EngineResults, Joins
from qiusuo.engines.bing import BingEngine
from qiusuo.engines.serpapi import SerpApiBingEngine
from qiusuo.errors import EngineError, EngineNotConfigured, RateLimited
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Outcome, Query, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EXPECTED, QUERIES, EngineConformance, assert_no_secret, close_engine
from qiusuo.testing.providers.bing import WebIQ
from qiusuo.testing.providers.serpapi import SerpApi
from qiusuo.words import Fact

RETIRED = ("BING_API_KEY", "BING_SEARCH_V7_SUBSCRIPTION_KEY", "BING_SUBSCRIPTION_KEY")


class TestBing(EngineConformance):
    engine_class = BingEngine
    provider = WebIQ

    async def test_web_request_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        query = Query(
            "人工智能",
            language="zh-CN",
            include_domains=("gov.cn", "court.gov.cn"),
            exclude_domains=("example.org",),
        )
        await self.run(server, query, 7)
        with WebIQClient(api_key=server.key, base_url=server.base_url) as client:
            await asyncio.to_thread(
                client.web.search,
                "人工智能 (site:gov.cn OR site:court.gov.cn) -site:example.org",
                max_results=7,
                language="zh",
                region="CN",
                content_format=ContentFormat.passage,
                max_length=2000,
            )
        self.assert_same_request(server, "/v3/search/web")

    async def test_news_request_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        await self.run(server, Query("elections", type=SearchType.NEWS, region="GB"), 50)
        with WebIQClient(api_key=server.key, base_url=server.base_url) as client:
            await asyncio.to_thread(
                client.news.search,
                "elections",
                max_results=20,
                region="GB",
                content_format=ContentFormat.passage,
                max_length=2000,
            )
        self.assert_same_request(server, "/v3/search/news")

    @staticmethod
    def assert_same_request(server: ProviderServer, path: str) -> None:
        ours, theirs = server.seen
        assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("POST", path)
        assert ours.headers["x-apikey"] == theirs.headers["x-apikey"] == server.key
        assert "authorization" not in ours.headers
        assert ours.headers["content-type"] == theirs.headers["content-type"]
        assert ours.json == theirs.json

    @pytest.mark.parametrize("kind", list(QUERIES))
    async def test_every_body_passes_the_models_of_the_sdk(self, server: ProviderServer, kind: str) -> None:
        await self.run(server, QUERIES[kind], 1000)
        (seen,) = server.seen
        # These models forbid fields they do not know, as the API does.
        model = NewsRequest if QUERIES[kind].wants_news else WebRequest
        assert model(**seen.json).model_dump(include=set(seen.json), mode="json") == seen.json

    @pytest.mark.parametrize(
        ("status", "wait", "seconds"),
        [(429, "30s", 30), (430, "2s", 2), (429, "soon", 7), (430, None, 7), (429, 12, 12)],
    )
    async def test_both_limits_say_in_the_body_how_long_to_wait(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, status: int, wait: object, seconds: float
    ) -> None:
        body = {"errorCode": "Limit", "userMessage": "slow down", "retryAfter": wait}
        # The header is the server's own; it counts where the body has nothing to read.
        monkeypatch.setattr(server.provider, "refuse", lambda _: Answer(body, status))
        server.fault = Fault.RATE_LIMITED
        with pytest.raises(RateLimited, match="slow down") as caught:
            await self.run(server, Query("x"))
        assert (caught.value.retry_after, caught.value.status) == (seconds, status)

    async def test_domain_is_the_source_where_the_address_is_a_redirect(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"title": "a", "url": "https://www.bing.com/ck/a?u=abc", "domain": "www.court.gov.cn", "content": None}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"webResults": [row], "traceId": "0"}))
        (item,) = await self.run(server, Query("x"))
        assert (item.url, item.source, item.snippet) == (row["url"], "court.gov.cn", "")

    @pytest.mark.parametrize(
        "body", [{"webResults": [], "traceId": "0"}, {"webResults": None, "traceId": "0"}, {"traceId": "0"}]
    )
    async def test_nothing_found_has_three_forms(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        assert await self.run(server, Query("x")) == []

    async def test_date_is_the_last_change_and_not_the_crawl(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"title": "a", "url": "https://a.example.com", "crawledAt": "2026-11-01T00:00:00Z"}
        rows = [row, row | {"lastUpdatedAt": "2026-10-01T08:00:00Z"}]
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"webResults": rows, "traceId": "0"}))
        dates = [item.published_at for item in await self.run(server, Query("x"))]
        assert dates == [None, "2026-10-01T08:00:00+00:00"]

    def test_options_that_web_iq_lacks_are_reported(self) -> None:
        engine = BingEngine("k")
        many = tuple(f"site{number}.cn" for number in range(11))
        assert engine.notes(Query("x" * 2000, freshness=Freshness.DAY, exclude_domains=many), 60) == (
            Fact("engine.ignored", features=["freshness"]),
            Fact("engine.shortened", count=1000),
            Fact("engine.at_most", count=50),
            Fact("engine.first_domains", count=10),
        )
        assert engine.notes(Query("x", type=SearchType.NEWS, language="yue"), 60) == (
            Fact("bing.at_most_news", count=20),
            Fact("bing.two_letters"),
        )
        assert engine.notes(Query("x", type=SearchType.NEWS, language="en"), 20) == ()


class TestBingThroughSerpApi:
    """``bing`` with nothing but a key of SerpApi."""

    @pytest.fixture
    def server(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
        with ProviderServer(SerpApi()) as server:
            monkeypatch.setattr(SerpApiBingEngine, "base_url", server.base_url)
            yield server

    @staticmethod
    def make_engine(server: ProviderServer, **environment: str) -> BingEngine:
        found = {"SERPAPI_API_KEY": server.key} | environment
        # The address is the one of Web IQ: no other key may go there.
        options = EngineOptions(base_url="http://127.0.0.1:1/v3", timeout=2.0, lookup=found.get)
        return BingEngine.from_options(options, HttpClient())

    async def test_results_are_bings_and_come_through_serpapi(self, server: ProviderServer) -> None:
        engine = self.make_engine(server)
        results = await engine.search(Query("law", freshness=Freshness.DAY), 12)
        await close_engine(engine)
        assert len(results) == 12
        assert {item.engines for item in results} == {("bing",)}
        assert [seen.params["engine"] for seen in server.seen] == ["bing", "bing"]
        assert all("x-apikey" not in seen.headers for seen in server.seen)

    async def test_notes_of_a_later_page_are_kept(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usual = server.provider.answer
        broken = Answer({"error": "broken"}, 500)
        monkeypatch.setattr(server.provider, "answer", lambda seen: broken if "first" in seen.params else usual(seen))
        engine = self.make_engine(server)
        results = await engine.search(Query("law"), 20)
        await close_engine(engine)
        assert isinstance(results, EngineResults)
        assert len(results) == 10
        assert (results.notes[0].code, results.notes[0].values["page"]) == ("engine.page_missing", 2)

    @pytest.mark.parametrize("fault", [Fault.AUTH, Fault.QUOTA, Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.RESET])
    async def test_failures_are_bings_too(
        self, server: ProviderServer, fault: Fault, caplog: pytest.LogCaptureFixture
    ) -> None:
        server.fault = fault
        engine = self.make_engine(server)
        with pytest.raises(EngineError) as caught:
            await engine.search(Query("law"), 10)
        await close_engine(engine)
        assert caught.value.engine == "bing"
        assert caught.value.outcome is EXPECTED[fault]
        assert_no_secret(server.key, caught.value, caplog)

    async def test_it_joins_only_when_named_and_says_whom_it_asks(self, server: ProviderServer) -> None:
        engine = self.make_engine(server)
        assert engine.joins is Joins.NAMED
        assert BingEngine.joins is Joins.CONFIGURED
        assert engine.notes(Query("x", type=SearchType.NEWS, freshness=Freshness.DAY), 40) == (
            Fact("bing.through_serpapi"),
            Fact("engine.ignored", features=["news"]),
            Fact("engine.at_most", count=30),
        )
        await close_engine(engine)

    @pytest.mark.parametrize("name", RETIRED)
    async def test_an_old_key_does_not_stand_in_the_way(self, server: ProviderServer, name: str) -> None:
        engine = self.make_engine(server, **{name: "old"})
        assert len(await engine.search(Query("x"), 3)) == 3
        await close_engine(engine)

    async def test_the_other_name_of_the_key_works_too(self, server: ProviderServer) -> None:
        engine = self.make_engine(server, SERPAPI_API_KEY=" ", SERPAPI_KEY=server.key)
        assert len(await engine.search(Query("x"), 3)) == 3
        await close_engine(engine)

    async def test_an_engine_of_its_own_is_closed_with_it(self, server: ProviderServer) -> None:
        engine = BingEngine(through=SerpApiBingEngine(server.key))
        assert len(await engine.search(Query("x"), 3)) == 3
        await engine.aclose()  # an open session would be reported as a warning, which is an error here


class TestBingWithoutItsKey:
    @pytest.mark.parametrize("name", RETIRED)
    def test_a_v7_key_is_told_that_it_is_retired(self, name: str) -> None:
        with pytest.raises(EngineNotConfigured) as caught:
            BingEngine.from_options(EngineOptions(lookup={name: "old-secret"}.get), HttpClient())
        error = caught.value
        assert "2025-08-11" in error.message
        assert name in error.message
        assert "WEBIQ_API_KEY" in error.fix
        assert "SERPAPI_API_KEY" in error.fix
        assert error.outcome is Outcome.DISABLED
        assert "old-secret" not in str(error)

    def test_no_key_at_all_names_both_ways(self) -> None:
        with pytest.raises(EngineNotConfigured, match=r"WEBIQ_API_KEY.*SERPAPI_API_KEY") as caught:
            BingEngine.from_options(EngineOptions(), HttpClient())
        assert "v7" not in str(caught.value)

    def test_its_own_key_wins_over_every_other(self) -> None:
        found = {"SERPAPI_API_KEY": "s", "BING_API_KEY": "old"}
        engine = BingEngine.from_options(EngineOptions(api_key="k", lookup=found.get), HttpClient())
        assert engine.joins is Joins.CONFIGURED
        assert engine.endpoint.base_url == "https://api.microsoft.ai/v3"

    def test_serpapi_is_asked_at_its_own_address(self) -> None:
        options = EngineOptions(base_url="https://elsewhere.example.com/v3", lookup={"SERPAPI_API_KEY": "s"}.get)
        assert BingEngine.from_options(options, HttpClient()).endpoint.base_url == "https://serpapi.com"


def test_bing_is_discovered_once() -> None:
    found = discover_engines()
    assert found["bing"] is BingEngine
    assert found["serpapi_bing"] is SerpApiBingEngine
