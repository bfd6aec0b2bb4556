"""Order and failover within one deadline.

The engines are tried in their order. A failure starts the next one at once. An engine that stays silent is overtaken:
after the hedge delay the next one starts beside it, the first good answer wins and the loser is cancelled. Between two
engines that both cost money nothing is sent twice (unless the settings say so); there the silent one gets a share of
the time that is left, and only then its successor starts.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qiusuo.engines.allowance import Allowance
from qiusuo.models import Attempt, Outcome
from qiusuo.pipeline.attempt import Attempts, Lane, Tried
from qiusuo.pipeline.request import SearchRequest
from qiusuo.words import Fact

# What an engine that may not be hedged gets of the time left, while others wait behind it.
SHARE = 0.6
# Of what is related and no answer at most so many results stand before the answer of another engine.
MOST_RELATED = 2
# With less than this no new attempt makes sense.
LEAST_BUDGET = 0.05


@dataclass(slots=True)
class _Running:
    lane: Lane
    place: int
    started: float
    course: Allowance
    others_wait_until: float
    """Others that may not be asked beside it wait so long, and no longer."""


@dataclass(frozen=True, slots=True)
class Failover:
    """Runs the attempts of one search."""

    attempts: Attempts
    hedge_delay: float
    hedge_paid: bool
    clock: Callable[[], float]

    async def run(self, request: SearchRequest, lanes: Sequence[Lane]) -> tuple[Tried | None, list[Attempt]]:
        """Return the winning attempt (None if all failed) and the receipt in the order of starting."""
        if len(lanes) == 1:  # it has all the time, and what it does not find nobody else is asked for
            tried = await self.attempts.make(lanes[0], request, request.timeout)
            return None if tried.items is None else tried, [tried.attempt]
        return await _Race(self, request, lanes).run()

    def may_hedge(self, lane: Lane, successor: Lane) -> bool:
        """Tell whether ``successor`` may start while ``lane`` is still being asked.

        Not beside one on this machine: it may be slow once, while it loads, and until it has answered nothing goes out.
        """
        if not self.hedge_delay or lane.engine.local:
            return False
        return self.hedge_paid or not (lane.engine.costs_money and successor.engine.costs_money)


class _Race:
    """One search under way."""

    def __init__(self, failover: Failover, request: SearchRequest, lanes: Sequence[Lane]) -> None:
        self._failover = failover
        self._clock = failover.clock
        self._request = request
        self._waiting = deque(lanes)
        self._deadline = self._clock() + request.timeout
        self._running: dict[asyncio.Task[Tried], _Running] = {}
        self._receipt: dict[int, Attempt] = {}
        self._hedge_at: float | None = None
        self._empty: Tried | None = None
        self._related: Tried | None = None

    async def run(self) -> tuple[Tried | None, list[Attempt]]:
        winner: Tried | None = None
        try:
            while winner is None and (self._running or self._may_start()):
                if self._is_due():
                    self._start_next()
                else:
                    winner = await self._next_end()
            if winner is not None:
                await self._overtake(winner)
            else:
                self._name_the_rest()
        finally:
            await self._cancel_rest()
        return self._together(winner or self._empty), [self._receipt[place] for place in sorted(self._receipt)]

    def _may_start(self) -> bool:
        return bool(self._waiting) and self._deadline - self._clock() >= LEAST_BUDGET

    def _is_due(self) -> bool:
        hedge_now = self._hedge_at is not None and self._clock() >= self._hedge_at
        return (hedge_now or not self._running) and self._may_start()

    def _start_next(self) -> None:
        """Start the next engine."""
        lane = self._waiting.popleft()
        left = self._deadline - self._clock()
        hedged = bool(self._waiting) and self._may_run_beside(lane)
        # Whoever keeps another one waiting gets a share only; one on this machine, which may have to load what it has,
        # goes on beside the next one.
        alone = any(not self._failover.may_hedge(lane, other) for other in self._waiting)
        share = left * SHARE if alone else left
        budget = left if lane.engine.local else share
        place = len(self._receipt) + len(self._running)
        course = Allowance(budget, self._clock)
        work = self._failover.attempts.make(lane, self._request, budget, course)
        now = self._clock()
        self._running[asyncio.create_task(work)] = _Running(lane, place, now, course, now + share)
        if hedged:
            self._hedge_at = now + self._failover.hedge_delay
        else:
            self._hedge_at = now + share if alone and lane.engine.local else None

    async def _next_end(self) -> Tried | None:
        """Wait until an attempt ends or the next one is due; return the first good answer."""
        pause = max(self._hedge_at - self._clock(), 0.0) if self._hedge_at is not None and self._waiting else None
        done, _ = await asyncio.wait(self._running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        winner: Tried | None = None
        for task in sorted(done, key=lambda task: self._running[task].place):
            decides = self._settle(self._running.pop(task).place, task.result())
            winner = winner if winner is not None and winner.items else decides or winner
        return winner

    def _settle(self, place: int, tried: Tried) -> Tried | None:
        """Write an attempt into the receipt; return it if it decides the race."""
        self._receipt[place] = tried.attempt
        if tried.attempt.outcome is Outcome.OK and tried.answers:
            return tried
        if tried.attempt.outcome is Outcome.OK:
            self._related = tried  # it is no answer: the others are asked besides
        # What an engine of a single subject does not know, the web may.
        if tried.attempt.outcome is Outcome.EMPTY and tried.lane.engine.search_types is None:
            if self._empty is not None:
                return tried
            # One engine that knows nothing may be mistaken, two hardly.
            self._empty = tried
            # One that is already being asked is the second.
            asked = any(running.lane.engine.search_types is None for running in self._running.values())
            while len(self._waiting) > (0 if asked else 1):
                self._waiting.pop()
        # The successor need not wait for the hedge delay any more.
        self._hedge_at = self._clock() if self._may_run_beside() else None
        return None

    def _together(self, answer: Tried | None) -> Tried | None:
        """Return an answer with what is merely related before it."""
        if self._related is None or answer is None or not answer.items:
            return self._related or answer
        most = min(MOST_RELATED, self._request.num_results // 2)
        items = [*(self._related.items or ())[:most], *answer.items]
        return answer._replace(items=items[: self._request.num_results])

    def _may_run_beside(self, *lanes: Lane) -> bool:
        """Tell whether the next engine may start beside ``lanes`` and all that run and still have their share."""
        now = self._clock()
        running = (*lanes, *(one.lane for one in self._running.values() if now < one.others_wait_until))
        return all(self._failover.may_hedge(lane, other) for other in list(self._waiting)[:1] for lane in running)

    def _name_the_rest(self) -> None:
        for lane in self._waiting:
            late = Attempt(lane.name, Outcome.TIMEOUT, 0, Fact("search.no_time"), skipped=True)
            self._receipt[len(self._receipt)] = late

    async def _overtake(self, winner: Tried) -> None:
        for running in self._running.values():
            # One that was asked a moment ago, or is not being asked yet, is not to blame.
            asked = running.course.was_asked
            silent = asked and running.course.silence() >= self._failover.hedge_delay
            self._receipt[running.place] = await self._failover.attempts.overtaken(
                running.lane, running.started, winner.lane.name, asked=asked, counts=silent
            )

    async def _cancel_rest(self) -> None:
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.gather(*self._running, return_exceptions=True)
