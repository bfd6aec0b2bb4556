"""What the engines that read result pages in a browser share: the search itself, and the reading of a page's tree."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self
from urllib.parse import urldefrag, urlencode, urlsplit

from qiusuo.browser import Browser, BrowserSettings, PageCircles, PageView, Visit, host_of, solved_hosts
from qiusuo.engines.allowance import Allowance
from qiusuo.engines.base import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, EngineOptions, EngineResults, SearchEngine
from qiusuo.engines.snippet_dates import read_date, split_date, utc_now
from qiusuo.errors import (
    BadResponse,
    Blocked,
    EngineError,
    EngineNotConfigured,
    RateLimited,
    RequestRejected,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http import HttpClient, check_base_url, parse_retry_after, told
from qiusuo.models import Query, SearchResultItem
from qiusuo.text import clean, visible
from qiusuo.words import Fact

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

logger = logging.getLogger(__name__)

TIMEOUT: Final = 5.0
"""Seconds for a search where nobody says how long it may take."""
MAX_PAGES: Final = 3
PAGE_SIZE: Final = 10
"""What a page counts for, however many results are on it."""
_ASIDE: Final = frozenset({"a", "button", "script", "style", "noscript", "svg", "select", "form"})
_INLINE: Final = frozenset({"b", "em", "font", "i", "mark", "span", "strong", "sub", "sup", "u", "wbr"})


class ResultPageEngine(SearchEngine):
    """An engine that opens result pages in the user's own browser, as a person would, and reads them.

    It asks for no more pages than the count needs, never tries again what was refused, and changes nothing of what the
    browser says of itself.
    """

    costs_money = False
    max_results = 30
    base_url: ClassVar[str] = ""
    path: ClassVar[str] = "/search"
    ready: ClassVar[str] = ""
    """CSS selector of what stands on a finished page: results, or a sign that there will be none."""
    patience: ClassVar[float] = 2.0
    """How long a page without it may take to show it; some load again by themselves at first."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        browser: Browser | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        check_base_url(base_url or self.base_url, self.name)
        self._root = (base_url or self.base_url).rstrip("/")
        self._timeout = timeout
        self._browser = browser or _named(self.name, Browser.found)
        self._owns_browser = browser is None
        self._clock = clock

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:
        settings = _named(cls.name, lambda: BrowserSettings.from_lookup(options.lookup))
        # One browser for all engines of a service.
        browser = http.companion(Browser, lambda: Browser(settings))
        return cls(base_url=options.base_url, timeout=options.timeout, browser=browser)

    @abstractmethod
    def parameters(self, query: Query, page: int) -> Mapping[str, object]:
        """Return what asks for a page, counted from 0; what is None is left out."""

    @abstractmethod
    def read(self, html: str, url: str) -> list[SearchResultItem]:
        """Read a result page, ``[]`` only if it says that nothing was found. "2 days ago" is before the engine's clock.

        Raises:
            EngineError: it is none.
        """

    def page_url(self, query: Query, page: int = 0) -> str:
        """Return the address of a result page."""
        asked = {name: value for name, value in self.parameters(query, page).items() if value is not None}
        return f"{self._root}{self.path}?{urlencode(asked)}"

    def reopened_at(self) -> float | None:
        return solved_hosts(self._browser.settings.cookies_file).get(host_of(self._root))

    async def search(self, query: Query, num_results: int) -> EngineResults:
        return await self.search_within(query, num_results, Allowance(self._timeout or TIMEOUT, margin=0.0))

    async def search_within(self, query: Query, num_results: int, allowance: Allowance) -> EngineResults:
        count = self.count(num_results)
        if self._timeout is not None:
            allowance.shorten(self._timeout)
        found: dict[str, SearchResultItem] = {}
        notes: list[Fact | str] = []
        for page in range(MAX_PAGES):
            try:
                items = await self._page(self.page_url(query, page), allowance)
            except EngineError as error:
                if not page:
                    raise
                notes.append(Fact("engine.page_missing", page=page + 1, reason=error.fact))
                break
            known = len(found)
            for item in items:
                found.setdefault(item.url, item)
            if len(found) >= count or len(found) == known:
                break
        return EngineResults(list(found.values())[:count], notes)

    async def _page(self, url: str, allowance: Allowance) -> list[SearchResultItem]:
        visit = Visit(url, self.name, self.ready, allowance.left(), self.patience, allowance.asked)
        try:
            view = await self._browser.view(visit)
        except SearchTimeout as late:
            raise self._late(late, allowance) from None
        except PageCircles:
            raise blocked(self.name, Fact("engine.endless_check", host=visit.host)) from None
        refusal = self._refusal(view, visit.host)
        if refusal is not None:
            raise refusal
        return self.read(view.html, view.url)

    def _late(self, late: SearchTimeout, allowance: Allowance) -> SearchTimeout:
        """Name the time that all pages share, and what would give them more of it."""
        fact = Fact(late.fact.code, **{**late.fact.values, "seconds": round(allowance.seconds, 1)})
        own = self._timeout is not None and allowance.seconds >= self._timeout and fact.code in _MORE_TIME_HELPS
        return type(late)(fact, engine=self.name, fix=Fact("engine.own_timeout", engine=self.name) if own else "")

    def _refusal(self, view: PageView, host: str) -> EngineError | None:
        """Judge the status. A page that asks for a person says so itself, whatever its status is."""
        status = view.status
        if status < 400:  # noqa: PLR2004 - HTTP
            return None
        try:
            self.read(view.html, view.url)
        except Blocked as blocked:
            return blocked
        except EngineError:
            pass
        common: dict[str, Any] = {"engine": self.name, "status": status}
        seen: dict[str, Any] = {"host": host, "status": status, "engine": self.name, "said": told("")}
        wait = parse_retry_after(view.retry_after)
        if status in {401, 403}:
            return Blocked(
                Fact("http.denied", **seen),
                fix=person_needed(self.name),
                commands=(solve_command(self.name),),
                **common,
            )
        if status == 429:  # noqa: PLR2004 - HTTP
            return RateLimited(Fact("http.slow_down", **seen), fix=OTHER_ENGINE, retry_after=wait, **common)
        if status >= 500:  # noqa: PLR2004 - HTTP
            return Unavailable(Fact("http.failed", **seen), retry_after=wait, **common)
        if status == 400:  # noqa: PLR2004 - HTTP
            return RequestRejected(Fact("http.request_refused", **seen), **common)
        return BadResponse(Fact("http.odd_status", **seen), fix=UPDATE, **common)

    async def aclose(self) -> None:
        if self._owns_browser:
            await self._browser.aclose()


# The others say themselves what to do, which is not to wait longer.
_MORE_TIME_HELPS: Final = frozenset({"http.timeout_answer", "browser.page_unfinished"})
OTHER_ENGINE: Final = Fact("engine.other_engine")
UPDATE: Final = Fact("engine.site_changed")


def solve_command(engine: str) -> str:
    """Return the command that lets a person answer what a site asks."""
    return "qiusuo google solve" + ("" if engine == "google" else f" --engine {engine}")


def person_needed(engine: str) -> Fact:
    """Say what a person can do about a block."""
    return Fact("engine.person_needed", command=solve_command(engine))


def blocked(engine: str, what: Fact) -> Blocked:
    """Return the error for a page that wants to see a person."""
    return Blocked(what, engine=engine, fix=person_needed(engine), commands=(solve_command(engine),))


def unknown_layout(engine: str, host: str) -> BadResponse:
    """Return the error for a page that is neither results nor the site's word for none."""
    return BadResponse(Fact("engine.unknown_layout", host=host), engine=engine, fix=UPDATE)


def parse(html: str) -> LexborHTMLParser:
    """Return the tree of a page."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - loaded by the first page

    return LexborHTMLParser(html)


def text_of(node: LexborNode | None) -> str:
    """Return a node's text in one line."""
    return " ".join(node.text(deep=True).split()) if node is not None else ""


def prose(node: LexborNode | None) -> str:
    """Return a node's running text: without links and buttons in it, with a blank between two blocks."""
    if node is None:
        return ""
    parts: list[str] = []
    _gather(node, parts)
    return " ".join("".join(parts).split())


def _gather(node: LexborNode, parts: list[str]) -> None:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            parts.append(child.text(deep=False))
        elif child.tag in _ASIDE:
            parts.append(" ")
        else:
            between = "" if child.tag in _INLINE else " "
            parts.append(between)
            _gather(child, parts)
            parts.append(between)


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes around ``node``, the nearest first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def link_around(node: LexborNode) -> LexborNode | None:
    """Return the node if it is a link, else the link in which it stands."""
    return node if node.tag == "a" else next((outer for outer in ancestors(node) if outer.tag == "a"), None)


def within(node: LexborNode, ids: frozenset[int]) -> bool:
    """Tell whether a node is one of those with these ids, or stands inside one."""
    return node.mem_id in ids or any(outer.mem_id in ids for outer in ancestors(node))


def ids_of(nodes: Iterable[LexborNode]) -> frozenset[int]:
    """Return what identifies these nodes within their tree."""
    return frozenset(node.mem_id for node in nodes)


def box_of(title: LexborNode, titles: frozenset[int], selector: str) -> LexborNode:
    """Return a result's box: the largest node around its title in which there is no other title."""
    box = title
    for outer in ancestors(title):
        if sum(1 for node in outer.css(selector) if node.mem_id in titles) > 1:
            break
        box = outer
    return box


def dated_part(box: LexborNode, snippet: str, now: datetime) -> tuple[str | None, str]:
    """Return the date that stands in an element of its own before a snippet, and the snippet without it."""
    for node in box.css("span, time"):
        text = text_of(node)
        if text and snippet.startswith(text) and (found := read_date(text, now)):
            return found, snippet[len(text) :].strip()
    return None, snippet


def longest_text(box: LexborNode, without: Iterable[LexborNode]) -> str:
    """Return the longest text of one paragraph in ``box``, outside the nodes ``without``."""
    left_out = ids_of(without)
    best = ""
    for node in box.css("div, span, p, td"):
        if within(node, left_out) or any(inner.mem_id in left_out for inner in node.css("*")):
            continue
        text = prose(node)
        if len(text) > len(best):
            best = text
    return best


def result(
    engine: str, title: str, url: str, snippet: str, now: datetime, *, date: str | None = None
) -> SearchResultItem | None:
    """Build one result out of a page's text; None (and a log line) where there is no title or web address.

    A date before the snippet is taken off it; it is the result's own where no other ``date`` is known.
    """
    if not title or not is_web_address(url):
        logger.info("%s: skipped a result without a usable title or address", engine)
        return None
    before, snippet = split_date(snippet, now)
    # Text of the page, no markup: a word like <div> in it must stay.
    return SearchResultItem(
        clean(escape(title, quote=False), MAX_TITLE_CHARS),
        visible(url),
        clean(escape(snippet, quote=False), MAX_SNIPPET_CHARS),
        published_at=date or before,
        engines=(engine,),
    )


def distinct(items: Iterable[SearchResultItem | None]) -> list[SearchResultItem]:
    """Return the results once each: links into one page differ in their fragment only."""
    kept: dict[str, SearchResultItem] = {}
    for item in items:
        if item is not None:
            kept.setdefault(urldefrag(item.url).url, item)
    return list(kept.values())


def is_web_address(url: str) -> bool:
    """Tell whether ``url`` is a whole http address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _named(engine: str, find: Any) -> Any:
    """Call ``find``; what is missing is missing for this engine."""
    try:
        return find()
    except EngineNotConfigured as problem:
        problem.engine = engine
        raise
