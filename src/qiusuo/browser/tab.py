"""One page of the browser, used for one visit after the other. Imports Playwright, so only ``chrome.py`` imports it."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Any, Final, Self

from playwright.async_api import BrowserContext, CDPSession, Error, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from qiusuo.browser.driver import CLOSE_SECONDS
from qiusuo.browser.views import PageCircles, PageView, Visit
from qiusuo.errors import BadResponse, EngineError
from qiusuo.http import MAX_BODY_BYTES
from qiusuo.words import Fact, as_fact

# Images and fonts are switched off in the browser itself.
_NOT_LOADED: Final = ("*.mp4*", "*.webm*", "*.m3u8*", "*.mp3*", "*.m4a*", "*.ogg*", "*favicon.ico*")

# The page without what is no text of it: a fifth of the size, so it crosses to us in a fifth of the time.
_SNAPSHOT: Final = """([ready, limit]) => {
  const found = document.querySelector(ready) !== null;
  const copy = document.documentElement.cloneNode(true);
  for (const node of copy.querySelectorAll("script, style, noscript, template, svg, link")) node.remove();
  const html = copy.outerHTML;
  const [navigation] = performance.getEntriesByType("navigation");
  return {
    found, url: location.href, html: html.length > limit ? "" : html,
    status: navigation ? navigation.responseStatus : 0,
  };
}"""

_SIZE: Final = 'ready => document.querySelector(ready) ? document.getElementsByTagName("*").length : 0'

# A page that only a script holds up is taken as it is when it has not grown for so long.
LOOK_EVERY: Final = 0.1
QUIET_SECONDS: Final = 0.5
# So long before the time is over a page that still loads is looked at once more.
LAST_LOOK: Final = 0.3
_NO_TIME: Final = 0.02

_NET_ERROR: Final = re.compile(r"net::(ERR_\w+)")
_STATUS_WITHOUT_PAGE: Final = "ERR_HTTP_RESPONSE_CODE_FAILURE"
_NO_PAGE: Final = re.compile(
    r"ABORTED|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED|CONTENT_DECODING|INVALID_|TOO_MANY_REDIRECTS|RESPONSE_HEADERS"
    r"|UNSAFE_REDIRECT|HTTP2_"
)
_CONNECTION: Final = {
    "ERR_NAME_NOT_RESOLVED": "http.dns",
    "ERR_CONNECTION_REFUSED": "http.refused",
    "ERR_ADDRESS_UNREACHABLE": "http.no_route",
    "ERR_INTERNET_DISCONNECTED": "http.no_route",
}
_TOO_LARGE: Final = "too large"
_CIRCLES: Final = "circles"
_CRASHED: Final = "crashed"
# Some pages load once more by themselves, to show that they can run scripts. More than twice is a circle.
MAX_DOCUMENTS: Final = 3


class TabGone(Exception):
    """The page's process, or the whole browser, is no longer there; a string has Playwright's own words."""

    def __init__(self, why: Fact | str) -> None:
        super().__init__(why)
        self.fact = as_fact(why)


class Tab:
    """A page, and what the browser tells of the document that it loads."""

    def __init__(self, page: Page, wire: CDPSession) -> None:
        self.page = page
        self.settled = False
        """Whether the last page was a finished one. Others may go on loading, and must not be left open."""
        self._wire = wire
        self._document: str | None = None
        self._documents = 0
        self._frame: str | None = None
        self._status = 0
        self._retry_after: str | None = None
        self._size = 0
        self._received = False
        self._loaded = False
        self._broken: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        page.on("crash", lambda _page: self._break(_CRASHED))
        wire.on("Network.responseReceived", self._on_response)
        wire.on("Network.dataReceived", self._on_data)
        wire.on("Network.loadingFinished", self._on_finish)
        wire.on("Network.loadingFailed", self._on_failure)

    @classmethod
    async def open(cls, context: BrowserContext) -> Self:
        """Open a new page."""
        page = await context.new_page()
        wire = await context.new_cdp_session(page)
        tab = cls(page, wire)
        await wire.send("Network.enable")
        await wire.send("Network.setBlockedURLs", {"urls": list(_NOT_LOADED)})
        return tab

    async def view(self, visit: Visit, deadline: float) -> PageView:
        """Load a page and return it; at the ``deadline``, a moment of the event loop, with what is there.

        Raises:
            TabGone: the page's process ended.
            PageCircles: the page loads itself again and again.
            EngineError: the page cannot be had.
        """
        self.settled = False
        self._document, self._documents, self._status, self._size, self._retry_after = None, 0, 0, 0, None
        self._received = self._loaded = False
        self._broken = asyncio.get_running_loop().create_future()
        work = asyncio.ensure_future(self._load(visit))
        try:
            # Of a document that breaks off the browser shows what it has, and never says that it is done.
            either: set[asyncio.Future[Any]] = {work, self._broken}
            last_look = deadline - min(LAST_LOOK, visit.timeout / 10)
            if not await _first(either, last_look):
                shot = await self._last_look(visit, deadline)
                if shot is not None:
                    return self._seen(shot)
                if not await _first(either, deadline - _NO_TIME):
                    raise self._late(visit)
            if self._broken.done():
                raise self._failure(visit)
            return work.result()
        except Error as error:
            if _STATUS_WITHOUT_PAGE in str(error) and self._status:
                return PageView(visit.url, self._status, "", self._retry_after)
            if "ERR_ABORTED" in str(error) and not self._status:
                raise TabGone(Fact("browser.page_crashed")) from None  # nothing had come that could have been refused
            raise _translated(str(error), visit) from None
        finally:
            # Where nobody waits for it any more it ends when the page is closed.
            work.add_done_callback(_claim)

    async def _load(self, visit: Visit) -> PageView:
        await self.page.goto(visit.url, wait_until="commit", timeout=0)
        await self._until_read(visit)
        return await self._look(visit)

    async def _until_read(self, visit: Visit) -> None:
        """Wait until the page is parsed, or only a script keeps it from that and what is wanted is there already."""
        parsed = asyncio.ensure_future(self.page.wait_for_load_state("domcontentloaded", timeout=0))
        parsed.add_done_callback(_claim)
        clock = asyncio.get_running_loop().time
        size, since = 0, clock()
        while not await _first({parsed}, clock() + LOOK_EVERY):
            found = await self._size_of(visit) if self._received else 0
            if found != size or not found:
                size, since = found, clock()
            elif clock() - since >= QUIET_SECONDS:
                return
        parsed.result()
        self._loaded = True

    async def _size_of(self, visit: Visit) -> int:
        """Return how many elements the page has by now; 0 while what is wanted is not among them."""
        try:
            count: int = await self.page.evaluate(_SIZE, visit.ready)
        except Error:
            return 0  # it is leaving for another page
        return count

    async def _last_look(self, visit: Visit, deadline: float) -> Any:
        """Return what the page shows when the time is nearly over, if that is worth reading."""
        look = asyncio.ensure_future(self.page.evaluate(_SNAPSHOT, [visit.ready, MAX_BODY_BYTES]))
        look.add_done_callback(_claim)
        if not self._status or not await _first({look}, deadline - _NO_TIME) or look.exception() is not None:
            return None
        shot = look.result()
        return shot if shot["html"] and (shot["found"] or self._loaded) else None

    async def _look(self, visit: Visit) -> PageView:
        shot = await self._snapshot(visit)
        if not shot["found"] and self._status < 400:  # noqa: PLR2004 - HTTP: an error page has nothing to wait for
            with suppress(PlaywrightTimeout):
                await self.page.wait_for_selector(visit.ready, state="attached", timeout=visit.patience * 1000)
            shot = await self._snapshot(visit)
        self.settled = shot["found"] and self._loaded
        if not shot["html"]:
            self._break(_TOO_LARGE)
        return self._seen(shot)

    def _seen(self, shot: Any) -> PageView:
        return PageView(shot["url"], shot["status"] or self._status, shot["html"], self._retry_after)

    async def _snapshot(self, visit: Visit) -> Any:
        for last in (False, False, True):
            try:
                return await self.page.evaluate(_SNAPSHOT, [visit.ready, MAX_BODY_BYTES])
            except Error as error:
                # The page was leaving for another one: that one is wanted.
                if last or "context was destroyed" not in str(error):
                    raise
                await self.page.wait_for_load_state("domcontentloaded", timeout=0)
        raise AssertionError("the last try returns or raises")

    async def close(self) -> bool:
        """Close the page; tell whether it went."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.page.close()
        except TimeoutError:
            return False
        except Error:
            pass  # it is gone already
        return True

    def _late(self, visit: Visit) -> EngineError:
        code = "browser.page_unfinished" if self._status else "http.timeout_answer"
        return visit.timed_out(code, host=visit.host)

    def _failure(self, visit: Visit) -> Exception:
        why = self._broken.result()
        if why == _CIRCLES:
            return PageCircles(visit.url)
        if why == _CRASHED:
            return TabGone(Fact("browser.page_crashed"))
        if why == _TOO_LARGE:
            fact = Fact("http.too_large", host=visit.host, limit=MAX_BODY_BYTES // 1024)
        else:
            fact = Fact("http.broke_off", host=visit.host)
        return BadResponse(fact, engine=visit.engine)

    def _on_response(self, event: dict[str, Any]) -> None:
        if event["type"] != "Document" or event["requestId"] != event["loaderId"]:
            return
        # The first document of a visit is the page's own; frames come behind it.
        if self._document is None:
            self._frame = event.get("frameId")
        if event.get("frameId") == self._frame:
            self._documents += 1
            if self._documents > MAX_DOCUMENTS:
                self._break(_CIRCLES)
            self._size = 0
            self._received = False
            self._document = event["requestId"]
            self._status = event["response"]["status"]
            headers = {name.lower(): value for name, value in event["response"]["headers"].items()}
            self._retry_after = headers.get("retry-after")

    def _on_data(self, event: dict[str, Any]) -> None:
        if event["requestId"] == self._document:
            self._size += event["dataLength"]
            if self._size > MAX_BODY_BYTES:
                self._break(_TOO_LARGE)

    def _on_finish(self, event: dict[str, Any]) -> None:
        if event["requestId"] == self._document:
            self._received = True

    def _on_failure(self, event: dict[str, Any]) -> None:
        failed = event["requestId"] == self._document and not event.get("canceled")
        if failed and _STATUS_WITHOUT_PAGE not in event["errorText"]:
            self._break(event["errorText"])

    def _break(self, why: str) -> None:
        if not self._broken.done():
            self._broken.set_result(why)


async def _first(futures: set[asyncio.Future[Any]], until: float) -> bool:
    """Wait for the first of these until a moment of the event loop; tell whether it came."""
    left = max(until - asyncio.get_running_loop().time(), 0.0)
    done, _ = await asyncio.wait(futures, timeout=left, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


def _claim(future: asyncio.Future[Any]) -> None:
    """Look at how it ended, for perhaps nobody else does any more."""
    if not future.cancelled():
        future.exception()


def _translated(text: str, visit: Visit) -> EngineError | TabGone:
    found = _NET_ERROR.search(text)
    if found is None:
        return TabGone(text.partition("\n")[0])
    name = found[1]
    if _NO_PAGE.search(name):
        return BadResponse(Fact("browser.no_page", host=visit.host, words=name), engine=visit.engine)
    if "TIMED_OUT" in name:
        return visit.timed_out("browser.no_connection", host=visit.host, words=name)
    code = _CONNECTION.get(name, "browser.connect_failed")
    return visit.unavailable(Fact(code, host=visit.host, words=name))
