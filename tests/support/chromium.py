"""A real browser for tests: one for the whole run, kept on this machine."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qiusuo.browser import Browser, BrowserSettings
from qiusuo.engines.base import SearchEngine
from qiusuo.engines.result_pages import ResultPageEngine
from qiusuo.errors import EngineNotConfigured
from qiusuo.models import Outcome
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance

# What the pages of others would load from the network is not found.
LOOPBACK_ONLY = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",)


@cache
def chrome_problem() -> str:
    """Say why there is no browser for the tests; blank where there is one."""
    try:
        BrowserSettings.from_lookup(lambda _name: None)
    except EngineNotConfigured as problem:
        return str(problem)
    return ""


def browser_settings(**changes: Any) -> BrowserSettings:
    found = BrowserSettings.from_lookup(lambda _name: None)
    return replace(found, **{"extra_args": LOOPBACK_ONLY, "cookies_file": None, **changes})


# All in one process: browsers started at once by several would take each other's time.
with_chromium = [
    pytest.mark.xdist_group("chromium"),
    pytest.mark.skipif(bool(chrome_problem()), reason=f"NO BROWSER, NOT TESTED: {chrome_problem()}"),
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browser = Browser(browser_settings())
    yield browser
    asyncio.run(browser.aclose())


@pytest.fixture(scope="session")
def light_browser() -> Iterator[Browser]:
    """Run the Chromium that can have no window, where that is installed: a page takes a third of the work."""
    light = shutil.which("chromium-headless-shell")
    browser = Browser(browser_settings(**({"executable": Path(light)} if light else {})))
    yield browser
    asyncio.run(browser.aclose())


class BrowserConformance(EngineConformance):
    """The common table for the engines that share the browser; the whole one is tried in ``tests/browser``."""

    pytestmark = with_chromium
    browser: Browser
    # There is no key and no plan: denial is a block. A browser follows redirects, here to a place that is not there.
    expected = {  # noqa: RUF012 - the table of the base class
        Fault.AUTH: Outcome.BLOCKED,
        Fault.FORBIDDEN: Outcome.BLOCKED,
        Fault.QUOTA: Outcome.BAD_RESPONSE,
        Fault.REDIRECT: Outcome.UNAVAILABLE,
    }

    @pytest.fixture(autouse=True)
    def _shared(self, light_browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
        self.browser = light_browser
        monkeypatch.setattr(self.engine_class, "patience", 0.2)

    def make_engine(self, server: ProviderServer, *, key: str | None = None, timeout: float = 2.0) -> SearchEngine:  # noqa: ARG002 - there are no keys
        kind = self.engine_class
        assert issubclass(kind, ResultPageEngine)
        # The first of them also pays for the browser's start.
        patient = timeout if timeout < 1 else 15.0
        return kind(base_url=server.base_url, timeout=patient, browser=self.browser)


def always(server: ProviderServer, monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    """Let a provider give one answer to everything."""
    monkeypatch.setattr(server.provider, "answer", lambda _seen: answer)
