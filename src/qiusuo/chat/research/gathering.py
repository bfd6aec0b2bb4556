"""Finding what answers a sub-question: searches, the best pages, the passages in them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from qiusuo.chat.events import Stage
from qiusuo.chat.models.extractive import cleaned, keywords
from qiusuo.chat.progress import StepState
from qiusuo.chat.research.run import Numbered, Run
from qiusuo.chat.research.state import Found, Step
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.notices import reason_of
from qiusuo.errors import PageError, SearchError
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.pages import Page
from qiusuo.passages import ANSWERS_FROM, Passage, Text, coverage, pick
from qiusuo.tools.specs import MAX_PAGE_CHARS
from qiusuo.words import Fact

SHARE: Final = 0.6
"""So much of the time is for finding; the rest is for writing."""
PASSAGE_CHARS: Final = 3500
_PAGES_OF_ONE: Final = 4
_KEPT_SHARE: Final = 0.4
_READ_SECONDS: Final = 20.0
_FETCH: Final = "fetch_page"


class Gathering:
    """What all sub-questions of a research share while they are looked into side by side."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._share = max(1, min(_PAGES_OF_ONE, run.state.limits.pages // max(len(run.state.steps), 1)))
        self._wanted: dict[int, asyncio.Event] = {}
        """Pages that some sub-question reads or has read: another one waits for it instead."""

    async def find(self, step: Step) -> None:
        """Look into a sub-question; at the end it has its passages, or says that there are none."""
        run, began = self._run, time.perf_counter()
        try:
            async with asyncio.timeout(max(run.seconds_left - (1 - SHARE) * run.state.limits.seconds, 0)):
                await self._find(step)
        except TimeoutError:
            run.reached.add("seconds")
            if not step.passages:
                step.state = StepState.EMPTY
        step.ms += round((time.perf_counter() - began) * 1000)
        if step.passages:
            step.state = StepState.FOUND
        run.tell()

    async def _find(self, step: Step) -> None:
        query = cleaned(step.question)
        found = await self._search(step, query)
        if isinstance(found, list):
            await self._read(step, found)
        covered = coverage(step.question, _picked(self._run.context, step.question, _numbers(found)))
        other = keywords(query)
        if covered < ANSWERS_FROM and isinstance(found, list) and other and other != query:
            more = await self._search(step, other)
            if isinstance(more, list) and more:
                await self._read(step, more)
                found = [*found, *more]
        step.passages = await asyncio.to_thread(passages_for, self._run.context, step.question, _numbers(found))
        if not step.passages:
            step.state = StepState.FAILED if isinstance(found, SearchError) else StepState.EMPTY

    async def _search(self, step: Step, query: str) -> list[Numbered] | SearchError:
        self._run.tell_step(step, StepState.SEARCHING)
        found = await self._run.search(query)
        if isinstance(found, list):
            step.results += len(found)
        return found

    async def _read(self, step: Step, found: Sequence[Numbered]) -> None:
        """Read the first pages that nobody reads yet, and wait for those that another sub-question reads."""
        # What has details is quoted whole already.
        chosen = [each for each in found if each[1].details is None][: self._share]
        others = [self._wanted[number] for number, _ in chosen if number in self._wanted]
        mine = [each for each in chosen if each[0] not in self._wanted]
        mine = mine[: self._run.take_pages(len(mine))]
        done = asyncio.Event()
        self._wanted |= {number: done for number, _ in mine}
        self._run.tell_step(step, StepState.READING)
        try:
            read = await read_pages(self._run.context, mine) if mine else {}
        finally:
            done.set()
        self._run.context.pages.update((number, page.text) for number, page in read.items())
        for other in others:
            await other.wait()
        step.pages += sum(number in self._run.context.pages for number, _ in chosen)
        self._run.tell()


async def read_pages(context: Context, items: Sequence[tuple[int, SearchResultItem]]) -> dict[int, Page]:
    """Read pages side by side through the guarded reader; those that cannot be read are told and left out."""
    read = await asyncio.gather(*(_read_page(context, item) for _, item in items))
    return {number: page for (number, _), page in zip(items, read, strict=True) if page is not None}


async def _read_page(context: Context, item: SearchResultItem) -> Page | None:
    journal = context.journal
    number = journal.begin_round(_FETCH, item.url)
    journal.status(Stage.READING, item.url)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(_READ_SECONDS):
            page = await context.reader.read(item.url, max_chars=MAX_PAGE_CHARS)
    except SearchError as error:
        journal.fail_round(number, _FETCH, item.url, reason_of(error))
        return None
    except TimeoutError:
        journal.fail_round(number, _FETCH, item.url, PageError(Fact("turn.page_late", seconds=_READ_SECONDS)).told)
        return None
    took = round((time.perf_counter() - began) * 1000)
    [own] = context.sources.add(item.url, [item])
    journal.end_round(number, _FETCH, SearchResponse(item.url, (item,), "", search_time=took), [own])
    journal.page_was_read(item.url)
    return page


def passages_for(context: Context, question: str, numbers: Sequence[int]) -> list[Found]:
    """Return the passages of sources that answer a question, the best first."""
    return [Found(each.number, each.title, each.heading, each.text) for each in _picked(context, question, numbers)]


def _picked(context: Context, question: str, numbers: Sequence[int]) -> list[Passage]:
    known = context.sources.known.sources
    texts = [
        Text(number, known[number].title, context.pages.get(number) or known[number].snippet)
        for number in dict.fromkeys(numbers)
    ]
    found = pick(question, texts, PASSAGE_CHARS)
    return [each for each in found if each.score >= _KEPT_SHARE * found[0].score]


def _numbers(found: Sequence[Numbered] | SearchError) -> list[int]:
    return [] if isinstance(found, SearchError) else [number for number, _ in found]
