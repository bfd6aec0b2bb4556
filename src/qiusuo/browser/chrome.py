"""One running Chrome: its start, its pages and its end. Imported by the first search, for it imports Playwright.

Playwright's errors are translated here and in ``tab.py``, and nowhere else. All of it runs on one event loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from playwright.async_api import Browser, BrowserContext, Error, Page, Playwright
from playwright.async_api import TimeoutError as PlaywrightTimeout

from qiusuo.browser.driver import CLOSE_SECONDS, Driver
from qiusuo.browser.locate import install_advice
from qiusuo.browser.settings import BrowserSettings
from qiusuo.browser.tab import Tab, TabGone
from qiusuo.browser.views import PageView, Visit
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

START_SECONDS: Final = 20.0
ANSWER_SECONDS: Final = 1.0

# Less noise on the network, and nothing loaded that no result is read from. Images and fonts are switched off in the
# browser itself: asking us about each request would slow every page down.
ARGUMENTS: Final = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LEAN_ARGUMENTS: Final = (
    "--disable-remote-fonts",
    "--blink-settings=imagesEnabled=false",
    "--autoplay-policy=document-user-activation-required",
    "--js-flags=--max-old-space-size=256",
)


class ChromeNotStarted(Exception):
    """The browser could not be started; ``fact`` says why, ``remedy`` what to do where the fact does not."""

    def __init__(self, fact: Fact, remedy: Fact | None = None) -> None:
        super().__init__(fact)
        self.fact = fact
        self.remedy = remedy


class Chrome:
    """A browser process with a handful of pages that are used again and again."""

    def __init__(self, driver: Driver, browser: Browser, context: BrowserContext, cookies_file: Path | None) -> None:
        self._driver = driver
        self._browser = browser
        self._context = context
        self._cookies_file = cookies_file
        self._cookies_read = 0.0
        self._idle: list[Tab] = []
        self._chores: set[asyncio.Task[None]] = set()
        self._worn = False
        self._under_way = 0
        self.visits = 0
        self.free = asyncio.Event()
        """Set while no visit is under way."""
        self.free.set()

    @classmethod
    async def start(cls, settings: BrowserSettings, *, visible: bool = False) -> Self:
        """Start the browser; a visible one is for a person and shows everything.

        Raises:
            ChromeNotStarted: it does not start.
        """
        driver = await Driver.start()
        # In a task of its own: a call into Playwright that is cancelled would leave its answer unclaimed.
        launch = asyncio.ensure_future(_launch(driver.playwright, settings, visible=visible))
        try:
            browser, context = await asyncio.shield(launch)
        except BaseException as error:
            await asyncio.shield(driver.give_up(launch))
            if isinstance(error, Error):
                raise _not_started(settings.executable, error) from None
            raise
        return cls(driver, browser, context, settings.cookies_file)

    @property
    def alive(self) -> bool:
        """Whether it can be used. A page that could not be closed is reason enough for a fresh browser."""
        return self._browser.is_connected() and not self._worn

    @property
    def pages(self) -> int:
        """How many pages are open."""
        return len(self._context.pages)

    async def view(self, visit: Visit, deadline: float) -> PageView:
        """Open a page and return it. A visit that is cancelled gives its page back by closing it.

        ``deadline`` is a moment of the event loop; what is there then is better than nothing.

        Raises:
            TabGone: the browser or the page's process ended.
            EngineError: the page cannot be had.
        """
        self._under_way += 1
        self.free.clear()
        self.visits += 1
        try:
            return await self._view(visit, deadline)
        except (Error, TabGone) as error:
            # Without its driver a browser still counts as connected.
            self._worn = self._worn or not await self._answers()
            raise error if isinstance(error, TabGone) else TabGone(str(error).partition("\n")[0]) from None
        finally:
            self._under_way -= 1
            if not self._under_way:
                self.free.set()

    async def _view(self, visit: Visit, deadline: float) -> PageView:
        tab = await self._tab()
        # In a task of its own: a call into Playwright that is cancelled would leave its answer unclaimed.
        work = asyncio.create_task(tab.view(visit, deadline))
        try:
            view = await asyncio.shield(work)
        except BaseException:  # a cancelled search too gives its page back
            self._later(self._discard(tab, work))
            raise
        if tab.settled:
            self._idle.append(tab)
        else:
            self._later(self._discard(tab, work))
        return view

    async def _tab(self) -> Tab:
        await self._take_cookies()
        while self._idle:
            tab = self._idle.pop()
            if not tab.page.is_closed():
                return tab
        tab = await Tab.open(self._context)
        # Nothing that a page opens by itself is kept.
        tab.page.on("popup", lambda popup: self._later(popup.close()))
        return tab

    async def _take_cookies(self) -> None:
        """Read the cookies that a person's visit has left, when they are new."""
        if self._cookies_file is None:
            return
        try:
            changed = self._cookies_file.stat().st_mtime
            if changed == self._cookies_read:
                return
            self._cookies_read = changed
            await self._context.add_cookies(json.loads(self._cookies_file.read_text("utf-8"))["cookies"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, Error) as problem:
            logger.warning("the cookies in %s cannot be used (%s)", self._cookies_file, type(problem).__name__)

    async def _discard(self, tab: Tab, work: asyncio.Task[PageView]) -> None:
        if not await tab.close():
            # It may go on asking the site for pages: better no browser than that.
            self._worn = True
            await self.free.wait()
            await self._browser.close()
        # Closing the page ended it, one way or the other; its error is of no interest to anybody any more.
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(_quietly(work))
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    async def open_page(self, url: str) -> Page:
        """Open a page for a person, with the cookies of the last time."""
        await self._take_cookies()
        page = await self._context.new_page()
        await page.goto(url, wait_until="commit")
        return page

    async def cookies(self) -> dict[str, Any]:
        """Return the cookies in the shape in which they are kept."""
        return {"cookies": await self._context.cookies()}

    async def process_ids(self) -> list[int]:
        """Return the ids of the browser's processes."""
        try:
            return await self._processes()
        except Error:
            return []

    async def _processes(self) -> list[int]:
        wire = await self._browser.new_browser_cdp_session()
        found = await wire.send("SystemInfo.getProcessInfo")
        await wire.detach()
        return [process["id"] for process in found["processInfo"]]

    async def _answers(self) -> bool:
        """Tell whether driver and browser are still there."""
        if not self._browser.is_connected():
            return False
        question = asyncio.ensure_future(self._processes())
        question.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.wait({question}, timeout=ANSWER_SECONDS)
        return question.done() and question.exception() is None

    async def close(self) -> None:
        """End the browser and its driver, politely at first."""
        if self._chores:
            await asyncio.wait(self._chores, timeout=CLOSE_SECONDS)
        # Without its driver the browser ends at once, whatever it was doing.
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._browser.close()
        await self._driver.stop()


async def _launch(
    playwright: Playwright, settings: BrowserSettings, *, visible: bool
) -> tuple[Browser, BrowserContext]:
    browser = await playwright.chromium.launch(
        executable_path=settings.executable,
        headless=not visible,
        chromium_sandbox=settings.sandbox,
        args=[*ARGUMENTS, *(() if visible else LEAN_ARGUMENTS), *settings.extra_args],
        timeout=START_SECONDS * 1000,
    )
    return browser, await browser.new_context(accept_downloads=False, service_workers="block")


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    with suppress(Error):
        await work


def _not_started(executable: Path, error: Error) -> ChromeNotStarted:
    """Say in our own words why a browser does not start: Playwright's advice is to download another one."""
    text = str(error)
    if "No usable sandbox" in text:
        return ChromeNotStarted(Fact("browser.sandbox"))
    program = str(executable)
    if "xecutable doesn't exist" in text or "ENOENT" in text:
        return ChromeNotStarted(Fact("browser.gone", program=program), install_advice())
    if isinstance(error, PlaywrightTimeout):
        return ChromeNotStarted(Fact("browser.slow_start", program=program, seconds=START_SECONDS))
    return ChromeNotStarted(Fact("browser.no_start", program=program))
