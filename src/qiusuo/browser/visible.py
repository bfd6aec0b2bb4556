"""A visible browser for the one thing that only a person can do: answer what a site asks of a person."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.async_api import Error, Page

from qiusuo.browser.chrome import Chrome, ChromeNotStarted
from qiusuo.browser.settings import BrowserSettings
from qiusuo.browser.solved import SOLVED, host_of, solved_hosts
from qiusuo.errors import Blocked, ConfigurationError, SearchError
from qiusuo.words import Fact

LOOK_EVERY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Solved:
    """The site shows results again; its cookies were kept in ``cookies_file``."""

    cookies_file: Path


async def let_a_person_answer(
    settings: BrowserSettings,
    url: str,
    read: Callable[[str, str], object],
    *,
    patience: float = 600.0,
    visible: bool = True,
) -> Solved:
    """Open ``url`` in a window and wait until ``read(html, address)`` takes it for a result page; keep the cookies.

    Raises:
        ConfigurationError: there is no screen, or the browser does not start.
        Blocked: the window was closed, or the time was over, before the site was content.
    """
    if settings.cookies_file is None:
        raise ConfigurationError(Fact("browser.no_cookies_file"))
    try:
        chrome = await Chrome.start(settings, visible=visible)
    except ChromeNotStarted as problem:
        raise ConfigurationError(problem.fact, fix=problem.remedy or "") from None
    try:
        async with asyncio.timeout(patience):
            page = await chrome.open_page(url)
            while not await _content(page, read):  # noqa: ASYNC110 - nothing tells when a person is done
                await asyncio.sleep(LOOK_EVERY)
        kept = await chrome.cookies()
        solved = {**solved_hosts(settings.cookies_file), host_of(url): time.time()}
        _keep(settings.cookies_file, json.dumps({**kept, SOLVED: solved}))
    except TimeoutError:
        raise Blocked(Fact("browser.no_results_shown", seconds=float(patience))) from None
    except Error:
        raise Blocked(Fact("browser.window_closed")) from None
    finally:
        await chrome.close()
    return Solved(settings.cookies_file)


async def _content(page: Page, read: Callable[[str, str], object]) -> bool:
    """Tell whether the page shows results now."""
    try:
        html = await page.content()
    except Error:
        if page.is_closed():
            raise
        return False  # on its way to another page
    try:
        read(html, page.url)
    except SearchError:
        return False
    return True


def _keep(file: Path, text: str) -> None:
    """Write what opens doors so that only its owner can read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    fresh.replace(file)
