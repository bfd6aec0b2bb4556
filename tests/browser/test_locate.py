"""Is there a browser, and what if not: said at the start, per system, and nothing else breaks."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from qiusuo import SearchService
from qiusuo.browser import BrowserSettings, find_chrome
from qiusuo.cli.app import app
from qiusuo.config import Settings
from qiusuo.errors import EngineNotConfigured


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["google-chrome", "chromium", "chromium-browser", "microsoft-edge"])
def test_found_on_path(tmp_path: Path, name: str) -> None:
    found = program(tmp_path / name)
    assert find_chrome({"PATH": str(tmp_path)}.get, system="Linux") == found


def test_chrome_comes_before_edge(tmp_path: Path) -> None:
    program(tmp_path / "microsoft-edge")
    chrome = program(tmp_path / "google-chrome")
    assert find_chrome({"PATH": str(tmp_path)}.get) == chrome


def test_found_where_windows_has_it(tmp_path: Path) -> None:
    edge = program(tmp_path / "Microsoft/Edge/Application/msedge.exe")
    lookup = {"PATH": "/nowhere", "ProgramFiles(x86)": str(tmp_path)}.get
    assert find_chrome(lookup, system="Windows") == edge


def test_found_where_a_mac_has_it(tmp_path: Path) -> None:
    chrome = program(tmp_path / "Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    assert find_chrome({"PATH": "/nowhere", "HOME": str(tmp_path)}.get, system="Darwin") == chrome


def test_the_named_one_wins(tmp_path: Path) -> None:
    program(tmp_path / "google-chrome")
    own = program(tmp_path / "my browser")
    assert find_chrome({"PATH": str(tmp_path), "QIUSUO_CHROME": str(own)}.get) == own


def test_the_named_one_is_never_replaced(tmp_path: Path) -> None:
    program(tmp_path / "google-chrome")
    with pytest.raises(EngineNotConfigured, match="/no/such/chrome") as caught:
        find_chrome({"PATH": str(tmp_path), "QIUSUO_CHROME": "/no/such/chrome"}.get)
    assert "unset it" in caught.value.fix


@pytest.mark.parametrize(
    ("system", "advice"),
    [
        ("Linux", "apt install chromium"),
        ("Darwin", "brew install"),
        ("Windows", "winget install"),
        ("Plan 9", "Install Google Chrome"),
    ],
)
def test_guidance_is_for_the_system(system: str, advice: str) -> None:
    with pytest.raises(EngineNotConfigured) as caught:
        find_chrome({"PATH": "/nowhere"}.get, system=system)
    assert advice in caught.value.fix
    assert "QIUSUO_CHROME" in caught.value.fix


@pytest.mark.parametrize("package", ["playwright", "selectolax"])
def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == package else find(name, *more))
    with pytest.raises(EngineNotConfigured, match=package) as caught:
        BrowserSettings.from_lookup(lambda _name: None)
    assert "qiusuo[browser]" in caught.value.fix


def test_sandbox_is_switched_off_by_a_person_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = str(program(tmp_path / "chromium").parent)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert BrowserSettings.from_lookup({"PATH": path}.get).sandbox
    assert not BrowserSettings.from_lookup({"PATH": path, "QIUSUO_CHROME_SANDBOX": "off"}.get).sandbox


def test_how_many_pages_is_a_setting(tmp_path: Path) -> None:
    path = str(program(tmp_path / "chromium").parent)
    assert BrowserSettings.from_lookup({"PATH": path}.get).max_pages == 3
    assert BrowserSettings.from_lookup({"PATH": path, "QIUSUO_CHROME_PAGES": "8"}.get).max_pages == 8


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5", "1000"])
def test_odd_number_of_pages_is_named(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_CHROME", str(program(tmp_path / "chromium")))
    monkeypatch.setenv("QIUSUO_CHROME_PAGES", given)
    with SearchService.from_settings(Settings.load()) as service:
        problem = service.engine_problems()["google"]
    assert problem is not None
    assert problem.fact.code == "browser.odd_pages"
    assert "QIUSUO_CHROME_PAGES" in problem.fix


class TestWithoutChrome:
    @pytest.fixture(autouse=True)
    def _nothing_on_path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")

    async def test_start_and_other_engines_are_untouched(self) -> None:
        async with SearchService.from_settings(Settings.load()) as service:
            problems = service.engine_problems()
            assert await service.available() == ("ddgs",)
            for name in ("google", "bing_web", "baidu"):
                problem = problems[name]
                assert isinstance(problem, EngineNotConfigured)
                assert problem.engine == name
                assert "QIUSUO_CHROME" in problem.fix
            (status,) = (status for status in await service.status() if status.name == "google")
            assert status.state == "missing"
            assert "QIUSUO_CHROME" in status.fix

    async def test_engine_call_gives_the_guidance(self) -> None:
        async with SearchService.from_settings(Settings.load()) as service:
            with pytest.raises(EngineNotConfigured) as caught:
                await service.asearch("x", engine="google")
        assert "QIUSUO_CHROME" in caught.value.fix

    @pytest.mark.parametrize("command", [["engines"], ["google", "solve"]])
    def test_commands_show_the_guidance(self, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "400")
        done: Any = CliRunner().invoke(app, command)
        assert "QIUSUO_CHROME" in done.output


def test_without_chrome_a_priority_that_names_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "google")
    with SearchService.from_settings(Settings.load()) as service, pytest.raises(Exception, match="QIUSUO_CHROME"):
        service.search("x")


def test_playwright_is_loaded_by_the_first_search_only() -> None:
    # In a process of its own: here the other tests have loaded it already.
    code = (
        "import sys; from qiusuo import SearchService; SearchService.from_settings();"
        "import qiusuo.engines.google, qiusuo.cli.google;"
        "assert not {'playwright', 'selectolax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own interpreter and text


def test_the_doctor_gives_the_guidance_where_no_browser_is_found(tmp_path: Path) -> None:
    environment = {
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        "SEARCH_PROVIDER_PRIORITY": "google",
        "QIUSUO_LANG": "en",
    }
    command = [sys.executable, "-m", "qiusuo", "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - this interpreter
    findings = {finding["code"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert done.returncode == 3
    assert "chromium" in findings["chrome.missing"]["fix"]
    assert "QIUSUO_CHROME" in findings["chrome.missing"]["fix"]
