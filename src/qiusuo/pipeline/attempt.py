"""One attempt at one engine: may it be asked now, is there a place, and how did it end."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from qiusuo.engines.allowance import Allowance
from qiusuo.engines.base import EngineResults, SearchEngine, Storing
from qiusuo.errors import (
    BadResponse,
    EngineError,
    NotAsked,
    QuotaExceeded,
    RateLimited,
    SearchError,
    SearchTimeout,
)
from qiusuo.loops import PerLoop
from qiusuo.models import Attempt, Outcome, SearchResultItem
from qiusuo.pipeline.cooldown import Cooldowns, Cooling
from qiusuo.pipeline.limits import Pace
from qiusuo.pipeline.quota import MonthlyQuota
from qiusuo.pipeline.request import SearchRequest, filter_results
from qiusuo.tracing import span
from qiusuo.words import Fact, as_fact

logger = logging.getLogger(__name__)

# How much of its time a search may wait for its turn in the queue of a quota: the rest is for the engine.
QUEUE_SHARE = 0.6


@dataclass(frozen=True)
class Lane:
    """An engine with everything that governs its use."""

    engine: SearchEngine
    quota: MonthlyQuota | None = None
    pace: Pace | None = None
    max_concurrency: int = 10
    storing: Storing = Storing.SHARED

    @cached_property
    def name(self) -> str:
        return self.engine.name

    @cached_property
    def places(self) -> PerLoop[asyncio.Semaphore]:
        """The places for requests in flight."""
        return PerLoop(lambda: asyncio.Semaphore(self.max_concurrency))


class Tried(NamedTuple):
    """An attempt and what it brought; ``items`` is None after a failure. ``related``: what others ask beside it."""

    lane: Lane
    attempt: Attempt
    items: list[SearchResultItem] | None = None
    related: tuple[str, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether something was found that is more than related to the question."""
        return any(not item.related for item in self.items or ())


class Attempts:
    """Makes attempts and keeps the engines' records. Silence for less than ``fair_time`` seconds is not recorded."""

    def __init__(self, cooldowns: Cooldowns, *, clock: Callable[[], float], fair_time: float = 0.0) -> None:
        self.cooldowns = cooldowns
        self._clock = clock
        self._fair_time = fair_time

    async def make(self, lane: Lane, request: SearchRequest, budget: float, course: Allowance | None = None) -> Tried:
        """Ask one engine, within ``budget`` seconds, and report how it ended. Failures are reported, not raised.

        ``course`` tells a caller meanwhile whether the engine is being asked yet.
        """
        with span("engine", engine=lane.name) as told:
            tried = await self._make(lane, request, budget, course)
            told.note(
                outcome=tried.attempt.outcome.value, skipped=tried.attempt.skipped, results=len(tried.items or ())
            )
            if tried.items is None:
                told.fail(tried.attempt.outcome.value)
            return tried

    async def _make(self, lane: Lane, request: SearchRequest, budget: float, course: Allowance | None) -> Tried:
        started = self._clock()
        course = course or Allowance(budget, self._clock)
        cooling = await self.cooldowns.admit(lane.name)
        if cooling is not None:
            return self._resting(lane, cooling)
        try:
            async with asyncio.timeout(budget), lane.places.get():
                # Learnt while waiting for a place: a dead engine is not asked by the whole queue.
                cooling = self.cooldowns.resting(lane.name)
                if cooling is not None:
                    return self._resting(lane, cooling)
                refusal = await self._take_turn(lane, started, budget)
                if refusal is not None:
                    return Tried(lane, failed_attempt(lane.name, refusal, self._ms(started), skipped=True))
                found = await lane.engine.search_within(request.query, request.num_results, course)
            tried = self._answered(lane, request, found, started)
        except NotAsked as error:
            self.cooldowns.not_asked(lane.name)
            return Tried(lane, failed_attempt(lane.name, error, self._ms(started), skipped=True))
        except SearchError as error:
            # One caller's hurry, or a turn that came late, says nothing of the engine.
            had = self._time_of_its_own(course, started, budget)
            hurried = isinstance(error, SearchTimeout) and had < self._fair_time
            return await self._failed(lane, error, started, counts=not hurried)
        except TimeoutError:
            if not course.was_asked:
                return Tried(lane, failed_attempt(lane.name, _no_place(lane, budget), self._ms(started), skipped=True))
            had = self._time_of_its_own(course, started, budget)
            return await self._failed(lane, lane.engine.too_late(had), started, counts=had >= self._fair_time)
        except Exception as fault:  # an engine (perhaps a plug-in) broke: the others must go on
            logger.exception("the engine %s broke", lane.name)
            broken = BadResponse(Fact("search.engine_broke", fault=type(fault).__name__), engine=lane.name)
            return await self._failed(lane, broken, started)
        await self.cooldowns.succeeded(lane.name)
        return tried

    async def overtaken(self, lane: Lane, started: float, winner: str, *, asked: bool, counts: bool) -> Attempt:
        """Report an engine that was still silent when another had answered; it is recorded if that ``counts``.

        One that was not ``asked`` yet had no request.
        """
        ms = self._ms(started)
        error = SearchTimeout(Fact("search.overtaken", seconds=f"{ms / 1000:.1f}", winner=winner), engine=lane.name)
        if counts:
            await self.cooldowns.failed(lane.name, error)
        return failed_attempt(lane.name, error, ms, skipped=not asked)

    def _answered(self, lane: Lane, request: SearchRequest, found: list[SearchResultItem], started: float) -> Tried:
        query = request.query
        items, dropped = filter_results(request, found)
        notes = tuple(map(as_fact, lane.engine.notes(query, request.num_results)))
        if isinstance(found, EngineResults):
            notes += found.notes
        if dropped:
            notes += (Fact("search.others_dropped", count=dropped),)
        attempt = Attempt(lane.name, Outcome.OK if items else Outcome.EMPTY, self._ms(started), notes=notes)
        items = items[: request.num_results]
        for place, item in enumerate(items):
            if not item.engines:
                items[place] = replace(item, engines=(lane.name,))
        return Tried(lane, attempt, items, found.related if isinstance(found, EngineResults) else ())

    async def _failed(self, lane: Lane, error: SearchError, started: float, *, counts: bool = True) -> Tried:
        if counts:
            await self.cooldowns.failed(lane.name, error)
        logger.warning("the engine %s failed: %s", lane.name, error)
        return Tried(lane, failed_attempt(lane.name, error, self._ms(started)))

    def _resting(self, lane: Lane, cooling: Cooling) -> Tried:
        wait = self.cooldowns.seconds_left(cooling)
        resting = Fact("search.resting", seconds=math.ceil(wait), reason=cooling.fact)
        attempt = Attempt(
            lane.name, cooling.outcome, 0, resting, cooling.remedy, wait, skipped=True, commands=cooling.commands
        )
        return Tried(lane, attempt)

    async def _take_turn(self, lane: Lane, started: float, budget: float) -> EngineError | None:
        """Wait for the engine's pace and quota; return the refusal where that would take too long."""
        if lane.pace is not None:
            while wait := await lane.pace.take():
                if wait > budget:
                    paced = Fact("search.paced", seconds=f"{wait:.1f}", engine=lane.name)
                    return RateLimited(paced, engine=lane.name, retry_after=wait)
                await asyncio.sleep(wait)
        # Last, since it counts: a search that is not made must cost nothing.
        if lane.quota is not None:
            left = max(budget - (self._clock() - started), 0.0)
            try:
                await lane.quota.take(left * QUEUE_SHARE)
            except QuotaExceeded as refusal:
                return refusal
        return None

    def _time_of_its_own(self, course: Allowance, started: float, budget: float) -> float:
        """Return what an engine had of the time after the waiting for its turn."""
        waited = self._clock() - started - course.silence() if course.was_asked else 0.0
        return budget - waited

    def _ms(self, started: float) -> int:
        return round((self._clock() - started) * 1000)


def _no_place(lane: Lane, budget: float) -> SearchTimeout:
    return SearchTimeout(Fact("search.no_place", seconds=f"{budget:.1f}", engine=lane.name), engine=lane.name)


def failed_attempt(engine: str, error: SearchError, ms: int = 0, *, skipped: bool = False) -> Attempt:
    """Return the line of the receipt for an engine that failed."""
    known = error.fact, error.remedy, error.retry_after
    return Attempt(engine, error.outcome, ms, *known, skipped=skipped, commands=error.commands)
