"""Which engines take part in a search: order, keys, detection, last resort, and how each one stands."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import time_machine

from qiusuo import SearchService
from qiusuo.engines import discover_engines
from qiusuo.engines.base import Joins
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.engines.serpapi import SerpApi as SerpApiEngines
from qiusuo.errors import AllEnginesFailed, ConfigurationError, SearchDisabled
from qiusuo.http import HttpClient
from qiusuo.models import Outcome
from qiusuo.roster import DETECTION_LASTS, Place, Roster
from qiusuo.testing import Fault, Provider, ProviderServer
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.ddgs import DuckDuckGo
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.serpapi import SerpApi
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Language

Env = Callable[..., None]
SPEC_ORDER = (
    "perplexity", "exa", "tavily", "brave", "serpapi", "bing", "bocha", "zhipu", "searxng", "ddgs", "google",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_at_the_usual_address(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine that runs the tests may have a SearXNG of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(SearxngEngine, "base_url", f"http://127.0.0.1:{free.getsockname()[1]}")
        yield


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> Env:
    def set_all(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return set_all


@pytest.fixture
def serve(env: Env) -> Iterator[Callable[[str, Provider], ProviderServer]]:
    """Start a loopback provider and point its engine there."""
    with ExitStack() as stack:

        def start(name: str, provider: Provider) -> ProviderServer:
            server = stack.enter_context(ProviderServer(provider))
            env(**{f"QIUSUO_ENGINES__{name.upper()}__BASE_URL": server.base_url})
            return server

        yield start


Serve = Callable[[str, Provider], ProviderServer]


async def available() -> tuple[str, ...]:
    async with SearchService.from_settings() as service:
        return await service.available()


class TestOrder:
    def test_the_default_order_is_that_of_the_specification(self) -> None:
        found = list(discover_engines())
        assert [name for name in found if name in SPEC_ORDER] == [name for name in SPEC_ORDER if name in found]
        assert set(SPEC_ORDER) - set(found) <= {"google"}

    async def test_only_configured_engines_take_part(self, env: Env) -> None:
        env(BRAVE_API_KEY="b", TAVILY_API_KEY="t")
        assert await available() == ("tavily", "brave")

    async def test_with_every_key_set_all_take_part_but_those_that_want_to_be_named(self, env: Env) -> None:
        kinds = discover_engines()
        env(**{kind.key_env[0]: "key" for kind in kinds.values() if kind.key_env}, SEARXNG_URL="http://127.0.0.1:9")
        assert await available() == tuple(
            name
            for name, kind in kinds.items()
            if kind.joins in {Joins.CONFIGURED, Joins.DETECTED} and kind.search_types is None
        )

    async def test_the_priority_list_sets_the_order_and_excludes_all_others(self, env: Env, serve: Serve) -> None:
        brave, tavily = serve("brave", Brave()), serve("tavily", Tavily())
        env(
            BRAVE_API_KEY=brave.key,
            TAVILY_API_KEY=tavily.key,
            EXA_API_KEY="e",
            SEARCH_PROVIDER_PRIORITY="Brave，tavily",
        )
        async with SearchService.from_settings() as service:
            assert await service.available() == ("brave", "tavily")
            brave.fault = Fault.SERVER_ERROR
            response = await service.asearch("x")
            assert [attempt.engine for attempt in response.attempts] == ["brave", "tavily"]
            assert [status.name for status in await service.status()][:2] == ["brave", "tavily"]

    async def test_unknown_names_are_logged_and_left_out(self, env: Env, caplog: pytest.LogCaptureFixture) -> None:
        env(TAVILY_API_KEY="t", SEARCH_PROVIDER_PRIORITY="altavista,tavily")
        assert await available() == ("tavily",)
        assert "'altavista'" in caplog.text
        assert "known: tavily, " in caplog.text

    async def test_a_list_of_unknown_names_alone_gives_the_default_order(
        self, env: Env, caplog: pytest.LogCaptureFixture
    ) -> None:
        env(TAVILY_API_KEY="t", EXA_API_KEY="e", SEARCH_PROVIDER_PRIORITY="altavista,lycos")
        assert await available() == ("exa", "tavily")
        assert "the default order is used" in caplog.text

    async def test_native_is_the_chats_own_and_no_unknown_name(
        self, env: Env, caplog: pytest.LogCaptureFixture
    ) -> None:
        env(TAVILY_API_KEY="t", SEARCH_PROVIDER_PRIORITY="native,tavily")
        assert await available() == ("tavily",)
        env(SEARCH_PROVIDER_PRIORITY="native")
        async with SearchService.from_settings() as service:
            with pytest.raises(SearchDisabled) as caught:
                await service.asearch("x")
        assert "SEARCH_PROVIDER_PRIORITY" in caught.value.fix
        assert "tavily" in caught.value.fix
        assert not [record for record in caplog.records if record.name == "qiusuo.roster"]

    async def test_named_engines_without_a_key_stand_in_the_receipt_with_the_fix(self, env: Env, serve: Serve) -> None:
        tavily = serve("tavily", Tavily())
        env(TAVILY_API_KEY=tavily.key, SEARCH_PROVIDER_PRIORITY="exa,tavily,brave")
        async with SearchService.from_settings() as service:
            response = await service.asearch("x")
        assert response.provider == "tavily"
        receipt = {attempt.engine: attempt for attempt in response.attempts}
        for name, variable in (("exa", "EXA_API_KEY"), ("brave", "BRAVE_API_KEY")):
            assert receipt[name].outcome is Outcome.DISABLED
            assert receipt[name].skipped
            assert variable in receipt[name].fix
        assert receipt["tavily"].outcome is Outcome.OK


class TestKeyless:
    async def test_ddgs_is_asked_when_nothing_else_is_there(self, serve: Serve) -> None:
        ddgs = serve("ddgs", DuckDuckGo())
        async with SearchService.from_settings() as service:
            assert (await service.asearch("last resort")).provider == "ddgs"
        assert len(ddgs.seen) == 1

    async def test_ddgs_does_not_join_beside_a_key_but_when_named(self, env: Env) -> None:
        env(TAVILY_API_KEY="t")
        assert await available() == ("tavily",)
        env(SEARCH_PROVIDER_PRIORITY="tavily,ddgs")
        assert await available() == ("tavily", "ddgs")

    async def test_a_searxng_at_the_usual_address_is_found_and_ddgs_stays_out(
        self, serve: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ddgs = serve("ddgs", DuckDuckGo())
        with ProviderServer(Searxng()) as here:
            monkeypatch.setattr(SearxngEngine, "base_url", here.url)
            async with SearchService.from_settings() as service:
                assert await service.available() == ("searxng",)
                assert (await service.asearch("x")).provider == "searxng"
                here.fault = Fault.SERVER_ERROR
                with pytest.raises(AllEnginesFailed):
                    await service.asearch("y")
        assert ddgs.seen == []

    async def test_something_else_at_the_usual_address_is_no_searxng(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for fault in (None, Fault.HTML, Fault.WRONG_SHAPE):
            with ProviderServer(Tavily(), fault=fault) as here:
                monkeypatch.setattr(SearxngEngine, "base_url", here.url)
                assert "searxng" not in await available()

    async def test_a_look_is_remembered_for_a_while(self) -> None:
        now = 0.0
        http = HttpClient()
        with ProviderServer(Searxng()) as here:
            place = Place(SearxngEngine, SearxngEngine(base_url=here.url, http=http))
            roster = Roster({"searxng": place}, ["searxng"], named=False, clock=lambda: now)
            for _ in range(5):
                assert len((await roster.available()).engines) == 1
            assert len(here.seen) == 1
            here.fault = Fault.SERVER_ERROR
            now += DETECTION_LASTS + 1
            assert (await roster.available()).engines == ()
            assert roster.absent("searxng")
        await http.aclose()

    @pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.FORBIDDEN, Fault.RESET])
    async def test_a_searxng_of_ones_own_never_leaks_a_query(self, fault: Fault, env: Env, serve: Serve) -> None:
        ddgs = serve("ddgs", DuckDuckGo())
        with ProviderServer(Searxng(), fault=fault) as mine:
            env(SEARXNG_URL=mine.url)
            async with SearchService.from_settings() as service:
                with pytest.raises(AllEnginesFailed) as caught:
                    await service.asearch("private")
        assert [attempt.engine for attempt in caught.value.attempts] == ["searxng"]
        assert ddgs.seen == []

    async def test_nor_when_it_is_not_there_or_its_address_is_wrong(self, env: Env, serve: Serve) -> None:
        ddgs = serve("ddgs", DuckDuckGo())
        for url in ("http://127.0.0.1:9", "127.0.0.1:8888", "http://localhost:99999"):
            env(SEARXNG_URL=url)
            assert await available() == ("searxng",)
        assert ddgs.seen == []

    @pytest.mark.parametrize(("option", "value"), [("BASIC_AUTH", "no colon"), ("BASE_URL", "ftp://host")])
    async def test_nor_when_its_settings_are_wrong(self, option: str, value: str, env: Env, serve: Serve) -> None:
        ddgs = serve("ddgs", DuckDuckGo())
        if option != "BASE_URL":
            env(SEARXNG_URL="http://127.0.0.1:9")
        env(**{f"QIUSUO_ENGINES__SEARXNG__{option}": value})
        async with SearchService.from_settings() as service:
            with pytest.raises(SearchDisabled, match="searxng") as caught:
                await service.asearch("private")
        assert caught.value.fact.code == "search.spoilt"
        for language in Language:
            assert caught.value.wording(language).fix
        assert ddgs.seen == []


class TestDisabled:
    async def test_the_fix_names_the_variables_of_the_engines_that_were_named(self, env: Env) -> None:
        env(SEARCH_PROVIDER_PRIORITY="tavily,brave")
        async with SearchService.from_settings() as service:
            assert await service.available() == ()
            with pytest.raises(SearchDisabled) as caught:
                await service.asearch("x")
        for language in Language:
            words = caught.value.wording(language)
            assert "SEARCH_PROVIDER_PRIORITY" in words.what
            for label, key in (("Tavily", "TAVILY_API_KEY"), ("Brave Search", "BRAVE_API_KEY")):
                assert label in words.why
                assert key in words.fix
        assert "TAVILY_API_KEY" in caught.value.to_dict(Language.CHINESE)["fix"]

    async def test_named_engines_that_do_not_search_the_web_lead_to_others(self, env: Env) -> None:
        env(SEARCH_PROVIDER_PRIORITY="native")
        async with SearchService.from_settings() as service:
            with pytest.raises(SearchDisabled) as caught:
                await service.asearch("x")
        assert caught.value.fact.code == "search.none_named"
        for language in Language:
            assert "tavily" in caught.value.wording(language).fix

    async def test_with_nothing_at_all_the_fix_names_every_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        kinds = {name: kind for name, kind in discover_engines().items() if kind.joins is not Joins.LAST_RESORT}
        monkeypatch.setattr("qiusuo.roster.discover_engines", lambda: kinds)
        async with SearchService.from_settings() as service:
            with pytest.raises(SearchDisabled) as caught:
                await service.asearch("x")
        for name in ("SEARXNG_URL", *(kind.key_env[0] for kind in kinds.values() if kind.key_env)):
            assert name in caught.value.fix

    def test_two_engines_of_one_name_are_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="Two engines are named searxng"):
            SearchService([SearxngEngine(base_url="http://127.0.0.1:8"), SearxngEngine(base_url="http://127.0.0.1:9")])


class TestKeys:
    async def test_the_environment_comes_before_the_file(self, env: Env, serve: Serve, tmp_path: Path) -> None:
        tavily = serve("tavily", Tavily())
        config = tmp_path / "config.toml"
        config.write_text('[engines.tavily]\napi_key = "from-the-file"')
        env(QIUSUO_CONFIG=str(config))
        for key in ("from-the-environment", "   ", None):
            if key is not None:
                env(TAVILY_API_KEY=key)
            async with SearchService.from_settings() as service:
                with pytest.raises(AllEnginesFailed):
                    await service.asearch("x", engine="tavily")
        assert [seen.headers["authorization"] for seen in tavily.seen] == [
            "Bearer from-the-environment",
            "Bearer from-the-file",
            "Bearer from-the-file",
        ]

    async def test_of_several_variables_the_first_one_set_wins(self, env: Env, serve: Serve) -> None:
        brave = serve("brave", Brave())
        env(BRAVE_SEARCH_API_KEY=brave.key)
        async with SearchService.from_settings() as service:
            assert (await service.asearch("x", engine="brave")).results
        env(BRAVE_API_KEY="another")
        async with SearchService.from_settings() as service:
            with pytest.raises(AllEnginesFailed, match="key refused"):
                await service.asearch("x", engine="brave")


class TestStatus:
    async def test_ready_resting_idle_and_missing(self, env: Env, serve: Serve) -> None:
        tavily, brave = serve("tavily", Tavily()), serve("brave", Brave())
        env(TAVILY_API_KEY=tavily.key, BRAVE_API_KEY=brave.key)
        tavily.fault = Fault.AUTH
        with time_machine.travel("2026-11-15T12:00:00Z", tick=False):
            async with SearchService.from_settings() as service:
                await service.asearch("x")
                status = {one.name: one for one in await service.status()}
        assert status["tavily"].state == "resting"
        assert status["tavily"].retry_after == pytest.approx(300)
        assert status["tavily"].reason
        assert status["brave"].state == "ready"
        assert (status["ddgs"].state, status["ddgs"].costs_money) == ("idle", False)
        assert status["exa"].state == "missing"
        assert "EXA_API_KEY" in status["exa"].fix
        assert status["searxng"].state == "missing"
        assert "SEARXNG_URL" in status["searxng"].fix
        assert all(one.label and one.docs_url for one in status.values())

    async def test_an_engine_that_was_not_named_is_idle_not_missing(self, env: Env) -> None:
        env(TAVILY_API_KEY="t", EXA_API_KEY="e", SEARXNG_URL="http://127.0.0.1:9", SEARCH_PROVIDER_PRIORITY="tavily")
        async with SearchService.from_settings() as service:
            status = {one.name: one.state for one in await service.status()}
        assert (status["tavily"], status["exa"], status["searxng"]) == ("ready", "idle", "idle")

    @pytest.mark.parametrize("name", ["BING_API_KEY", "BING_SEARCH_V7_SUBSCRIPTION_KEY", "BING_SUBSCRIPTION_KEY"])
    async def test_a_retired_bing_key_is_told_so(self, name: str, env: Env, serve: Serve) -> None:
        tavily = serve("tavily", Tavily())
        env(**{name: "old-s3cret"}, TAVILY_API_KEY=tavily.key, SEARCH_PROVIDER_PRIORITY="bing,tavily")
        async with SearchService.from_settings() as service:
            (bing,) = [one for one in await service.status() if one.name == "bing"]
            response = await service.asearch("x")
        assert bing.state == "missing"
        assert "retired" in bing.reason
        assert name in bing.reason
        assert "WEBIQ_API_KEY" in bing.fix
        assert response.attempts[0].reason == bing.reason
        assert "s3cret" not in repr((bing, response))

    async def test_bing_through_serpapi_joins_only_when_named(self, env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
        with ProviderServer(SerpApi()) as serpapi:
            monkeypatch.setattr(SerpApiEngines, "base_url", serpapi.base_url)
            env(SERPAPI_API_KEY=serpapi.key)
            assert await available() == ("serpapi",)
            async with SearchService.from_settings() as service:
                assert {one.name: one.state for one in await service.status()}["bing"] == "idle"
                assert (await service.asearch("x", engine="bing")).provider == "bing"
            env(SEARCH_PROVIDER_PRIORITY="bing,serpapi")
            assert await available() == ("bing", "serpapi")
            assert serpapi.seen[0].params["engine"] == "bing"
