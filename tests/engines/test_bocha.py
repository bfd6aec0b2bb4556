"""The Bocha engine: its place in the common table, the shape of its requests, and the code inside the body.

Bocha has no official Python SDK; the shape is the one in providers.md and in Bocha's own MCP server.
"""

from __future__ import annotations

from typing import ClassVar

import pytest

from qiusuo.engines.bocha import BochaEngine
from qiusuo.errors import AuthFailed, BadResponse, EngineError, QuotaExceeded, RateLimited, RequestRejected, Unavailable
from qiusuo.models import Freshness, Outcome, Query, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance
from qiusuo.testing.providers.bocha import Bocha
from qiusuo.words import Fact

ERRORS: dict[int, type[EngineError]] = {
    400: RequestRejected,
    401: AuthFailed,
    403: QuotaExceeded,
    429: RateLimited,
    500: Unavailable,
}


class TestBocha(EngineConformance):
    engine_class = BochaEngine
    provider = Bocha
    # Bocha has no other meaning for 403 than an empty balance.
    expected: ClassVar = {Fault.FORBIDDEN: Outcome.QUOTA}

    async def test_request_has_the_documented_shape(self, server: ProviderServer) -> None:
        query = Query(
            "人工智能",
            freshness=Freshness.WEEK,
            include_domains=("gov.cn", "court.gov.cn"),
            exclude_domains=("example.org", "example.net"),
        )
        await self.run(server, query, 7)
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("POST", "/v1/web-search")
        assert seen.headers["authorization"] == f"Bearer {server.key}"
        assert seen.json == {
            "query": "人工智能",
            "summary": True,
            "count": 7,
            "freshness": "oneWeek",
            "include": "gov.cn|court.gov.cn",
            "exclude": "example.org|example.net",
        }

    async def test_what_was_not_asked_for_is_not_sent(self, server: ProviderServer) -> None:
        await self.run(server, Query("x"), 5)
        assert server.seen[0].json == {"query": "x", "summary": True, "count": 5}

    @pytest.mark.parametrize(
        ("freshness", "word"),
        [
            (Freshness.HOUR, "oneDay"),
            (Freshness.DAY, "oneDay"),
            (Freshness.WEEK, "oneWeek"),
            (Freshness.MONTH, "oneMonth"),
            (Freshness.YEAR, "oneYear"),
        ],
    )
    async def test_every_freshness_has_its_word(self, server: ProviderServer, freshness: Freshness, word: str) -> None:
        await self.run(server, Query("x", freshness=freshness))
        assert server.seen[0].json["freshness"] == word

    @pytest.mark.parametrize("status", [200, None])
    @pytest.mark.parametrize("code", [*ERRORS, *map(str, ERRORS)])
    async def test_the_code_counts_as_number_and_as_text_with_any_status(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, status: int | None, code: int | str
    ) -> None:
        body = {"code": code, "message": f"no {server.key}", "log_id": "0"}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body, status or int(code)))
        with pytest.raises(ERRORS[int(code)], match=r"no \*\*\*") as caught:
            await self.run(server, Query("x"))
        assert caught.value.status == int(code)
        assert server.key not in str(caught.value)

    async def test_the_code_is_finer_than_the_status(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"code": "403", "message": "money"}, 400))
        with pytest.raises(QuotaExceeded, match=r"money\. Top up at https://open\.bocha\.cn"):
            await self.run(server, Query("x"))

    async def test_a_status_counts_where_the_code_says_success(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"code": 200, "msg": "odd"}, 502))
        with pytest.raises(Unavailable, match="502"):
            await self.run(server, Query("x"))

    async def test_a_code_that_is_a_word_is_a_refusal_in_bochas_words(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = {"code": "InvalidParameter", "msg": "query is odd"}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        with pytest.raises(RequestRejected, match="query is odd"):
            await self.run(server, Query("x"))

    @pytest.mark.parametrize("pages", [None, {"value": []}])
    async def test_nothing_found_has_two_forms(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, pages: object
    ) -> None:
        body = {"code": "200", "msg": None, "data": {"webPages": pages}}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        assert await self.run(server, Query("x")) == []

    async def test_success_without_data_is_a_bad_answer(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"code": 200, "data": None}))
        with pytest.raises(BadResponse):
            await self.run(server, Query("x"))

    async def test_texts_and_dates_that_are_missing_have_a_second_choice(self, server: ProviderServer) -> None:
        first, second, third = await self.run(server, Query("x"), 3)
        assert first.snippet.endswith("In full.")
        assert third.snippet.endswith("<ok>.")  # no summary: the snippet
        assert first.published_at == "2026-10-02T16:00:00+08:00"
        assert second.published_at == "2026-10-03T08:00:00+00:00"  # no datePublished: dateLastCrawled

    async def test_a_row_without_any_text_is_still_a_result(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"name": "a", "url": "https://a.example.com", "snippet": None, "summary": None}
        body = {"code": 200, "data": {"webPages": {"value": [row]}}}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        (item,) = await self.run(server, Query("x"))
        assert (item.snippet, item.published_at) == ("", None)

    def test_options_that_bocha_lacks_are_reported(self) -> None:
        many = tuple(f"site{number}.cn" for number in range(21))
        query = Query("x", type=SearchType.NEWS, language="zh-CN", region="CN", include_domains=many)
        assert BochaEngine("k").notes(query, 60) == (
            Fact("engine.ignored", features=["news", "language", "region"]),
            Fact("engine.at_most", count=50),
            Fact("engine.first_domains", count=20),
        )
