"""Monthly quotas: searches are counted per calendar month; near the end they queue instead of being spent at once."""

from __future__ import annotations

import asyncio
import calendar
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from qiusuo.errors import QuotaExceeded
from qiusuo.pipeline.stored import MAX_COUNT_BYTES, read_count
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone
from qiusuo.words import Fact

NEAR = 0.9
KEEP_COUNTER = 40 * 24 * 3600


class MonthlyQuota:
    """The quota of one engine.

    Past nine tenths of it the rest is spread evenly over what is left of the month: a search waits for its turn, and
    one that would wait longer than it has time for is refused (another engine or the cache then answers).
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

    async def used(self) -> int:
        """Return how many searches were made this month."""
        month = self._month()
        if self._shared is not None:
            try:
                data = await self._shared.run(lambda redis: redis.getrange(self._key(month), 0, MAX_COUNT_BYTES))
                count = read_count(data or b"0")
                if count is not None:
                    return count
                self._shared.odd(f"the shared quota of {self._engine}")
            except SharedStateGone:
                pass
        return self._counts.get(month, 0)

    async def take(self, patience: float) -> None:
        """Count one search, waiting up to ``patience`` seconds for its turn.

        Raises:
            QuotaExceeded: nothing is left, or the turn would come too late.
        """
        used = await self.used()
        now = self._clock()
        left_of_month = self._left_of_month()
        if used >= self.limit:
            raise self._used_up(left_of_month)
        if used >= self.limit * NEAR:
            wait = max(self._next_turn - now, 0.0)
            if wait > patience:
                raise self._refusal(Fact("search.quota_turn", used=used, limit=self.limit, engine=self._engine), wait)
            self._next_turn = now + wait + left_of_month / (self.limit - used)
            if wait:
                await self._sleep(wait)
        await self._count()

    async def _count(self) -> None:
        month = self._month()
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
            raise self._used_up(self._left_of_month())

    def _used_up(self, wait: float) -> QuotaExceeded:
        return self._refusal(Fact("search.quota_used_up", limit=self.limit, engine=self._engine), wait)

    def _refusal(self, fact: Fact, wait: float) -> QuotaExceeded:
        return QuotaExceeded(fact, engine=self._engine, retry_after=wait)

    def _left_of_month(self) -> float:
        now = self._clock()
        return _month_end(now) - now

    def _month(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m")

    def _key(self, month: str) -> str:
        return f"{PREFIX}quota:{self._engine}:{month}"


def _month_end(now: float) -> float:
    day = datetime.fromtimestamp(now, UTC)
    days = calendar.monthrange(day.year, day.month)[1]
    return datetime(day.year, day.month, 1, tzinfo=UTC).timestamp() + days * 86400
