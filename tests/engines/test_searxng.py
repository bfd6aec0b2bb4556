"""The SearXNG engine: its place in the common table, its requests, and the many ways in which SearXNG fails with a 200.

The same engine against a real SearXNG is in ``tests/engines/test_real_searxng.py``.
"""

from __future__ import annotations

import time
from base64 import b64encode

import pytest

from qiusuo.config import Settings
from qiusuo.engines.base import EngineOptions, EngineResults
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import (
    AllEnginesFailed,
    ApiDisabled,
    AuthFailed,
    BadResponse,
    Blocked,
    ConfigurationError,
    EngineError,
    RateLimited,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http import HttpClient
from qiusuo.kit.commands import KitCommands
from qiusuo.models import Freshness, Outcome, Query, SearchResultItem, SearchType
from qiusuo.service import SearchService
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.testing.conformance import EngineConformance, close_engine
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.words import Fact, Language

PASSWORD = "s3cret-pass"


def provider_of(server: ProviderServer) -> Searxng:
    assert isinstance(server.provider, Searxng)
    return server.provider


def notes_of(results: list[SearchResultItem]) -> tuple[Fact, ...]:
    assert isinstance(results, EngineResults)
    return results.notes


def _without_server(value: object) -> object:
    # The loopback server names itself.
    return tuple(part for part in value if "Python" not in part) if isinstance(value, tuple) else value


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

    @pytest.mark.parametrize(
        ("broken", "code"),
        [
            (Answer("", 500), "searxng.broken"),
            (Answer({"results": 7}), "searxng.other_service"),
            (Answer("<html>"), "searxng.other_service"),
        ],
    )
    async def test_failing_later_page_keeps_the_first(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, broken: Answer, code: str
    ) -> None:
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider, "answer", lambda seen: broken if seen.params["pageno"] == "2" else answer(seen)
        )
        results = await self.run(server, Query("x"), 30)
        assert len(results) == 10
        (note,) = notes_of(results)
        assert (note.code, note.values["page"]) == ("engine.page_missing", 2)
        assert note.values["reason"].code == code

    async def test_all_pages_share_one_timeout(self, server: ProviderServer) -> None:
        server.fault = Fault.SLOW
        server.hold = 1.6
        results = await self.run(server, Query("x"), 30, timeout=2.8)
        assert len(results) == 10
        assert notes_of(results) == (Fact("engine.page_missing", page=2, reason=Fact("engine.no_time")),)

    async def test_some_silent_engines_are_a_note(self, server: ProviderServer) -> None:
        provider_of(server).unresponsive = (("google", "Suspended: CAPTCHA"), ("bing", "timeout"))
        results = await self.run(server, Query("x"))
        (note,) = notes_of(results)
        assert note.text() == "Did not answer: google (Suspended: CAPTCHA), bing (timeout)"
        assert note.text(Language.CHINESE) == "没有应答：google (Suspended: CAPTCHA)、bing (timeout)"

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
        assert note.text().endswith("engine7 (timeout) and 42 more")
        assert note.text(Language.CHINESE).endswith("engine7 (timeout) 等，另有 42 个")

    async def test_json_off_names_the_setting(self, server: ProviderServer) -> None:
        provider_of(server).json_on = False
        with pytest.raises(ApiDisabled) as caught:
            await self.run(server, Query("x"))
        assert caught.value.fact == Fact("searxng.json_off", address=server.url)
        assert caught.value.commands == KitCommands().for_fault(caught.value.fact)
        assert "doctor --fix" in caught.value.commands[0]
        for language in Language:
            words = caught.value.wording(language)
            assert "JSON" in words.what
            assert "settings.yml" in words.why
            assert "search.formats" in words.fix

    async def test_limiter_is_named(self, server: ProviderServer) -> None:
        server.fault = Fault.RATE_LIMITED
        with pytest.raises(RateLimited) as caught:
            await self.run(server, Query("x"))
        assert caught.value.fact == Fact("searxng.limiter", address=server.url)
        assert "server.limiter: false" in caught.value.fix
        assert caught.value.retry_after == 7

    async def test_not_there_tells_the_address_and_how_to_start_it(self, server: ProviderServer) -> None:
        server.close()
        with pytest.raises(Unavailable) as caught:
            await self.run(server, Query("x"))
        assert caught.value.fact == Fact("searxng.refused", address=server.url)
        assert any("qiusuo searxng up" in command for command in caught.value.commands)
        for language in Language:
            assert server.url in caught.value.wording(language).what

    @pytest.mark.parametrize(
        ("answer", "error", "fact"),
        [
            (
                Answer("<title>Grafana</title>"),
                BadResponse,
                Fact("searxng.other_service", seen=["“Grafana”", "HTTP 200"]),
            ),
            (Answer({"engines": 1}), BadResponse, Fact("searxng.other_service", seen=["HTTP 200"])),
            (Answer("", 404), BadResponse, Fact("searxng.other_service", seen=["HTTP 404"])),
            (
                Answer("", 301, {"Location": "https://me:pw@search.example.org/search?q=x"}),
                BadResponse,
                Fact("searxng.redirect", target="https://search.example.org"),
            ),
            (Answer({"error": "login"}, 401), AuthFailed, Fact("searxng.login", status=401)),
            (Answer("<html>", 502), Unavailable, Fact("searxng.broken", message=["HTTP 502"])),
        ],
    )
    async def test_what_else_answers_is_told_as_the_doctor_does(
        self,
        server: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        answer: Answer,
        error: type[EngineError],
        fact: Fact,
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: answer)
        with pytest.raises(error) as caught:
            await self.run(server, Query("x"))
        told = caught.value.fact
        values = {name: _without_server(value) for name, value in told.values.items()}
        assert (told.code, values) == (fact.code, {**fact.values, "address": server.url})
        assert caught.value.commands == KitCommands().for_fault(told)

    async def test_an_unknown_host_is_told(self) -> None:
        engine = SearxngEngine(base_url="http://searxng.invalid:8888")
        with pytest.raises(Unavailable) as caught:
            await engine.search(Query("x"), 1)
        await engine.aclose()
        assert caught.value.fact.code == "searxng.dns"
        assert caught.value.commands == ("export SEARXNG_URL=http://localhost:8888",)

    async def test_silence_of_searxng(self, server: ProviderServer) -> None:
        server.fault = Fault.HANG
        with pytest.raises(SearchTimeout) as caught:
            await self.run(server, Query("x"), timeout=0.3)
        assert caught.value.fact == Fact("searxng.timeout", address=server.url, seconds=0.3)
        async with SearchService([self.make_engine(server)], Settings.load(timeout=0.3)) as service:
            with pytest.raises(AllEnginesFailed) as failed:
                await service.asearch("x")
        (attempt,) = failed.value.attempts
        assert attempt.fact == caught.value.fact
        assert attempt.commands == failed.value.commands == KitCommands().for_fault(caught.value.fact)

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
