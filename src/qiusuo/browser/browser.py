"""The browser that all engines of a service share.

It lives on an event loop in a thread of its own: searches come from any loop, a loop may end at any time, and the
browser must be closed properly even then.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from qiusuo.bridge import SyncBridge
from qiusuo.browser.memory import used_megabytes
from qiusuo.browser.settings import PAGES_VARIABLE, BrowserSettings
from qiusuo.browser.views import PageView, Visit
from qiusuo.errors import SearchTimeout
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.browser.chrome import Chrome
    from qiusuo.browser.tab import TabGone

T = TypeVar("T")

LOOK_AT_MEMORY_EVERY: Final = 10
GRACE_SECONDS: Final = 0.3


class Browser:
    """Started by the first visit, shared by all, recycled now and then, restarted once when it breaks.

    May be used from any number of threads and event loops. After :meth:`aclose` the next visit starts it again.
    """

    def __init__(self, settings: BrowserSettings) -> None:
        self.settings = settings
        self._thread = SyncBridge(name="qiusuo-browser")
        self._keeper = _Keeper(settings)
        # Runs when nobody holds this object any more, and at the end of the program.
        self._end = weakref.finalize(self, _end, self._thread, self._keeper, os.getpid())

    @classmethod
    def found(cls) -> Self:
        """Return a browser of this machine with the usual settings.

        Raises:
            EngineNotConfigured: there is none, or a package is missing.
        """
        return cls(BrowserSettings.from_lookup(lambda _name: None))

    async def view(self, visit: Visit) -> PageView:
        """Open a page and return what is on it. Cancelling it frees the page.

        Raises:
            EngineError: there is no page, it took too long, or the browser cannot be used.
        """
        return await self._on_its_thread(self._keeper.view(visit))

    async def memory_mb(self) -> float | None:
        """Return how much memory the browser uses; None where it does not run or the system does not tell."""
        return await self._on_its_thread(self._keeper.memory_mb())

    async def counts(self) -> tuple[int, int]:
        """Return how many processes and pages the browser has now."""
        return await self._on_its_thread(self._keeper.counts())

    async def process_ids(self) -> list[int]:
        """Return the ids of the browser's processes; none where it does not run."""
        return await self._on_its_thread(self._keeper.process_ids())

    async def aclose(self) -> None:
        """Close the browser and wait until it is gone."""
        if self._thread.running:
            await self._on_its_thread(self._keeper.close())
            await asyncio.to_thread(self._thread.close)

    async def _on_its_thread(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(work))


class _Keeper:
    """Keeps the running browser. All methods run on the browser's loop."""

    def __init__(self, settings: BrowserSettings) -> None:
        self._settings = settings
        self._places: asyncio.Semaphore | None = None
        self._start: asyncio.Task[Chrome] | None = None
        self._retired: set[Chrome] = set()
        self._chores: set[asyncio.Task[Any]] = set()
        self._closings = 0
        self._idle_end: asyncio.TimerHandle | None = None

    async def view(self, visit: Visit) -> PageView:
        if self._places is None:
            self._places = asyncio.Semaphore(self._settings.max_pages)
        closings = self._closings
        deadline = asyncio.get_running_loop().time() + visit.timeout
        late: SearchTimeout = visit.not_begun(
            "browser.no_free_page", pages=self._settings.max_pages, variable=PAGES_VARIABLE
        )
        try:
            async with asyncio.timeout_at(deadline) as limit:
                async with self._places:
                    visit.begun()
                    self._stay()
                    for last in (False, True):
                        if self._closings != closings:
                            raise visit.unavailable(Fact("browser.closed"))
                        late = visit.timed_out("browser.not_started", program=str(self._settings.executable))
                        chrome = await self._running(visit)
                        late = visit.timed_out("browser.no_page_opened")
                        # The page itself ends in time, and knows better what it was waiting for.
                        limit.reschedule(deadline + GRACE_SECONDS)
                        try:
                            return await chrome.view(visit, deadline)
                        except _gone() as gone:
                            if last:
                                raise visit.unavailable(Fact("browser.broke_down", words=gone.fact)) from None
                        finally:
                            self._look_after(chrome)
                    raise AssertionError("the second try returns or raises")
        except SearchTimeout:
            raise
        except TimeoutError:
            raise late from None
        finally:
            self._leave()

    async def _running(self, visit: Visit) -> Chrome:
        from qiusuo.browser.chrome import ChromeNotStarted  # noqa: PLC0415 - loads Playwright

        if self._start is None:
            self._start = self._begin()
        start = self._start
        try:
            # A search that gives up must not end the start: the next one profits from it.
            chrome = await asyncio.shield(start)
        except ChromeNotStarted as problem:
            self._forget(start)
            raise visit.unavailable(problem.fact, problem.remedy) from None
        except asyncio.CancelledError:
            if start.cancelled():  # by a close, not by whoever asked
                raise visit.unavailable(Fact("browser.closed")) from None
            raise
        except BaseException:  # a start that failed in any way is not waited for again
            self._forget(start)
            raise
        if not chrome.alive:
            self._retire(start, chrome)
            return await self._running(visit)
        return chrome

    def _begin(self) -> asyncio.Task[Chrome]:
        from qiusuo.browser.chrome import Chrome  # noqa: PLC0415 - loads Playwright

        start = asyncio.create_task(Chrome.start(self._settings))
        # Nobody may be waiting any more when it fails.
        start.add_done_callback(lambda task: task.cancelled() or task.exception())
        return start

    def _look_after(self, chrome: Chrome) -> None:
        """After a visit: end what is broken, worn or too large, as soon as nobody uses it."""
        start = self._start
        if start is None or not start.done() or start.cancelled() or start.exception() or start.result() is not chrome:
            return
        if not chrome.alive:
            self._retire(start, chrome)
        elif chrome.visits >= self._settings.recycle_after:
            self._replace(start, chrome)
        elif chrome.visits % LOOK_AT_MEMORY_EVERY == 0:
            self._later(self._watch_memory(start, chrome))

    async def _watch_memory(self, start: asyncio.Task[Chrome], chrome: Chrome) -> None:
        used = used_megabytes(await chrome.process_ids())
        if used is not None and used > self._settings.memory_limit_mb and self._start is start:
            self._replace(start, chrome)

    def _replace(self, start: asyncio.Task[Chrome], chrome: Chrome) -> None:
        """Start a fresh browser beside the old one, so that the next search need not wait for it."""
        self._retire(start, chrome)
        self._start = self._begin()

    def _retire(self, start: asyncio.Task[Chrome], chrome: Chrome) -> None:
        self._forget(start)
        if chrome not in self._retired:
            self._retired.add(chrome)
            self._later(self._close_when_free(chrome))

    async def _close_when_free(self, chrome: Chrome) -> None:
        await chrome.free.wait()
        await chrome.close()
        self._retired.discard(chrome)

    def _forget(self, start: asyncio.Task[Chrome]) -> None:
        if self._start is start:
            self._start = None

    def _stay(self) -> None:
        if self._idle_end is not None:
            self._idle_end.cancel()
            self._idle_end = None

    def _leave(self) -> None:
        self._stay()
        loop = asyncio.get_running_loop()
        self._idle_end = loop.call_later(self._settings.idle_seconds, self._end_if_idle)

    def _end_if_idle(self) -> None:
        start = self._start
        if start is None:
            return
        if not start.done():
            self._leave()
        elif not start.cancelled() and not start.exception():
            if start.result().free.is_set():
                self._retire(start, start.result())
            else:
                self._leave()

    async def memory_mb(self) -> float | None:
        return used_megabytes(await self.process_ids())

    async def counts(self) -> tuple[int, int]:
        chrome = await self._now()
        return (len(await chrome.process_ids()), chrome.pages) if chrome else (0, 0)

    async def process_ids(self) -> list[int]:
        chrome = await self._now()
        return await chrome.process_ids() if chrome else []

    async def _now(self) -> Chrome | None:
        if self._start is None:
            return None
        (found,) = await asyncio.gather(asyncio.shield(self._start), return_exceptions=True)
        return None if isinstance(found, BaseException) else found

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    async def close(self) -> None:
        """Close every browser, the retired ones too."""
        self._stay()
        self._closings += 1
        if self._start is not None and not self._start.done():
            # Nobody waits for a browser that is not there yet, and it may never come.
            self._start.cancel()
        chrome = await self._now()
        self._start = None
        every = [*self._retired, *([chrome] if chrome else [])]
        await asyncio.gather(*(chrome.close() for chrome in every))
        if self._chores:
            await asyncio.wait(self._chores, timeout=2)
        # The next loop, if there is one, begins anew.
        self._places = None


def _gone() -> type[TabGone]:
    from qiusuo.browser.tab import TabGone  # noqa: PLC0415 - loads Playwright

    return TabGone


def _end(thread: SyncBridge, keeper: _Keeper, owner: int) -> None:
    # A forked child has neither the thread nor the browser, only the memory of them.
    if not thread.running or os.getpid() != owner:
        return
    if thread.is_here:  # the garbage collector works on any thread
        thread.submit(keeper.close())
        return
    thread.run(keeper.close())
    thread.close()
