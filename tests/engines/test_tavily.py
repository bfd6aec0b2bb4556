"""The Tavily engine: its place in the common table, the shape of its requests, and what is Tavily's own."""

from __future__ import annotations

import asyncio

import pytest
from tavily import TavilyClient  # type: ignore[import-untyped]

from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import QuotaExceeded, RateLimited
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Fact


class TestTavily(EngineConformance):
    engine_class = TavilyEngine
    provider = Tavily

    async def test_request_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        query = Query(
            "人工智能",
            type=SearchType.NEWS,
            freshness=Freshness.WEEK,
            include_domains=("gov.cn",),
            exclude_domains=("example.org",),
        )
        await self.run(server, query, 7)
        client = TavilyClient(api_key=server.key, api_base_url=server.base_url)
        # The SDK is synchronous; the server runs in its own thread.
        await asyncio.to_thread(
            client.search,
            "人工智能",
            topic="news",
            time_range="week",
            max_results=7,
            include_domains=["gov.cn"],
            exclude_domains=["example.org"],
        )
        ours, theirs = server.seen
        assert (ours.method, ours.path) == (theirs.method, theirs.path)
        assert ours.headers["authorization"] == theirs.headers["authorization"]
        assert set(ours.json) <= set(theirs.json)
        assert {key: theirs.json[key] for key in ours.json} == ours.json

    async def test_hour_becomes_the_nearest_wider_range(self, server: ProviderServer) -> None:
        await self.run(server, Query("x", freshness=Freshness.HOUR))
        assert server.seen[0].json["time_range"] == "day"

    async def test_country_is_sent_by_its_english_name_and_not_for_news(self, server: ProviderServer) -> None:
        await self.run(server, Query("x", region="cn"))
        await self.run(server, Query("x", region="CN", type=SearchType.NEWS))
        general, news = server.seen
        assert general.json["country"] == "china"
        assert "country" not in news.json

    @pytest.mark.parametrize("status", [432, 433])
    async def test_both_credit_limits_are_quota_errors(
        self, server: ProviderServer, status: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server.provider, "refuse", lambda _: Answer({"detail": {"error": "limit"}}, status))
        server.fault = Fault.QUOTA
        with pytest.raises(QuotaExceeded, match=str(status)):
            await self.run(server, Query("x"))

    async def test_keyless_rejection_carries_its_wait(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = {"error": {"code": "keyless", "message": "slow down", "retry_after_seconds": 42}}
        monkeypatch.setattr(server.provider, "refuse", lambda _: Answer(body, 429))
        server.fault = Fault.OVERLOADED
        with pytest.raises(RateLimited) as caught:
            await self.run(server, Query("x"))
        assert caught.value.retry_after == 42

    @pytest.mark.parametrize(("named", "waited"), [(10**12, 24 * 3600), (-5, 0)])
    async def test_a_wait_beyond_reason_is_not_believed(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, named: int, waited: int
    ) -> None:
        body = {"error": {"message": "slow down", "retry_after_seconds": named}}
        monkeypatch.setattr(server.provider, "refuse", lambda _: Answer(body, 429))
        server.fault = Fault.RATE_LIMITED
        with pytest.raises(RateLimited) as caught:
            await self.run(server, Query("x"))
        assert caught.value.retry_after == waited

    def test_options_that_tavily_lacks_are_reported(self) -> None:
        engine = TavilyEngine("k")
        assert engine.notes(Query("x" * 500, language="zh-CN"), 50) == (
            Fact("engine.ignored", features=["language"]),
            Fact("engine.shortened", count=400),
            Fact("engine.at_most", count=20),
        )
