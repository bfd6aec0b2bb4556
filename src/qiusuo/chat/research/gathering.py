"""Finding what answers a sub-question: searches, the best pages, the passages in them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from qiusuo.chat.events.progress import StepState
from qiusuo.chat.models.extractive import cleaned, keywords
from qiusuo.chat.research.run import Numbered, Run
from qiusuo.chat.research.state import Found, Step
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.sources.files import numbered_parts, search_parts
from qiusuo.chat.turns.sources.reading import Reads, read_pages
from qiusuo.errors import SearchError
from qiusuo.pages import can_read
from qiusuo.passages import ANSWERS_FROM, Passage, Text, coverage, pick

SHARE: Final = 0.6
"""So much of the time is for finding; the rest is for writing."""
PASSAGE_CHARS: Final = 3500
_PAGES_OF_ONE: Final = 4
_KEPT_SHARE: Final = 0.4
_READ_SECONDS: Final = 15.0
_EARLIER: Final = 0.8
_FIRST_WHOLE: Final = 2


class Gathering:
    """What all sub-questions of a research share while they are looked into side by side."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._share = max(1, min(_PAGES_OF_ONE, run.state.limits.pages // max(len(run.state.steps), 1)))
        self._wanted: dict[int, asyncio.Event] = {}
        """Pages that some sub-question reads or has read: another one waits for it instead."""
        self._found: dict[int, set[int]] = {}
        self._reads: dict[int, list[Reads]] = {}

    @property
    def _seconds_left(self) -> float:
        """The seconds that are left for finding."""
        return max(self._run.seconds_left - (1 - SHARE) * self._run.state.limits.seconds, 0)

    async def find(self, step: Step) -> None:
        """Look into a sub-question; at the end it has its passages, or says that there are none."""
        run, began = self._run, time.perf_counter()
        try:
            async with asyncio.timeout(self._seconds_left):
                await self._find(step)
        except TimeoutError:
            run.reached.add("seconds")
            step.state = StepState.EMPTY
            found = sorted(self._found.get(step.number, ()))
            step.passages = await asyncio.to_thread(passages_for, run, step.question, found)
        step.ms += round((time.perf_counter() - began) * 1000)
        if step.passages:
            step.state = StepState.FOUND
        for reads in self._reads.get(step.number, ()):
            reads.tell({found.number for found in step.passages})
        for number in sorted({found.number for found in step.passages} & run.context.pages.keys()):
            run.context.journal.page_was_read(run.context.sources.known.sources[number].url)
        run.tell()

    async def _find(self, step: Step) -> None:
        query = cleaned(step.question)
        in_files = await self._look_in_files(step)
        if in_files and await asyncio.to_thread(_covered, self._run.context, step.question, in_files) >= ANSWERS_FROM:
            step.passages = await asyncio.to_thread(passages_for, self._run, step.question, in_files)
            return
        found = await self._search(step, query)
        if isinstance(found, list):
            await self._read(step, found)
        covered = await asyncio.to_thread(_covered, self._run.context, step.question, _numbers(found))
        other = keywords(query)
        if covered < ANSWERS_FROM and isinstance(found, list) and other and other != query:
            more = await self._search(step, other)
            if isinstance(more, list) and more:
                await self._read(step, more)
                found = [*found, *more]
        numbers = [*in_files, *_numbers(found)]
        step.passages = await asyncio.to_thread(passages_for, self._run, step.question, numbers)
        if not step.passages:
            step.state = StepState.FAILED if isinstance(found, SearchError) else StepState.EMPTY

    async def _look_in_files(self, step: Step) -> list[int]:
        """Return the numbers of the parts of files that have something on a sub-question."""
        context, began = self._run.context, time.perf_counter()
        if not context.ask.files:
            return []
        chosen = await asyncio.to_thread(search_parts, step.question, context.ask.files, PASSAGE_CHARS)
        numbers = numbered_parts(context, step.question, chosen, round((time.perf_counter() - began) * 1000)).numbers
        self._found.setdefault(step.number, set()).update(numbers)
        step.results = len(self._found[step.number])
        return numbers

    async def _search(self, step: Step, query: str) -> list[Numbered] | SearchError:
        self._run.tell_step(step, StepState.SEARCHING)
        found = await self._run.search(query)
        if isinstance(found, list):
            self._found.setdefault(step.number, set()).update(_numbers(found))
            step.results = len(self._found[step.number])
        return found

    async def _read(self, step: Step, found: Sequence[Numbered]) -> None:
        """Read the first pages that nobody reads yet, and wait for those that another sub-question reads."""
        # What has details is quoted whole already.
        silent = self._run.context.recent_pages.is_silent
        chosen = [each for each in found if each[1].details is None and not silent(each[1].url)][: self._share]
        if not can_read():
            return
        others = [self._wanted[number] for number, _ in chosen if number in self._wanted]
        mine = [each for each in chosen if each[0] not in self._wanted]
        mine = mine[: self._run.take_pages(len(mine))]
        done = asyncio.Event()
        self._wanted |= {number: done for number, _ in mine}
        self._run.tell_step(step, StepState.READING)
        try:
            if mine:
                # They end before the time for finding does, so that it is told which pages were late.
                seconds = min(_READ_SECONDS, _EARLIER * self._seconds_left)
                reads = await read_pages(self._run.context, mine, keep=self._run.may_keep, seconds=seconds)
                self._reads.setdefault(step.number, []).append(reads)
        finally:
            done.set()
        for other in others:
            await other.wait()
        step.pages = len(self._found[step.number] & self._run.context.pages.keys())
        self._run.tell()


def passages_for(run: Run, question: str, numbers: Sequence[int]) -> list[Found]:
    """Return the passages of sources that answer a question, the best first.

    What an engine that has whole texts puts first is among them, whatever words it has.
    """
    picked = _picked(run.context, question, numbers)
    found = [Found(each.number, each.title, each.heading, each.text) for each in picked]
    first = [number for number in dict.fromkeys(numbers) if run.answers_whole(number)][:_FIRST_WHOLE]
    known = run.context.sources.known.sources
    return [
        *(Found(number, known[number].title, "", run.whole[number].text) for number in first),
        *(each for each in found if each.number not in first),
    ]


def _picked(context: Context, question: str, numbers: Sequence[int]) -> list[Passage]:
    known = context.sources.known.sources
    texts = [
        Text(number, known[number].title, context.pages.get(number) or known[number].snippet)
        for number in dict.fromkeys(numbers)
    ]
    found = pick(question, texts, PASSAGE_CHARS)
    return [each for each in found if each.score >= _KEPT_SHARE * found[0].score]


def _covered(context: Context, question: str, numbers: Sequence[int]) -> float:
    return coverage(question, _picked(context, question, numbers))


def _numbers(found: Sequence[Numbered] | SearchError) -> list[int]:
    return [] if isinstance(found, SearchError) else [number for number, _ in found]
