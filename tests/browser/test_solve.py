"""A person answers what only a person can, and the searches afterwards profit from it."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qiusuo import SearchService
from qiusuo.browser import Browser
from qiusuo.cli.app import app
from qiusuo.config import Settings
from qiusuo.engines.google import GoogleEngine, parse_results
from qiusuo.errors import AllEnginesFailed, Blocked
from qiusuo.models import Query
from qiusuo.testing import Answer, ProviderServer, Seen
from qiusuo.testing.providers.google import Google
from tests.support.chromium import browser_settings, with_chromium

X = Query("x")


class Consent(Google):
    """Asks for consent; with ``person_there`` somebody presses the button after a moment."""

    wants_consent = True
    person_there = False
    stranger = False

    def answer(self, seen: Seen) -> Answer:
        return self.captcha() if self.stranger else super().answer(seen)

    def consent(self) -> Answer:  # type: ignore[override]
        page = str(super().consent().body)
        click = "<script>setTimeout(() => document.getElementById('accept').click(), 300)</script></body>"
        return Answer(page.replace("</body>", click) if self.person_there else page)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(Consent()) as server:
        yield server


class TestSolving:
    pytestmark = with_chromium

    async def test_consent_first_then_results(self, server: ProviderServer, tmp_path: Path) -> None:
        from qiusuo.browser.visible import let_a_person_answer

        settings = browser_settings(cookies_file=tmp_path / "kept" / "cookies.json")
        browser = Browser(settings)
        engine = GoogleEngine(base_url=server.base_url, timeout=15, browser=browser)
        service = SearchService([engine], Settings.load(timeout=20))
        for _ in range(2):
            with pytest.raises(AllEnginesFailed, match="cookies"):
                await service.asearch("x")
        assert len(server.seen) == 1
        assert [status.state for status in await service.status()] == ["resting"]

        assert isinstance(server.provider, Consent)
        server.provider.person_there = True
        # Not visible here: there is no screen. All else is as it is for a person.
        solved = await let_a_person_answer(settings, engine.page_url(X), engine.read, patience=20, visible=False)
        server.provider.person_there = False
        assert [cookie["name"] for cookie in json.loads(solved.cookies_file.read_text())["cookies"]] == ["SOCS"]
        assert stat.S_IMODE(solved.cookies_file.stat().st_mode) == 0o600

        # The service that was turned away need not rest any more, and its browser knows the cookies without a restart.
        assert [status.state for status in await service.status()] == ["ready"]
        assert (await service.asearch("x")).total_results == 10

        # A block from after that is a new one.
        server.provider.stranger = True
        for _ in range(2):
            with pytest.raises(AllEnginesFailed):
                await service.asearch("y")
        assert [status.state for status in await service.status()] == ["resting"]
        await service.aclose()
        await browser.aclose()

    async def test_nobody_there(self, server: ProviderServer, tmp_path: Path) -> None:
        from qiusuo.browser.visible import let_a_person_answer

        settings = browser_settings(cookies_file=tmp_path / "cookies.json")
        with pytest.raises(Blocked, match=r"within 1 s"):
            await let_a_person_answer(settings, server.url + "/search?q=x", parse_results, patience=1, visible=False)
        assert not (tmp_path / "cookies.json").exists()

    async def test_spoilt_cookies_are_no_obstacle(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        cookies = tmp_path / "cookies.json"
        cookies.write_text("{]")
        browser = Browser(browser_settings(cookies_file=cookies))
        with ProviderServer(Google()) as server:
            engine = GoogleEngine(base_url=server.base_url, timeout=15, browser=browser)
            assert len(await engine.search(X, 10)) == 10
        await browser.aclose()
        assert "cannot be used" in caplog.text


class TestCommand:
    def test_no_screen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.setattr("sys.platform", "linux")
        done = CliRunner().invoke(app, ["google", "solve"])
        assert done.exit_code == 3
        assert "screen" in done.output or "Chrome" in done.output

    def test_engine_without_a_browser(self) -> None:
        done = CliRunner().invoke(app, ["google", "solve", "--engine", "tavily"])
        assert done.exit_code == 3
        assert "bing_web" in done.output
