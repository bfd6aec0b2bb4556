"""The Perplexity engine: its place in the common table, the shape of its requests, and what is Perplexity's own."""

from __future__ import annotations

import asyncio

import pytest

from qiusuo.engines.perplexity import PerplexityEngine
from qiusuo.errors import AuthFailed, QuotaExceeded
from qiusuo.models import Freshness, Query, SearchResultItem, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance
from qiusuo.testing.providers.perplexity import Perplexity
from qiusuo.words import Fact


class TestPerplexity(EngineConformance):
    engine_class = PerplexityEngine
    provider = Perplexity

    async def test_request_has_the_shape_of_the_official_sdk(self, server: ProviderServer) -> None:
        query = Query(
            "人工智能",
            language="zh-CN",
            region="cn",
            freshness=Freshness.WEEK,
            include_domains=("gov.cn", "example.org"),
        )
        await self.run(server, query, 7)
        from perplexity import Perplexity as PerplexityClient  # takes long to load

        def ask() -> int:
            with PerplexityClient(api_key=server.key, base_url=server.base_url, max_retries=0) as client:
                found = client.search.create(
                    query="人工智能",
                    max_results=7,
                    max_tokens_per_page=server.seen[0].json["max_tokens_per_page"],
                    country="CN",
                    search_language_filter=["zh"],
                    search_recency_filter="week",
                    search_domain_filter=["gov.cn", "example.org"],
                )
            return len(found.results)

        # The SDK's client is synchronous; the server runs in its own thread.
        assert await asyncio.to_thread(ask) == 7
        ours, theirs = server.seen
        assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("POST", "/search")
        assert ours.headers["authorization"] == theirs.headers["authorization"]
        assert ours.headers["content-type"] == theirs.headers["content-type"]
        assert ours.json == theirs.json

    async def test_plain_query_sends_nothing_that_was_not_asked_for(self, server: ProviderServer) -> None:
        await self.run(server, Query("x"), 3)
        assert set(server.seen[0].json) == {"query", "max_results", "max_tokens_per_page"}

    async def test_snippets_are_kept_short_at_the_source(self, server: ProviderServer) -> None:
        await self.run(server, Query("x"))
        assert server.seen[0].json["max_tokens_per_page"] <= 512

    @pytest.mark.parametrize("freshness", list(Freshness))
    async def test_every_freshness_is_known(self, server: ProviderServer, freshness: Freshness) -> None:
        await self.run(server, Query("x", freshness=freshness))
        assert server.seen[0].json["search_recency_filter"] == freshness.value

    @pytest.mark.parametrize(
        ("language", "sent"), [("zh-CN", ["zh"]), ("ZH-Hant", ["zh"]), ("en", ["en"]), ("yue", None), (None, None)]
    )
    async def test_language_has_two_letters(
        self, server: ProviderServer, language: str | None, sent: list[str] | None
    ) -> None:
        await self.run(server, Query("x", language=language))
        assert server.seen[0].json.get("search_language_filter") == sent

    async def test_excluded_domains_have_a_minus(self, server: ProviderServer) -> None:
        await self.run(server, Query("x", exclude_domains=("example.org", "example.net")))
        assert server.seen[0].json["search_domain_filter"] == ["-example.org", "-example.net"]

    async def test_included_domains_win_and_the_receipt_says_so(self, server: ProviderServer) -> None:
        query = Query("x", include_domains=("gov.cn",), exclude_domains=("example.org",))
        await self.run(server, query)
        assert server.seen[0].json["search_domain_filter"] == ["gov.cn"]
        (note,) = PerplexityEngine("k").notes(query, 10)
        assert note == Fact("perplexity.one_kind_of_filter")

    async def test_twenty_domains_at_most(self, server: ProviderServer) -> None:
        query = Query("x", exclude_domains=tuple(f"site{number}.example.com" for number in range(21)))
        await self.run(server, query)
        assert len(server.seen[0].json["search_domain_filter"]) == 20
        assert PerplexityEngine("k").notes(query, 10) == (Fact("engine.domains_sent", count=20),)

    async def test_nested_lists_of_results(self, server: ProviderServer) -> None:
        flat = await self.run(server, Query("x"), 5)
        assert isinstance(server.provider, Perplexity)
        server.provider.nested = True
        assert await self.run(server, Query("x"), 5) == flat
        server.empty = True
        assert await self.run(server, Query("x"), 5) == []

    async def test_several_nested_lists_are_joined(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = [{"title": str(number), "url": f"https://site.example.com/{number}"} for number in range(3)]
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"results": [rows[:2], [], rows[2:]]}))
        assert [item.title for item in await self.run(server, Query("x"))] == ["0", "1", "2"]

    async def test_date_is_that_of_publication_or_of_the_last_change(self, server: ProviderServer) -> None:
        first, second, *_ = await self.run(server, Query("law"))
        assert first == SearchResultItem(
            title="law & result 1",
            url="https://site1.example.com/page/1",
            snippet='About law: text 1 "quoted" 中文 <ok>.',
            published_at="2026-10-02",
            engines=("perplexity",),
        )
        assert second.published_at == "2026-11-01"

    @pytest.mark.parametrize(
        "message",
        [
            "You have run out of credits.",
            "You exceeded your current quota, please check your plan.",
            "Please add a payment method in Billing.",
        ],
    )
    @pytest.mark.parametrize("as_json", [True, False])
    async def test_used_up_credits_come_as_401(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, message: str, *, as_json: bool
    ) -> None:
        answer = Perplexity.error(401, "unauthorized", message) if as_json else Answer(message, 401)
        monkeypatch.setattr(server.provider, "refuse", lambda _: answer)
        server.fault = Fault.AUTH
        with pytest.raises(QuotaExceeded) as caught:
            await self.run(server, Query("x"))
        assert caught.value.status == 401
        assert "Add credits" in caught.value.fix

    @pytest.mark.parametrize(
        "answer",
        [
            Perplexity.error(401, "invalid_api_key", "Invalid API key provided."),
            Answer("<html><head><title>401 Authorization Required</title></head></html>", 401),
            Answer(b"", 401),
            Answer("<p>Missing credentials, says the load balancer.</p>", 401),
        ],
    )
    async def test_any_other_401_is_the_key(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, answer: Answer
    ) -> None:
        monkeypatch.setattr(server.provider, "refuse", lambda _: answer)
        server.fault = Fault.AUTH
        with pytest.raises(AuthFailed) as caught:
            await self.run(server, Query("x"))
        assert caught.value.fix

    def test_options_that_perplexity_lacks_are_reported(self) -> None:
        engine = PerplexityEngine("k")
        assert engine.notes(Query("x", type=SearchType.NEWS, language="yue"), 21) == (
            Fact("engine.ignored", features=["news"]),
            Fact("engine.at_most", count=20),
            Fact("engine.language_ignored", language="yue"),
        )
        assert engine.notes(Query("x", language="zh-CN", region="CN", freshness=Freshness.HOUR), 20) == ()
        assert engine.notes(Query("x", language="yue", language_is_guess=True), 20) == (), "nobody asked for it"
