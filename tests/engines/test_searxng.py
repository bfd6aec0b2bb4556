"""The SearXNG engine: its place in the common table, its requests, and the many ways in which SearXNG fails with a 200.

The same engine against a real SearXNG is in ``tests/engines/test_real_searxng.py``.
"""

from __future__ import annotations

import re
import time
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.engines.base import EngineOptions, EngineResults, Joins
from qiusuo.engines.searxng import SearxngEngine, plain_words, searxng_language
from qiusuo.errors import (
    ApiDisabled,
    AuthFailed,
    Blocked,
    ConfigurationError,
    EngineError,
    RateLimited,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Outcome, Query, SearchResultItem, SearchType
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.testing.conformance import EngineConformance, close_engine
from qiusuo.testing.providers.searxng import Searxng

PASSWORD = "s3cret-pass"


def provider_of(server: ProviderServer) -> Searxng:
    assert isinstance(server.provider, Searxng)
    return server.provider


def notes_of(results: list[SearchResultItem]) -> tuple[str, ...]:
    assert isinstance(results, EngineResults)
    return results.notes


class TestSearxng(EngineConformance):
    engine_class = SearxngEngine
    provider = Searxng
    # SearXNG knows no keys; its 403 says that JSON is off.
    expected = {Fault.FORBIDDEN: Outcome.DISABLED}  # noqa: RUF012 - the table of the base class

    async def test_request_has_the_headers_that_its_bot_detection_wants(self, server: ProviderServer) -> None:
        await self.run(server, Query("人工智能 & AI"))
        seen = server.seen[0]
        assert (seen.method, seen.path) == ("GET", "/search")
        assert seen.params == {"q": "人工智能 & AI", "format": "json", "language": "all", "pageno": "1"}
        assert seen.headers["accept"] == "application/json, text/html;q=0.9"
        assert seen.headers["accept-language"] == "en"
        assert seen.headers["user-agent"].startswith("qiusuo/")

    async def test_options_become_parameters(self, server: ProviderServer) -> None:
        query = Query(
            "法律",
            type=SearchType.NEWS,
            language="zh-Hans-CN",
            freshness=Freshness.HOUR,
            include_domains=("gov.cn", "court.gov.cn"),
            exclude_domains=("example.org",),
        )
        await self.run(server, query)
        params = server.seen[0].params
        assert params["q"] == "法律 (site:gov.cn OR site:court.gov.cn) -site:example.org"
        assert (params["categories"], params["language"], params["time_range"]) == ("news", "zh-CN", "day")
        assert "safesearch" not in params

    async def test_long_query_with_sites_stays_within_the_limit(self, server: ProviderServer) -> None:
        await self.run(server, Query("长" * 2000, include_domains=("gov.cn",)))
        assert len(server.seen[0].params["q"]) <= SearxngEngine.max_query_chars

    async def test_pages_until_the_count_is_reached(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 25)
        assert len({item.url for item in results}) == len(results) == 25
        assert [seen.params["pageno"] for seen in server.seen] == ["1", "2", "3"]

    async def test_stops_when_a_page_adds_nothing(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = server.provider.answer
        # Engines without paging give their first page for every number.
        monkeypatch.setattr(
            server.provider,
            "answer",
            lambda seen: answer(Seen(seen.method, seen.path, {**seen.params, "pageno": "1"}, seen.headers)),
        )
        assert len(await self.run(server, Query("x"), 30)) == 10
        assert len(server.seen) == 2

    @pytest.mark.parametrize("broken", [Answer("", 500), Answer({"results": 7}), Answer("<html>")])
    async def test_failing_later_page_keeps_the_first(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, broken: Answer
    ) -> None:
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider, "answer", lambda seen: broken if seen.params["pageno"] == "2" else answer(seen)
        )
        results = await self.run(server, Query("x"), 30)
        assert len(results) == 10
        assert notes_of(results)[0].startswith("page 2 failed: ")

    async def test_all_pages_share_one_timeout(self, server: ProviderServer) -> None:
        server.fault = Fault.SLOW
        server.hold = 0.6
        results = await self.run(server, Query("x"), 30, timeout=1.0)
        assert len(results) == 10
        assert notes_of(results) == ("page 2 failed: no time left.",)

    async def test_some_silent_engines_are_a_note(self, server: ProviderServer) -> None:
        provider_of(server).unresponsive = (("google", "Suspended: CAPTCHA"), ("bing", "timeout"))
        results = await self.run(server, Query("x"))
        assert notes_of(results) == ("did not answer: google (Suspended: CAPTCHA), bing (timeout)",)

    @pytest.mark.parametrize(
        ("silent", "error"),
        [
            ((("google", "CAPTCHA"), ("bing", "Suspended: access denied"), ("x", "too many requests")), Blocked),
            ((("google", "timeout"), ("bing", "Suspended: timeout")), SearchTimeout),
            ((("google", "timeout"), ("bing", "CAPTCHA")), Unavailable),
            ((("google", "unexpected crash"),), Unavailable),
        ],
    )
    async def test_no_results_and_silent_engines_is_a_failure(
        self, server: ProviderServer, silent: tuple[tuple[str, str], ...], error: type[EngineError]
    ) -> None:
        provider_of(server).unresponsive = silent
        server.empty = True
        with pytest.raises(EngineError) as caught:
            await self.run(server, Query("x"))
        assert type(caught.value) is error
        assert caught.value.fix
        for engine, message in silent:
            assert f"{engine} ({message})" in str(caught.value)

    async def test_many_silent_engines_are_not_all_named(self, server: ProviderServer) -> None:
        provider_of(server).unresponsive = tuple((f"engine{number}", "timeout") for number in range(50))
        (note,) = notes_of(await self.run(server, Query("x")))
        assert note.endswith("engine7 (timeout) and 42 more")

    async def test_json_off_names_the_setting(self, server: ProviderServer) -> None:
        provider_of(server).json_on = False
        with pytest.raises(ApiDisabled) as caught:
            await self.run(server, Query("x"))
        assert "Add json to search.formats in its settings.yml" in caught.value.fix
        assert "restart" in caught.value.fix

    async def test_limiter_is_named(self, server: ProviderServer) -> None:
        server.fault = Fault.RATE_LIMITED
        with pytest.raises(RateLimited) as caught:
            await self.run(server, Query("x"))
        assert "server.limiter: false" in caught.value.fix
        assert caught.value.retry_after == 7

    async def test_not_there_tells_the_address_and_how_to_start_it(self, server: ProviderServer) -> None:
        server.close()
        with pytest.raises(Unavailable) as caught:
            await self.run(server, Query("x"))
        assert f"127.0.0.1:{server.port}" in caught.value.message
        assert "qiusuo searxng up" in caught.value.fix
        assert "set SEARXNG_URL" in caught.value.fix

    async def test_server_error_does_not_tell_to_start_it(self, server: ProviderServer) -> None:
        server.fault = Fault.SERVER_ERROR
        with pytest.raises(Unavailable) as caught:
            await self.run(server, Query("x"))
        assert "docker" not in caught.value.fix

    @pytest.mark.parametrize("text", ["!!g cats", "cats !!g", "!!!g cats", "!!", "what !!? now", "cats !! dogs"])
    async def test_external_bangs_do_not_lead_away(self, server: ProviderServer, text: str) -> None:
        assert len(await self.run(server, Query(text))) == 10

    async def test_address_of_the_search_page_is_understood(self, server: ProviderServer) -> None:
        engine = SearxngEngine(base_url=f"{server.url}/search/")
        assert await engine.search(Query("x"), 1)
        await engine.aclose()

    @pytest.mark.parametrize(
        "extra",
        [
            {"basic_auth": f"me:{PASSWORD}"},
            {"headers": {"Authorization": f"Bearer {PASSWORD}"}},
            {"headers": {"X-Token": PASSWORD}},
            {},  # the login stands in the address
        ],
    )
    async def test_login_for_a_proxy_is_sent_and_never_shown(
        self, server: ProviderServer, extra: dict[str, object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        address = server.base_url if extra else server.base_url.replace("//", f"//me:{PASSWORD}@")
        options = EngineOptions(base_url=address, extra=extra)
        engine = SearxngEngine.from_options(options, HttpClient())
        token = b64encode(f"me:{PASSWORD}".encode()).decode()
        await engine.search(Query("x"), 1)
        headers = server.seen[0].headers
        assert headers.get("x-token") == PASSWORD or headers["authorization"] in {
            f"Bearer {PASSWORD}",
            f"Basic {token}",
        }
        # A proxy that repeats what it was sent.
        monkeypatch.setattr(
            server.provider, "refuse", lambda _: Answer({"error": f"{PASSWORD} {token} Bearer {PASSWORD}"}, 403)
        )
        server.fault = Fault.FORBIDDEN
        with pytest.raises(AuthFailed) as caught:
            await engine.search(Query("x"), 1)
        await close_engine(engine)
        assert PASSWORD not in f"{caught.value} {caught.value!r} {engine.endpoint.base_url}"
        if "headers" not in extra:
            assert token not in str(caught.value)
        assert "basic_auth" in caught.value.fix

    @pytest.mark.parametrize(
        "extra",
        [{"headers": "X: y"}, {"headers": {"X": 1}}, {"headers": {"X": "a\r\nY: b"}}, {"basic_auth": "nothing"}],
    )
    def test_unusable_login_is_refused_without_showing_it(self, extra: dict[str, object]) -> None:
        with pytest.raises(ConfigurationError) as caught:
            SearxngEngine.from_options(EngineOptions(extra=extra), HttpClient())
        assert "[engines.searxng]" in caught.value.fix
        assert "nothing" not in str(caught.value)

    async def test_detect_sees_searxng(self, server: ProviderServer) -> None:
        engine = self.make_engine(server)
        assert await engine.detect()
        await close_engine(engine)

    @pytest.mark.parametrize("fault", [*Fault])
    async def test_detect_never_raises_and_is_quick(self, server: ProviderServer, fault: Fault) -> None:
        server.fault = fault
        server.hold = 0.05
        engine = self.make_engine(server)
        started = time.monotonic()
        # A slow one is still there; whatever else comes is not a SearXNG's configuration.
        assert await engine.detect() is (fault is Fault.SLOW)
        assert time.monotonic() - started < 5
        await close_engine(engine)

    async def test_detect_is_not_fooled_by_another_server(self) -> None:
        class Other(Provider):
            def authorized(self, seen: Seen) -> bool:
                return bool(seen.path)

            def answer(self, seen: Seen) -> Answer:
                return Answer({"engines": ["steam"], "path": seen.path})

        with ProviderServer(Other()) as server:
            engine = SearxngEngine(base_url=server.url)
            assert not await engine.detect()
            await engine.aclose()

    async def test_detect_with_nothing_there(self, server: ProviderServer) -> None:
        server.close()
        engine = self.make_engine(server)
        assert not await engine.detect()
        await close_engine(engine)


def test_facts() -> None:
    assert SearxngEngine.joins is Joins.DETECTED
    assert not SearxngEngine.costs_money
    assert SearxngEngine.url_env == ("SEARXNG_URL",)
    assert SearxngEngine().endpoint.base_url == "http://localhost:8080"


@pytest.mark.parametrize(
    ("language", "region", "sent"),
    [
        (None, None, "all"),
        (None, "CN", "all"),
        ("all", "CN", "all"),
        ("auto", None, "all"),
        ("zh", None, "zh"),
        ("zh-CN", "US", "zh-CN"),
        ("zh_cn", None, "zh-CN"),
        ("zh-Hans-CN", None, "zh-CN"),
        ("zh-Hans", None, "zh-CN"),
        ("zh-Hant", None, "zh-TW"),
        ("zh-Hant", "hk", "zh-HK"),
        ("en", "gb", "en-GB"),
        ("es-419", None, "es"),
        ("sr-Latn", None, "sr"),
        ("x", None, "all"),
        ("中文", None, "all"),
        ("english", None, "all"),
    ],
)
def test_language_is_one_that_searxng_takes(language: str | None, region: str | None, sent: str) -> None:
    assert searxng_language(Query("x", language=language, region=region)) == sent


def test_what_cannot_be_honoured_is_noted() -> None:
    engine = SearxngEngine()
    assert engine.notes(Query("x", language="zh-CN", region="CN"), 10) == ()
    assert engine.notes(Query("x", region="CN"), 10) == ("ignored: region (needs a language)",)
    assert engine.notes(Query("x", language="english"), 10) == ("language not known to SearXNG",)
    assert engine.notes(Query("!images x"), 99) == (
        "at most 50 results",
        "SearXNG commands in the query taken as plain words",
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("cats and dogs", "cats and dogs"),
        ("!!g cats", "g cats"),
        ("cats !!g", "cats g"),
        ("!images cats", "images cats"),
        ("css !important", "css important"),
        (":fr paris", "fr paris"),
        ("!:fr paris", "fr paris"),
        (":root selector", "root selector"),
        ("I <3 you", "I < 3 you"),
        ("!<3", "< 3"),
        ("<850 :zh !news 新闻", "< 850 zh news 新闻"),
        ("a != b", "a != b"),
        ("a < b : c ! :)", "a < b : c ! :)"),
        ("<div> std::vector foo:bar wow!", "<div> std::vector foo:bar wow!"),
        ("!!", '"!!"'),
        ("!!? why", '"!!?" why'),
        ("tab\t!g\nline", "tab\tg\nline"),
    ],
)
def test_commands_become_words(text: str, plain: str) -> None:
    assert plain_words(text) == plain


@given(st.text(alphabet=st.sampled_from("!:<3²aé中 \t\u2003\x1c?@./'\"=)"), max_size=30))
def test_no_command_survives_and_no_word_is_lost(text: str) -> None:
    plain = plain_words(text)
    for token in re.split(r"\s+", plain):
        assert not token.startswith("!!")
        assert not (token[:1] in {"!", ":"} and any(char.isalnum() for char in token))
        assert not (token[:1] == "<" and token[1:].isdigit())
    assert [char for char in plain if char.isalnum()] == [char for char in text if char.isalnum()]
    assert plain_words(plain) == plain
