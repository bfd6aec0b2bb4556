"""Monthly quotas: searches are counted per calendar month; the last tenth is shared out over its days, in a queue."""

from __future__ import annotations

import asyncio
import calendar
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import NamedTuple

from qiusuo.errors import QuotaExceeded
from qiusuo.pipeline.stored import MAX_COUNT_BYTES, read_count
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone
from qiusuo.words import Fact

NEAR = 0.9
# Near the limit searches of a process follow each other at this distance, so that other engines may come first.
BETWEEN_TURNS = 0.5
KEEP_COUNTER = 40 * 24 * 3600
_DAY = 86400


class _Month(NamedTuple):
    name: str
    begins: float
    days: int

    @property
    def ends(self) -> float:
        return self.begins + self.days * _DAY

    def day_of(self, now: float) -> int:
        """Return which of its days it is, counted from 1."""
        return int((now - self.begins) // _DAY) + 1


class MonthlyQuota:
    """The quota of one engine.

    Nine tenths of it may be spent at any time. The last tenth becomes usable day by day; what one day leaves is for the
    next, and on the last day all of it may be spent. Its searches take turns: each waits for its own, and one that
    would wait longer than it has time for is refused (another engine or the cache then answers).
    """

    def __init__(
        self,
        engine: str,
        limit: int,
        *,
        shared: SharedState | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.limit = limit
        self._engine = engine
        self._shared = shared
        self._clock = clock
        self._sleep = sleep
        self._counts: dict[str, int] = {}
        self._next_turn = 0.0
        # Searches of several event loops may wait here.
        self._queue: deque[object] = deque()
        self._lock = threading.Lock()

    async def used(self) -> int:
        """Return how many searches were made this month."""
        month = _month_of(self._clock()).name
        if self._shared is not None:
            try:
                data = await self._shared.ask("GETRANGE", self._key(month), 0, MAX_COUNT_BYTES)
                count = read_count(data or b"0")
                if count is not None:
                    return count
                self._shared.odd(f"the shared quota of {self._engine}")
            except SharedStateGone:
                pass
        return self._counts.get(month, 0)

    async def left(self) -> int:
        """Return how many searches may still be made today."""
        now = self._clock()
        month = _month_of(now)
        return max(self._usable(month, month.day_of(now)) - await self.used(), 0)

    async def take(self, patience: float) -> None:
        """Count one search, waiting up to ``patience`` seconds for its turn.

        Raises:
            QuotaExceeded: nothing is left, or the turn would come too late.
        """
        deadline = self._clock() + patience
        place = object()
        with self._lock:
            self._queue.append(place)
        try:
            while wait := await self._wait(place, deadline):
                # Those before may give up, so it looks again before long.
                await self._sleep(min(wait, BETWEEN_TURNS))
        finally:
            with self._lock:
                self._queue.remove(place)
        await self._count()

    async def _wait(self, place: object, deadline: float) -> float:
        """Return how long the turn of a search is off; 0 means that it is its turn, which is then taken.

        Raises:
            QuotaExceeded: it would come after the deadline.
        """
        used = await self.used()
        now = self._clock()
        with self._lock:
            # Of those before it, so many need no turn.
            free = max(self._at_any_time - used, 0)
            behind = self._queue.index(place) - free
            if behind < 0:
                return 0.0
            turn = max(self._next_turn - now, 0.0) + behind * BETWEEN_TURNS
            wait = max(turn, self._opens(used, now) - now)
            if not wait:
                self._next_turn = now + BETWEEN_TURNS
                return 0.0
        if now + wait <= deadline:
            return wait
        if used >= self.limit:
            raise self._used_up(wait)
        raise self._refusal(Fact("search.quota_turn", used=used, limit=self.limit, engine=self._engine), wait)

    def _opens(self, used: int, now: float) -> float:
        """Return when one more than ``used`` searches may be made: now, on a later day, or in the next month."""
        month = _month_of(now)
        opening = (day for day in range(month.day_of(now), month.days + 1) if used < self._usable(month, day))
        day = next(opening, month.days + 1)
        return max(month.begins + (day - 1) * _DAY, now)

    @property
    def _at_any_time(self) -> int:
        return math.floor(self.limit * NEAR)

    def _usable(self, month: _Month, day: int) -> int:
        """Return how many searches may have been made by the end of a day, counted from 1."""
        return self._at_any_time + math.ceil((self.limit - self._at_any_time) * day / month.days)

    async def _count(self) -> None:
        month = _month_of(self._clock()).name
        self._counts = {month: self._counts.get(month, 0) + 1}
        if self._shared is None:
            return
        try:
            count = await self._shared.run(lambda redis: redis.incr(self._key(month)))
            if count == 1:
                await self._shared.run(lambda redis: redis.expire(self._key(month), KEEP_COUNTER))
        except SharedStateGone:
            return
        if read_count(b"%d" % count) is None:  # counted on from something that was no count
            return
        if count > self.limit:  # others took what was left between the look and the count
            now = self._clock()
            raise self._used_up(_month_of(now).ends - now)

    def _used_up(self, wait: float) -> QuotaExceeded:
        return self._refusal(Fact("search.quota_used_up", limit=self.limit, engine=self._engine), wait)

    def _refusal(self, fact: Fact, wait: float) -> QuotaExceeded:
        return QuotaExceeded(fact, engine=self._engine, retry_after=wait)

    def _key(self, month: str) -> str:
        return f"{PREFIX}quota:{self._engine}:{month}"


def _month_of(now: float) -> _Month:
    day = datetime.fromtimestamp(now, UTC)
    begins = datetime(day.year, day.month, 1, tzinfo=UTC)
    return _Month(begins.strftime("%Y-%m"), begins.timestamp(), calendar.monthrange(day.year, day.month)[1])
