"""The Brave engine: its place in the common table, its requests (there is no official SDK), and what is Brave's own."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo.engines.base import EngineResults, Storing
from qiusuo.engines.brave import BraveEngine
from qiusuo.errors import AuthFailed, BadResponse, QuotaExceeded, RateLimited, RequestRejected, SearchError
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance
from qiusuo.testing.providers.brave import Brave
from qiusuo.words import Fact


class TestBrave(EngineConformance):
    engine_class = BraveEngine
    provider = Brave

    async def failure(self, server: ProviderServer, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> SearchError:
        """Search while the provider refuses with ``answer``."""
        monkeypatch.setattr(server.provider, "refuse", lambda _: answer)
        server.fault = Fault.INVALID
        with pytest.raises(SearchError) as caught:
            await self.run(server, Query("x"))
        return caught.value

    async def test_web_request_is_as_documented(self, server: ProviderServer) -> None:
        query = Query("人工智能", language="zh-CN", region="cn", freshness=Freshness.MONTH)
        await self.run(server, query, 7)
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("GET", "/res/v1/web/search")
        assert seen.headers["x-subscription-token"] == server.key
        assert "authorization" not in seen.headers
        assert seen.headers["accept"] == "application/json"
        assert seen.params == {
            "q": "人工智能",
            "count": "7",
            "country": "CN",
            "search_lang": "zh-hans",
            "freshness": "pm",
            "text_decorations": "false",
            "result_filter": "web,query",
        }

    async def test_news_has_an_endpoint_of_its_own(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("elections", type=SearchType.NEWS, freshness=Freshness.DAY), 5)
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("GET", "/res/v1/news/search")
        assert seen.params == {"q": "elections", "count": "5", "freshness": "pd"}
        assert [item.published_at for item in results][:2] == ["2026-10-02T08:30:00", "2026-10-03T08:30:00"]

    async def test_no_news_is_an_empty_list(self, server: ProviderServer) -> None:
        server.empty = True
        assert await self.run(server, Query("x", type=SearchType.NEWS)) == []

    @pytest.mark.parametrize(
        ("freshness", "sent"),
        [
            (Freshness.HOUR, "pd"),
            (Freshness.DAY, "pd"),
            (Freshness.WEEK, "pw"),
            (Freshness.MONTH, "pm"),
            (Freshness.YEAR, "py"),
        ],
    )
    async def test_freshness(self, server: ProviderServer, freshness: Freshness, sent: str) -> None:
        await self.run(server, Query("x", freshness=freshness))
        assert server.seen[0].params["freshness"] == sent

    @pytest.mark.parametrize(
        ("language", "search_lang", "country"),
        [
            ("zh", "zh-hans", None),
            ("zh-CN", "zh-hans", "CN"),
            ("zh-TW", "zh-hant", "TW"),
            ("zh-Hant", "zh-hant", None),
            ("en-GB", "en", "GB"),
            ("ja", "jp", None),
            ("pt", "pt-pt", None),
            ("pt-BR", "pt-br", "BR"),
            ("el", None, None),
        ],
    )
    async def test_language(
        self, server: ProviderServer, language: str, search_lang: str | None, country: str | None
    ) -> None:
        await self.run(server, Query("x", language=language))
        assert server.seen[0].params.get("search_lang") == search_lang
        assert server.seen[0].params.get("country") == country

    async def test_domain_filters_are_goggles_and_leave_the_query_alone(self, server: ProviderServer) -> None:
        words = " ".join(f"word{number}" for number in range(50))
        await self.run(server, Query(words, include_domains=("gov.cn", "court.gov.cn")))
        await self.run(server, Query(words, exclude_domains=("example.org", "example.net")))
        await self.run(server, Query(words, include_domains=("gov.cn",), exclude_domains=("old.gov.cn",)))
        assert {seen.params["q"] for seen in server.seen} == {words}
        assert [seen.params["goggles"] for seen in server.seen] == [
            "$discard\n$site=gov.cn\n$site=court.gov.cn",
            "$discard,site=example.org\n$discard,site=example.net",
            "$discard\n$site=gov.cn\n$discard,site=old.gov.cn",
        ]

    async def test_many_domains_still_fit_into_an_address(self, server: ProviderServer) -> None:
        domains = tuple(f"subdomain{number}.example.com" for number in range(500))
        query = Query("搜" * 400, include_domains=domains[:60], exclude_domains=domains)
        assert len(await self.run(server, query)) == 10
        rules = server.seen[0].params["goggles"].splitlines()
        assert len(rules) == 1 + 100
        assert BraveEngine("k").notes(query, 10) == (Fact("engine.domains_sent", count=100),)

    async def test_query_is_cut_to_400_characters_and_50_words(self, server: ProviderServer) -> None:
        await self.run(server, Query("ab " * 60))
        await self.run(server, Query("搜索" * 300))
        by_words, by_chars = (seen.params["q"] for seen in server.seen)
        assert len(by_words.split()) == 50
        assert len(by_chars) == 400

    async def test_a_corrected_query_is_on_the_receipt(self, server: ProviderServer) -> None:
        assert isinstance(server.provider, Brave)
        server.provider.altered = "artificial <b>intelligence</b>"
        results = await self.run(server, Query("artifical inteligence"))
        assert isinstance(results, EngineResults)
        assert results.notes == (Fact("engine.searched_for", query="artificial intelligence"),)

    @pytest.mark.parametrize(
        "body",
        [
            {"results": []},
            {"type": "ErrorResponse", "error": {"code": "ODD"}},
            {"type": "search", "web": {"results": "none"}},
            {"type": "search", "web": {"type": "search"}},
            [],
            None,
        ],
    )
    async def test_json_that_is_not_braves(
        self, server: ProviderServer, body: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        with pytest.raises(BadResponse):
            await self.run(server, Query("x"))

    async def test_page_age_wins_over_words_and_both_may_be_missing(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"title": "t", "url": "https://site.example.com", "description": None}
        rows = [{**row, "page_age": "2026-11-01T00:00:00", "age": "2 weeks ago"}, {**row, "age": "2 weeks ago"}, row]
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"type": "search", "web": {"results": rows}}))
        results = await self.run(server, Query("x"))
        assert [item.published_at for item in results] == ["2026-11-01T00:00:00", "2 weeks ago", None]
        assert {item.snippet for item in results} == {""}

    async def test_wrong_key_comes_as_422(self, server: ProviderServer) -> None:
        with pytest.raises(AuthFailed) as caught:
            await self.run(server, Query("x"), key="wrong")
        assert caught.value.status == 422
        assert "Check the key" in caught.value.fix

    async def test_key_without_a_plan(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        error = await self.failure(server, Brave.error(404, "SUBSCRIPTION_NOT_FOUND", "none"), monkeypatch)
        assert isinstance(error, AuthFailed)

    @pytest.mark.parametrize("status", [400, 403])
    async def test_option_outside_the_plan_rejects_this_request_only(
        self, server: ProviderServer, status: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = Brave.error(status, "OPTION_NOT_IN_PLAN", "The option is not in the plan.")
        error = await self.failure(server, answer, monkeypatch)
        assert isinstance(error, RequestRejected)
        assert "plan" in error.fix

    @pytest.mark.parametrize("shape", ["error", "errors"])
    @pytest.mark.parametrize(
        ("code", "expected"), [("RATE_LIMITED", (RateLimited, 1)), ("QUOTA_LIMITED", (QuotaExceeded, 3600))]
    )
    async def test_each_limit_waits_for_its_own_window(
        self,
        server: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        code: str,
        expected: tuple[type[SearchError], float],
        shape: str,
    ) -> None:
        found = {"code": code, "detail": "limit", "status": 429}
        body = {"type": "ErrorResponse", shape: [found] if shape == "errors" else found}
        error = await self.failure(server, Answer(body, 429, {"X-RateLimit-Reset": "1, 3600"}), monkeypatch)
        assert (type(error), error.retry_after) == expected
        assert error.fix

    async def test_retry_after_wins_over_the_reset(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = Answer({"error": {"code": "RATE_LIMITED"}}, 429, {"Retry-After": "9", "X-RateLimit-Reset": "1, 3600"})
        assert (await self.failure(server, answer, monkeypatch)).retry_after == 9

    @pytest.mark.parametrize("headers", [{}, {"X-RateLimit-Reset": ""}, {"X-RateLimit-Reset": "soon"}])
    @pytest.mark.parametrize("body", [{"error": {"code": "QUOTA_LIMITED"}}, {"error": "slow"}, {"errors": []}, b""])
    async def test_limits_without_a_readable_wait(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], body: Any
    ) -> None:
        error = await self.failure(server, Answer(body, 429, headers), monkeypatch)
        assert isinstance(error, QuotaExceeded if "QUOTA" in str(body) else RateLimited)
        assert error.retry_after is None

    def test_what_cannot_be_honoured_is_reported(self) -> None:
        engine = BraveEngine("k")
        query = Query("x " * 60, language="el", region="SG", freshness=Freshness.HOUR, type=SearchType.NEWS)
        assert engine.notes(query, 50) == (
            Fact("engine.shortened", count=99),
            Fact("engine.at_most", count=20),
            Fact("engine.language_ignored", language="el"),
            Fact("engine.region_ignored", region="SG"),
            Fact("engine.day_for_hour"),
        )
        assert engine.notes(Query("x", language="zh-CN", region="CN", freshness=Freshness.DAY), 20) == ()
        assert engine.notes(Query("x", language="el", language_is_guess=True), 20) == (), "nobody asked for it"

    def test_results_are_kept_in_memory_only(self) -> None:
        assert BraveEngine.storing is Storing.MEMORY
