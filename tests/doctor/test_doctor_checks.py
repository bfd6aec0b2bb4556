"""The checks on loopback providers: each cause that a real SearXNG cannot show, keys, Redis, clock, and the command."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import Finding, Level, examine, startup_notices
from qiusuo.doctor import run as doctor_run
from qiusuo.doctor.context import Examination
from qiusuo.doctor.searxng.check import _old
from qiusuo.doctor.system import clock_findings
from qiusuo.doctor.wire import Reach, ask, reach
from qiusuo.errors import EngineNotConfigured
from qiusuo.http import Endpoint, HttpClient
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.exa import Exa
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.serpapi import SerpApi
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Language
from tests.support.doctor_support import Canned, causes, diagnose, is_green
from tests.support.searxng_process import free_port

pytest_plugins = ["tests.support.legal_fixtures"]
DOCS = Path(__file__).parents[2] / "docs"


pytestmark = pytest.mark.usefixtures("own_data_folder")


class TestAddress:
    @pytest.mark.parametrize(
        ("given", "better"),
        [
            ("localhost:8080", "http://localhost:8080"),
            ("searx.example.org/s", "http://searx.example.org/s"),
            ("ftp://localhost", "http://localhost:8080"),
            ("http://", "http://localhost:8080"),
        ],
    )
    async def test_a_wrong_format_is_named_with_a_right_one(
        self, monkeypatch: pytest.MonkeyPatch, given: str, better: str
    ) -> None:
        found = await diagnose(monkeypatch, given, quick=True)
        assert causes(found)[0] == "searxng.address"
        assert found[0].commands == (f"export SEARXNG_URL={better}",)

    async def test_a_password_in_it_is_not_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for url in ("user:hushhush@host:80:80", f"http://user:hushhush@127.0.0.1:{free_port()}"):
            found = await diagnose(monkeypatch, url)
            assert causes(found)
            assert "hushhush" not in json.dumps([finding.to_dict() for finding in found]) + repr(found)

    async def test_an_unknown_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = await diagnose(monkeypatch, "http://searxng:8080")
        assert causes(found) == ["searxng.dns"]
        assert found[0].commands == ("export SEARXNG_URL=http://localhost:8080",)

    async def test_nobody_asked_for_one(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        # Both ports are this test's own: a SearXNG of the machine's user must not take part.
        other = int(server.url.rpartition(":")[2])
        monkeypatch.setattr("qiusuo.engines.searxng.SearxngEngine.base_url", f"http://127.0.0.1:{free_port()}")
        monkeypatch.setattr("qiusuo.doctor.searxng.absent.USUAL_PORTS", (free_port(),))
        found = [one for one in await examine(Settings.load(), quick=True) if one.code.startswith("searxng.")]
        assert [(one.code, one.level.label) for one in found] == [("searxng.none", "note")]
        assert found[0].commands[0].startswith("qiusuo searxng init --port ")
        monkeypatch.setattr("qiusuo.doctor.searxng.absent.USUAL_PORTS", (other,))
        found = [one for one in await examine(Settings.load(), quick=True) if one.code.startswith("searxng.")]
        assert [(one.code, one.level.label) for one in found] == [("searxng.wrong_port", "note")]

    async def test_a_proxy_is_in_the_way(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        # 0.0.0.0 is this machine, but not by a name for which proxies are never used.
        url = server.url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 - nothing is bound
        with ProviderServer(Canned(Answer("<title>Blocked by policy</title>", 403))) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url.replace("//", "//me:hushhush@"))
            found = await diagnose(monkeypatch, url)
        assert causes(found) == ["searxng.proxy"]
        assert found[0].commands == ('export NO_PROXY="$NO_PROXY,0.0.0.0"',)
        assert "hushhush" not in repr(found)
        monkeypatch.setenv("NO_PROXY", "0.0.0.0")  # noqa: S104 - nothing is bound
        assert is_green(await diagnose(monkeypatch, url))


class TestService:
    @pytest.mark.parametrize(
        ("answer", "cause"),
        [
            (Answer("<title>Login</title>", 401), "searxng.login"),
            (Answer("no", 403), "searxng.login"),
            (Answer("", 301, {"Location": "https://search.example.org/config"}), "searxng.redirect"),
            (Answer("<title>Welcome to nginx!</title>"), "searxng.other_service"),
            (Answer({"hello": 1}), "searxng.other_service"),
            (Answer("<title>502 Bad Gateway</title>", 502), "searxng.broken"),
            (Answer("Too Many Requests", 429), "searxng.limiter"),
        ],
    )
    @pytest.mark.parametrize("quick", [True, False])
    async def test_what_answers_is_told_apart(
        self, monkeypatch: pytest.MonkeyPatch, answer: Answer, cause: str, quick: bool
    ) -> None:
        with ProviderServer(Canned(answer)) as other:
            assert causes(await diagnose(monkeypatch, other.url, quick=quick)) == [cause]

    async def test_a_searxng_whose_config_is_hidden(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Hidden(Searxng):
            def answer(self, seen: Seen) -> Answer:
                return Answer("<title>404</title>", 404) if seen.path == "/config" else super().answer(seen)

        with ProviderServer(Hidden()) as server:
            assert is_green(await diagnose(monkeypatch, server.url))

    async def test_another_program_with_a_health_check(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Program(Canned):
            def answer(self, seen: Seen) -> Answer:
                return Answer("OK") if seen.path == "/healthz" else super().answer(seen)

        with ProviderServer(Program(Answer({"error": "bad request"}, 400))) as server:
            assert causes(await diagnose(monkeypatch, server.url)) == ["searxng.other_service"]

    async def test_https_on_a_port_without_it(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        found = await diagnose(monkeypatch, server.url.replace("http:", "https:"))
        assert causes(found) == ["searxng.tls"]

    async def test_one_that_hangs(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        server.fault = Fault.HANG
        assert causes(await diagnose(monkeypatch, server.url)) == ["searxng.timeout"]

    async def test_engines_that_ask_for_a_captcha(
        self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer
    ) -> None:
        provider = server.provider
        assert isinstance(provider, Searxng)
        provider.results = 0
        provider.unresponsive = (("google", "Suspended: CAPTCHA"), ("brave", "too many requests"))
        found = await diagnose(monkeypatch, server.url)
        assert causes(found) == ["searxng.engines_blocked"]
        assert "google (Suspended: CAPTCHA)" in found[0].wording(Language.CHINESE).what

    @pytest.mark.parametrize(
        ("messages", "cause"),
        [
            (("HTTP connection error", "Suspended: HTTP connection error"), "searxng.engines_offline"),
            (("timeout", "Suspended: timeout"), "searxng.engines_timeout"),
            (("timeout", "access denied"), "searxng.engines_failing"),
            (("parsing error", "unexpected crash"), "searxng.engines_failing"),
        ],
    )
    async def test_ways_in_which_all_engines_fail(
        self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer, messages: tuple[str, str], cause: str
    ) -> None:
        provider = server.provider
        assert isinstance(provider, Searxng)
        provider.results = 0
        provider.unresponsive = (("one", messages[0]), ("two", messages[1]))
        assert causes(await diagnose(monkeypatch, server.url)) == [cause]

    @pytest.mark.parametrize("silent", [(), (("baidu", "timeout"),)])
    async def test_one_that_knows_one_language(
        self, monkeypatch: pytest.MonkeyPatch, silent: tuple[tuple[str, str], ...]
    ) -> None:
        class English(Searxng):
            def answer(self, seen: Seen) -> Answer:
                self.results = 0 if seen.params.get("language") == "zh-CN" else 5
                return super().answer(seen)

        provider = English()
        provider.unresponsive = silent
        with ProviderServer(provider) as server:
            found = await diagnose(monkeypatch, server.url)
        [told] = [one.wording(Language.CHINESE).why for one in found if one.code == "searxng.one_language"]
        # Nothing is said of engines that failed where none did.
        assert told == "启用的引擎不覆盖该语言" + ("，或它们这次失败了：baidu (timeout)" if silent else "")

    async def test_a_service_of_somebody_elses_engines_has_no_searxng(self) -> None:
        from tests.support.world import World

        async with World("tavily") as world:
            found = await examine(world.service.settings, world.service)
        assert [one.code for one in found if one.level is Level.OK] == ["search.ok", "provider.usage", "database.ok"]
        assert not any(one.code.startswith("searxng.") for one in found)

    def test_old_versions(self) -> None:
        today = date(2026, 11, 15)
        assert _old("2026.8.14+abc", today) == []
        assert [finding.level for finding in _old("2024.1.2-f1e2d3", today)] == [Level.NOTE]
        assert _old("1.1.0", today) == _old("2024.13.45", today) == _old("", today) == []

    async def test_the_file_it_cannot_start_with(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        url, file = f"http://127.0.0.1:{free_port()}", tmp_path / "settings.yml"
        for text, cause in (
            ("search: [", "searxng.settings_file"),
            ("search: {formats: [html, json]}", "searxng.no_defaults"),
            ("use_default_settings: true", "searxng.secret"),
            ("use_default_settings: true\nserver: {secret_key: mine}", "searxng.refused"),
        ):
            file.write_text(text)
            assert causes(await diagnose(monkeypatch, url, settings_file=file)) == [cause]


class TestProviders:
    async def examine(self, monkeypatch: pytest.MonkeyPatch, **servers: ProviderServer) -> dict[str, Finding]:
        names = {"serpapi": "SERPAPI_API_KEY"}
        for name, server in servers.items():
            monkeypatch.setenv(names.get(name, f"{name.upper()}_API_KEY"), server.key)
            monkeypatch.setenv(f"QIUSUO_ENGINES__{name.upper()}__BASE_URL", server.base_url)
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", ",".join(servers))
        found = await examine(Settings.load())
        text = json.dumps([finding.to_dict() for finding in found]) + repr(found)
        assert "owner@example.com" not in text
        for server in servers.values():
            assert server.key not in text
        return {str(finding.values["label"]): finding for finding in found if finding.code.startswith("provider.")}

    async def test_good_keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with (
            ProviderServer(Tavily()) as tavily,
            ProviderServer(Brave()) as brave,
            ProviderServer(SerpApi()) as serpapi,
            ProviderServer(Exa()) as exa,
        ):
            found = await self.examine(monkeypatch, tavily=tavily, brave=brave, serpapi=serpapi, exa=exa)
            # Not one search was made.
            asked = [
                (seen.method, seen.path, "q" in seen.params) for one in (tavily, brave, serpapi) for seen in one.seen
            ]
            assert exa.seen == []
        assert asked == [
            ("GET", "/usage", False), ("GET", "/res/v1/web/search", False), ("GET", "/account.json", False),
        ]  # fmt: skip
        assert {label: finding.code for label, finding in found.items()} == {
            "Tavily": "provider.usage",
            "Brave Search": "provider.ok",
            "SerpApi (Google)": "provider.usage",
            "Exa": "provider.not_probed",
        }
        assert found["Tavily"].wording().what == "Tavily: the key is accepted, 150 of 1000 used"
        assert found["SerpApi (Google)"].values["limit"] == 250

    async def test_bad_keys_and_used_up_plans(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tavily, serpapi = Tavily(), SerpApi()
        tavily.used, serpapi.used = 950, 250
        with (
            ProviderServer(tavily) as first,
            ProviderServer(Brave(), fault=Fault.AUTH) as second,
            ProviderServer(serpapi) as third,
        ):
            found = await self.examine(monkeypatch, tavily=first, brave=second, serpapi=third)
        assert {label: (finding.code, finding.level.label) for label, finding in found.items()} == {
            "Tavily": ("provider.nearly_used_up", "warning"),
            "Brave Search": ("provider.auth", "problem"),
            "SerpApi (Google)": ("provider.quota", "problem"),
        }

    @pytest.mark.parametrize("fault", [Fault.AUTH, Fault.SERVER_ERROR, Fault.HTML, Fault.WRONG_SHAPE, Fault.RESET])
    async def test_probes_that_fail(self, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
        with (
            ProviderServer(Tavily(), fault=fault) as tavily,
            ProviderServer(SerpApi(), fault=fault) as serpapi,
            ProviderServer(Brave(), fault=fault) as brave,
        ):
            found = await self.examine(monkeypatch, tavily=tavily, serpapi=serpapi, brave=brave)
        expected = "provider.auth" if fault is Fault.AUTH else "provider.failed"
        assert {finding.code for finding in found.values()} == {expected}

    async def test_a_named_engine_without_its_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "exa,altavista")
        found = await examine(Settings.load(), quick=True)
        assert causes(found) == ["search.off", "search.unknown_engine", "provider.not_set_up"]
        assert "EXA_API_KEY" in next(one for one in found if one.code == "provider.not_set_up").wording().fix

    async def test_reasons_are_told_in_the_language_of_the_finding(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "exa")
        [off, missing] = [one for one in await examine(Settings.load(), quick=True) if one.level is Level.PROBLEM]
        for finding in (off, missing):
            assert "Set EXA_API_KEY" in finding.wording().fix
            assert finding.wording(Language.CHINESE).fix.startswith("请设置 EXA_API_KEY")
        assert "Web search is off" not in off.wording(Language.CHINESE).why

    async def test_only_statutes_can_be_searched(self, monkeypatch: pytest.MonkeyPatch, sample_folder: Path) -> None:
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "laws")
        found = await examine(Settings.load(legal_dir=str(sample_folder)), quick=True)
        told = {one.code: one.level.label for one in found if one.code.startswith("search.")}
        assert told == {"search.laws_only": "note"}, "who has named nothing else wants it so"

    async def test_searxngs_own_probe(self, server: ProviderServer) -> None:
        from qiusuo.engines.searxng import SearxngEngine
        from qiusuo.errors import ApiDisabled

        provider = server.provider
        assert isinstance(provider, Searxng)
        engine = SearxngEngine(base_url=server.url)
        assert await engine.probe() is not None
        assert not any(seen.params.get("q") for seen in server.seen)
        provider.json_on = False
        with pytest.raises(ApiDisabled):
            await engine.probe()
        await engine.aclose()


class TestSystem:
    async def test_invalid_settings_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEARCH_TIMEOUT", "soon")
        monkeypatch.setenv("SEARCH_MAX_RESULTS", "1000")
        monkeypatch.setenv("SEARCH_LANGUAGE", "zh-CN")
        found = [one for one in await examine(Settings.load(), quick=True) if one.code == "settings.invalid"]
        assert [(one.values["variable"], one.values["used"]) for one in found] == [
            ("SEARCH_MAX_RESULTS", 10),
            ("SEARCH_TIMEOUT", 5.0),
        ]

    async def test_redis_that_is_away(self) -> None:
        settings = Settings.load(redis_url=f"redis://:hushhush@127.0.0.1:{free_port()}/0")
        found = [one for one in await examine(settings, quick=True) if one.code.startswith("redis.")]
        assert causes(found) == ["redis.failed"]
        assert "hushhush" not in repr(found)

    @pytest.mark.programs
    @pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
    async def test_redis_that_is_there(self, tmp_path: Path) -> None:
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", cwd=tmp_path,
            stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            settings = Settings.load(redis_url=f"redis://127.0.0.1:{port}/0")
            for _ in range(50):
                found = [one.code for one in await examine(settings, quick=True) if one.code.startswith("redis.")]
                if found == ["redis.ok"]:
                    break
                await asyncio.sleep(0.05)
            assert found == ["redis.ok"]
        finally:
            process.kill()
            await process.wait()

    def test_the_clock(self) -> None:
        now = datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
        assert clock_findings("Sun, 15 Nov 2026 10:01:00 GMT", now) == []
        assert causes(clock_findings("Sun, 15 Nov 2026 12:00:00 GMT", now)) == ["clock.wrong"]
        assert causes(clock_findings(None, datetime(2020, 1, 1, tzinfo=UTC))) == ["clock.wrong"]
        assert clock_findings("nonsense", now) == clock_findings(None, now) == []

    async def test_chrome_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(_lookup: object) -> Path:
            raise EngineNotConfigured("no Chrome", fix="Install one.")

        monkeypatch.setattr("qiusuo.doctor.system.find_chrome", missing)
        found = [one for one in await examine(Settings.load(), quick=True) if one.code.startswith("chrome.")]
        assert [(one.code, one.level.label, one.wording().fix) for one in found] == [
            ("chrome.missing", "note", "Install one.")
        ]

    async def test_the_legal_index(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        async def look() -> list[tuple[str, str]]:
            found = await examine(Settings.load(), quick=True)
            return [(one.code, one.level.label) for one in found if one.code.startswith("legal.")]

        monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path))
        assert await look() == [("legal.none", "note")]
        store = tmp_path / "generations" / "000001" / "store.db"
        store.parent.mkdir(parents=True)
        store.write_text("no database")
        (tmp_path / "current").write_text("000001")
        assert await look() == [("legal.failed", "problem")]

    async def test_a_broken_check_does_not_hide_the_others(
        self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer
    ) -> None:
        async def crash(_context: Examination) -> list[Finding]:
            raise RuntimeError("bug")

        async def sleep(_context: Examination) -> list[Finding]:
            await asyncio.sleep(10)
            return []

        monkeypatch.setattr(doctor_run, "CHECKS", {"crash": crash, "sleep": sleep, **doctor_run.CHECKS})
        monkeypatch.setattr(doctor_run, "TIME_LIMIT", 1.0)
        found = await diagnose(monkeypatch, server.url, quick=True)
        assert causes(found) == ["check.failed", "check.failed"]
        assert "searxng.ready" in {finding.code for finding in found}


class TestStartUp:
    async def test_only_what_matters_is_said(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        assert await startup_notices(Settings.load()) == []
        provider = server.provider
        assert isinstance(provider, Searxng)
        provider.json_on = False
        assert causes(await startup_notices(Settings.load())) == ["searxng.json_off"]

    async def test_it_never_raises(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def crash(*_: object, **__: object) -> list[Finding]:
            raise RuntimeError("bug")

        monkeypatch.setattr(doctor_run, "examine", crash)
        assert await startup_notices(Settings.load()) == []


async def test_a_value_in_the_file_that_is_none_is_told_like_one_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "config.toml"
    wrong = 'timeout = "soon"\nmax_results = 500\nsearxng_url = "me:hushhush@host"\n'
    file.write_text(f'{wrong}cache_ttl = 60\nprovider_priority = ["searxng", "tavily"]\n')  # as the page does
    monkeypatch.setenv("QIUSUO_CONFIG", str(file))
    monkeypatch.setenv("SEARCH_MAX_RESULTS", "20")  # wins: what the file says is not used
    settings = Settings.load()
    logged = [record.getMessage().split(":")[0] for record in caplog.records if record.name == "qiusuo.config"]
    assert logged == [f"timeout in {file}", f"searxng_url in {file}"]
    found = [one for one in await examine(settings, quick=True) if one.code.startswith("settings.")]
    assert [(one.code, one.values["name"]) for one in found] == [
        ("settings.invalid_in_file", "timeout"),
        ("settings.invalid_in_file", "searxng_url"),
    ]
    assert "hushhush" not in caplog.text + "".join(one.wording().what + one.wording().why for one in found)
    assert {one.level for one in found} == {Level.WARNING}


async def test_a_check_that_blocks_does_not_make_others_late(
    monkeypatch: pytest.MonkeyPatch, server: ProviderServer
) -> None:
    async def busy(_context: Examination) -> list[Finding]:
        for _ in range(8):
            time.sleep(0.3)  # noqa: ASYNC251 - as an import or a large index does
            await asyncio.sleep(0.001)
        return []

    monkeypatch.setitem(doctor_run.CHECKS, "busy", busy)
    monkeypatch.setattr("qiusuo.doctor.wire.CONNECT_TIMEOUT", 0.2)
    monkeypatch.setattr("qiusuo.doctor.searxng.check.LOOK_TIMEOUT", 0.2)
    assert is_green(await diagnose(monkeypatch, server.url, quick=True))


async def test_time_in_which_the_loop_was_held_is_no_silence(server: ProviderServer) -> None:
    http = HttpClient()

    async def hold() -> None:
        await asyncio.sleep(0)
        time.sleep(1.2)  # noqa: ASYNC251 - somebody holds the loop

    try:
        endpoint = Endpoint(http, "searxng", server.url)
        heard, reached, _ = await asyncio.gather(ask(endpoint, "/config", timeout=1.0), reach(server.url), hold())
    finally:
        await http.aclose()
    assert (heard.timed_out, heard.status, reached) == (False, 200, Reach.OPEN)
