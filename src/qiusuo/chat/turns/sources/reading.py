"""Reads the best pages of a search side by side, within one deadline, and weighs what they have on the question."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from qiusuo.chat.depth import Depth
from qiusuo.chat.events.page_reads import PageRead, PageState
from qiusuo.chat.events.turn import Stage
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.history import CHARS_PER_TOKEN
from qiusuo.chat.turns.sources.evidence import LEAST_CHARS, MOST_CHARS, Evidence, body, weigh
from qiusuo.citations.meaning.wording import is_chinese
from qiusuo.errors import SearchError
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.pages import Page, can_read
from qiusuo.passages import MOST_READ, Text, asks_for_much
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

MOST_PAGES: Final = {Depth.AUTO: 3, Depth.READ: 5}
_ON_THE_WEB: Final = ("http://", "https://")

Numbered = tuple[int, SearchResultItem]
"""A result and the number of its source."""


@dataclass(slots=True)
class Reads:
    """Pages by the number of their source, and how it is told what became of each."""

    context: Context
    number: int
    entries: dict[int, PageRead]
    pages: dict[int, Page] = field(default_factory=dict)
    ms: int = 0

    def tell(self, used: Collection[int]) -> None:
        """Tell which of the pages are used."""
        for number in self.pages:
            state = PageState.USED if number in used else PageState.UNUSED
            self.entries[number] = replace(self.entries[number], state=state)
        self.context.journal.end_reading(self.number, tuple(self.entries.values()), self.ms)


async def read_pages(
    context: Context, sources: Sequence[Numbered], *, keep: bool = True, seconds: float | None = None
) -> Reads:
    """Read the pages of sources side by side; what has not come after ``seconds`` is done without.

    ``keep``: they may be kept for the next question.
    Their texts are noted for the check of the answer. Whoever calls tells at the end which were used.
    """
    entries = {
        number: PageRead(number, item.url, item.source, item.title)
        for number, item in sources
        if item.url.startswith(_ON_THE_WEB)
    }
    reads = Reads(context, context.journal.begin_reading(tuple(entries.values())), entries)
    context.journal.status(Stage.READING)
    started = time.perf_counter()
    limit = context.settings.read_timeout if seconds is None else seconds
    tasks = {asyncio.create_task(_read(reads, number, started, keep=keep)): number for number in entries}
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=limit)
        for task, number in tasks.items():
            if not task.done():
                _was_late(reads, number, limit)
            elif (fault := task.exception()) is not None:
                _broke(reads, number, fault)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    reads.ms = _since(started)
    return reads


async def gather(context: Context, response: SearchResponse, numbers: Sequence[int], *, tokens: int) -> Evidence | None:
    """Return what the results of a search have on the question; pages are read where the depth wants it.

    ``tokens`` is what the passages may take in the prompt.

    None where the results are the text itself (articles of law): there is nothing behind them to read.
    """
    sources = [(number, item) for number, item in zip(numbers, response.results, strict=True) if item.details is None]
    if not sources or context.quotes_whole(response.provider):
        return None
    query, texts = context.query, [_snippet(number, item) for number, item in sources]
    evidence = await asyncio.to_thread(weigh, query, texts)
    if not _wants_pages(context, evidence):
        _tell(context, evidence, ())
        return evidence
    strong = sorted(sources, key=lambda source: source[0] in evidence.weak)
    silent = [source for source in strong if context.recent_pages.is_silent(source[1].url)]
    best = [source for source in strong if source not in silent][: MOST_PAGES[context.depth]]
    reads = await read_pages(context, best, keep=context.may_keep_pages(response.provider))
    for number, item in silent[: MOST_PAGES[context.depth] - len(best)]:
        resting = Fact("page_read.resting", host=item.source)
        reads.entries[number] = PageRead(number, item.url, item.source, item.title, PageState.FAILED, fact=resting)
    for number, page in reads.pages.items():
        place = next(place for place, text in enumerate(texts) if text.number == number)
        texts[place] = _with_page(texts[place], page)
        context.pages[number] = texts[place].text  # a sentence of the snippet is a sentence of the source
    room = tokens if is_chinese(query) else CHARS_PER_TOKEN * tokens
    evidence = await asyncio.to_thread(weigh, query, texts, max(LEAST_CHARS, min(room, MOST_CHARS)))
    reads.tell(evidence.passages)
    _tell(context, evidence, reads.pages)
    return evidence


def _wants_pages(context: Context, evidence: Evidence) -> bool:
    if context.depth is Depth.SNIPPETS or not can_read():
        return False
    return context.depth is Depth.READ or not evidence.amply or asks_for_much(context.query)


def _tell(context: Context, evidence: Evidence, read: Collection[int]) -> None:
    """Show on the cards what is used of each source, and which ones hardly touch the question."""
    passages = {number: tuple(body(one) for one in evidence.of(number)) for number in read}
    context.journal.weighed(passages, evidence.weak)


def _snippet(number: int, item: SearchResultItem) -> Text:
    return Text(number, item.title, item.snippet, item.published_at or "")


def _with_page(text: Text, page: Page) -> Text:
    """Return the text of a page; the snippet stays where the page does not have it (a summary, another version)."""
    own = text.text if text.text and text.text[:40] not in page.text else ""
    return Text(
        text.number, text.title or page.title, f"{page.text}\n\n{own}".strip(), text.date or page.published_at or ""
    )


async def _read(reads: Reads, number: int, started: float, *, keep: bool) -> None:
    context, entry = reads.context, reads.entries[number]
    try:
        found = await context.recent_pages.read(entry.url, max_chars=MOST_READ, keep=keep)
    except SearchError as error:
        fact = error.told
        reads.entries[number] = replace(entry, state=PageState.FAILED, ms=_since(started), fact=fact)
        return
    if not found.page.text.strip():
        empty = Fact("page_read.no_text")
        reads.entries[number] = replace(entry, state=PageState.FAILED, ms=_since(started), fact=empty)
        return
    reads.entries[number] = replace(entry, state=PageState.UNUSED, ms=_since(started), cached=found.cached)
    reads.pages[number] = found.page
    context.pages[number] = found.page.text


def _was_late(reads: Reads, number: int, seconds: float) -> None:
    entry = reads.entries[number]
    late = Fact("page_read.late", host=entry.domain, seconds=seconds)
    reads.entries[number] = replace(entry, state=PageState.FAILED, ms=round(seconds * 1000), fact=late)
    reads.context.recent_pages.was_late(entry.url)


def _broke(reads: Reads, number: int, fault: BaseException) -> None:
    """A fault of ours: the answer goes on without the page, and the log tells more."""
    logger.error("a page cannot be read for a fault of ours", exc_info=fault)
    broken = Fact("turn.tool_broke", tool="fetch_page")
    reads.entries[number] = replace(reads.entries[number], state=PageState.FAILED, fact=broken)


def _since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
