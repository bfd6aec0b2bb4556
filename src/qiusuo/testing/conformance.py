"""The table of behaviours that every engine must show, as a pytest class to inherit from.

::

    class TestTavilyConformance(EngineConformance):
        engine_class = TavilyEngine
        provider = Tavily
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from qiusuo.engines.base import EngineOptions, SearchEngine
from qiusuo.errors import AuthFailed, EngineError, SearchError
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Outcome, Query, SearchResultItem, SearchType
from qiusuo.testing.server import Fault, Provider, ProviderServer

EXPECTED: dict[Fault, Outcome] = {
    Fault.AUTH: Outcome.AUTH,
    Fault.QUOTA: Outcome.QUOTA,
    Fault.RATE_LIMITED: Outcome.RATE_LIMITED,
    Fault.RATE_LIMITED_DATE: Outcome.RATE_LIMITED,
    Fault.INVALID: Outcome.BAD_RESPONSE,
    Fault.FORBIDDEN: Outcome.AUTH,
    Fault.SERVER_ERROR: Outcome.UNAVAILABLE,
    Fault.OVERLOADED: Outcome.UNAVAILABLE,
    Fault.HTML: Outcome.BAD_RESPONSE,
    Fault.WRONG_SHAPE: Outcome.BAD_RESPONSE,
    Fault.UNREADABLE_ROWS: Outcome.BAD_RESPONSE,
    Fault.NOT_JSON: Outcome.BAD_RESPONSE,
    Fault.TRUNCATED: Outcome.BAD_RESPONSE,
    Fault.HUGE: Outcome.BAD_RESPONSE,
    Fault.BOMB: Outcome.BAD_RESPONSE,
    Fault.REDIRECT: Outcome.BAD_RESPONSE,
    Fault.HANG: Outcome.TIMEOUT,
    Fault.RESET: Outcome.UNAVAILABLE,
}

QUERIES = {
    "plain": Query("open source search"),
    "chinese": Query("人工智能 最新进展", language="zh-CN", region="CN"),
    "symbols": Query('100% "C++ & C#" = a+b? #1 / 问号？'),
    "news": Query("elections", type=SearchType.NEWS, freshness=Freshness.DAY),
    "filters": Query(
        "law", include_domains=("gov.cn", "court.gov.cn"), exclude_domains=("example.org",), freshness=Freshness.YEAR
    ),
    "long": Query("long query " * 200),
}


class EngineConformance:
    """Inherit, name the engine and its provider, and the whole table runs."""

    engine_class: ClassVar[type[SearchEngine]]
    provider: ClassVar[type[Provider]]
    expected: ClassVar[dict[Fault, Outcome]] = {}
    """Where this provider rightly differs from the common table."""
    results_on: ClassVar[str] = "site"
    """How the hosts of the results begin: those of the test provider, unless all stand on one site."""

    @pytest.fixture
    def server(self) -> Iterator[ProviderServer]:
        with ProviderServer(self.provider()) as server:
            yield server

    def make_engine(self, server: ProviderServer, *, key: str | None = None, timeout: float = 2.0) -> SearchEngine:
        """Build the engine against the loopback server, as configuration would."""
        options = EngineOptions(api_key=key or server.key, base_url=server.base_url, timeout=timeout)
        return self.engine_class.from_options(options, HttpClient())

    async def run(
        self, server: ProviderServer, query: Query, count: int = 10, *, key: str | None = None, timeout: float = 2.0
    ) -> list[SearchResultItem]:
        """Make one search and close what it opened."""
        engine = self.make_engine(server, key=key, timeout=timeout)
        try:
            return await engine.search(query, count)
        except AuthFailed as error:
            if key is None and server.fault is None:
                error.add_note(
                    f"the key was the right one: see where {type(server.provider).__name__}.authorized looks"
                )
            raise
        finally:
            await close_engine(engine)

    @pytest.mark.parametrize("kind", list(QUERIES))
    async def test_finds_ten_clean_results(self, server: ProviderServer, kind: str) -> None:
        results = await self.run(server, QUERIES[kind])
        assert len(results) == 10
        for item in results:
            assert item.url.startswith(f"https://{self.results_on}")
            assert item.source.startswith(self.results_on)
            assert item.engines == (self.engine_class.name,)
            for text in (item.title, item.snippet):
                assert "<b>" not in text
                assert "<strong>" not in text
                assert "&amp;" not in text
                assert "&quot;" not in text

    @pytest.mark.parametrize("count", [1, 3, 1000])
    async def test_count_is_clamped(self, server: ProviderServer, count: int) -> None:
        results = await self.run(server, QUERIES["plain"], count)
        assert 1 <= len(results) <= min(count, self.engine_class.max_results)

    async def test_nothing_found_is_an_empty_list(self, server: ProviderServer) -> None:
        server.empty = True
        assert await self.run(server, QUERIES["plain"]) == []

    async def test_slow_but_in_time_is_fine(self, server: ProviderServer) -> None:
        server.fault = Fault.SLOW
        assert len(await self.run(server, QUERIES["plain"])) == 10

    @pytest.mark.parametrize("fault", list(EXPECTED))
    async def test_fault(self, server: ProviderServer, fault: Fault, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        server.fault = fault
        error = await self._failure(server, timeout=0.3 if fault is Fault.HANG else 20.0)
        assert error.outcome is (EXPECTED | self.expected)[fault], error
        assert isinstance(error, EngineError)
        assert error.engine == self.engine_class.name
        assert_no_secret(server.key, error, caplog)
        if fault is Fault.RATE_LIMITED and error.outcome is Outcome.RATE_LIMITED:
            assert error.retry_after is not None
            assert error.retry_after >= 1
        if fault is Fault.HANG:
            assert "0.3 s" in str(error)
        if fault is Fault.INVALID:
            # Where they stand elsewhere than usual, ``error_words`` of the engine names the place.
            assert longest_sentence(self.provider().refuse(fault).body) in str(error), "the provider's words are lost"

    async def test_service_not_there(self, server: ProviderServer, caplog: pytest.LogCaptureFixture) -> None:
        engine = self.make_engine(server)
        server.close()
        with pytest.raises(EngineError) as caught:
            await engine.search(QUERIES["plain"], 10)
        await close_engine(engine)
        assert caught.value.outcome is Outcome.UNAVAILABLE
        assert_no_secret(server.key, caught.value, caplog)

    async def test_wrong_key_is_an_auth_error_without_the_key(
        self, server: ProviderServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        if not self.engine_class.key_env:
            pytest.skip("this engine needs no key")
        error = await self._failure(server, key="wrong-key-fedcba9876543210")
        assert error.outcome is Outcome.AUTH
        assert_no_secret("wrong-key-fedcba9876543210", error, caplog)

    async def test_missing_key_names_the_fix(self) -> None:
        if not self.engine_class.key_env:
            pytest.skip("this engine needs no key")
        with pytest.raises(SearchError) as caught:
            self.engine_class.from_options(EngineOptions(api_key="  "), HttpClient())
        assert caught.value.outcome is Outcome.DISABLED
        assert self.engine_class.key_env[0] in caught.value.fix

    def test_facts_are_stated(self) -> None:
        engine = self.engine_class
        assert engine.name
        assert engine.label
        assert engine.docs_url.startswith("https://")

    async def _failure(self, server: ProviderServer, *, key: str | None = None, timeout: float = 20.0) -> SearchError:
        with pytest.raises(SearchError) as caught:
            await self.run(server, QUERIES["plain"], key=key, timeout=timeout)
        return caught.value


def longest_sentence(body: Any) -> str:
    """Return the longest words in a body of JSON: what a provider says of an error. Ids and pages are no words."""
    match body:
        case dict() | list():
            parts = list(body.values()) if isinstance(body, dict) else body
            return max(map(longest_sentence, parts), key=len, default="")
        case str() if " " in body and not body.startswith("<"):
            return body
        case _:
            return ""


def assert_no_secret(secret: str, error: SearchError, caplog: pytest.LogCaptureFixture) -> None:
    """Check that neither the error, in any form, nor the log shows the key."""
    trace = "".join(traceback.format_exception(error))
    for text in (str(error), repr(error), repr(error.to_dict()), trace, caplog.text):
        assert secret not in text


async def close_engine(engine: SearchEngine) -> None:
    """Close an engine and the client that it was given."""
    await engine.aclose()
    endpoint = getattr(engine, "endpoint", None)
    if endpoint is not None:
        await endpoint.client.aclose()
