"""``qiusuo google solve``."""

from __future__ import annotations

import asyncio
import os
import sys

from rich.console import Console
from rich.markup import escape

from qiusuo.browser import BrowserSettings
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import words_for_terminal
from qiusuo.config import Settings
from qiusuo.engines import discover_engines
from qiusuo.engines.base import EngineOptions
from qiusuo.engines.result_pages import ResultPageEngine
from qiusuo.errors import ConfigurationError, SearchError, UnknownEngine
from qiusuo.http import HttpClient
from qiusuo.models import Query
from qiusuo.words import Fact


def run_solve(query: str, engine: str) -> Exit:
    """Open the site's page in a visible browser and keep its cookies once it shows results."""
    words = words_for_terminal()
    out = Console(stderr=True, highlight=False)
    try:
        settings = Settings.load()
        site = _engine(engine, settings)
        browser = BrowserSettings.from_lookup(settings.env)
        _need_a_screen()
        out.print(escape(words("solve_begin", site=site.called(words.language))))
        kept = asyncio.run(_solve(browser, site, query))
    except SearchError as error:
        for line in error_lines(error, words):
            out.print(escape(line))
        return exit_code(error)
    out.print(escape(words("solve_end", file=kept)))
    return Exit.OK


async def _solve(browser: BrowserSettings, site: ResultPageEngine, query: str) -> str:
    from qiusuo.browser.visible import let_a_person_answer  # noqa: PLC0415 - loads Playwright

    solved = await let_a_person_answer(browser, site.page_url(Query(query)), site.read)
    return str(solved.cookies_file)


def _engine(name: str, settings: Settings) -> ResultPageEngine:
    kind = discover_engines().get(name)
    if kind is None or not issubclass(kind, ResultPageEngine):
        known = [name for name, kind in discover_engines().items() if issubclass(kind, ResultPageEngine)]
        raise UnknownEngine(Fact("cli.no_browser_engine", name=repr(name), known=known))
    options = EngineOptions(base_url=settings.engine(name).base_url, lookup=settings.env)
    return kind.from_options(options, HttpClient())


def _need_a_screen() -> None:
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise ConfigurationError(Fact("cli.no_screen"))
