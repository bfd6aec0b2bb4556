"""Limits by the `limits` library: searches per user and minute, and the pace of each engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from qiusuo.errors import UserRateLimited
from qiusuo.loops import PerLoop
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone
from qiusuo.words import Fact

if TYPE_CHECKING:
    from limits.aio.strategies import MovingWindowRateLimiter as SharedLimiter


class Windows:
    """Moving windows in this process, or in Redis while it is there."""

    def __init__(self, shared: SharedState | None = None) -> None:
        self._local = MovingWindowRateLimiter(MemoryStorage())
        self._shared = shared
        self._limiters: PerLoop[SharedLimiter] = PerLoop(self._connect)

    async def hit(self, item: RateLimitItem, *who: str) -> float:
        """Count one event; return 0 if it is within the limit, else the seconds until there is room."""
        if self._shared is not None:
            try:
                return await self._shared.guard(lambda: self._hit_shared(item, who))
            except SharedStateGone:
                pass
        if self._local.hit(item, *who):
            return 0.0
        return _wait(self._local.get_window_stats(item, *who).reset_time)

    async def _hit_shared(self, item: RateLimitItem, who: tuple[str, ...]) -> float:
        limiter = self._limiters.get()
        if await limiter.hit(item, *who):
            return 0.0
        wait = _wait((await limiter.get_window_stats(item, *who)).reset_time)
        # The moment comes out of Redis; nobody waits longer than a window.
        return wait if wait <= item.get_expiry() else float(item.get_expiry())

    def _connect(self) -> SharedLimiter:
        from limits.aio.storage import RedisStorage  # noqa: PLC0415 - only with Redis
        from limits.aio.strategies import MovingWindowRateLimiter as SharedLimiter  # noqa: PLC0415 - only with Redis

        assert self._shared is not None  # noqa: S101 - made only for shared hits
        options: dict[str, Any] = {"connection_pool": self._shared.pools.get()}
        storage = RedisStorage("async+redis://", implementation="redispy", key_prefix=f"{PREFIX}limits", **options)
        return SharedLimiter(storage)


class UserLimit:
    """At most so many searches per user and minute."""

    def __init__(self, windows: Windows, per_minute: int, *, limit_anonymous: bool) -> None:
        self._windows = windows
        self._item = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._anonymous = limit_anonymous

    def concerns(self, user: str | None, own: int | None = None) -> bool:
        """Tell whether searches of this user are counted at all; ``own`` is the limit that is set for this user."""
        return bool(own) or (own is None and self._item is not None and (user is not None or self._anonymous))

    async def check(self, user: str | None, own: int | None = None) -> None:
        """Count one search.

        Raises:
            UserRateLimited: the user must wait ``retry_after`` seconds.
        """
        item = RateLimitItemPerMinute(own) if own else self._item
        if item is None or not self.concerns(user, own):
            return
        wait = await self._windows.hit(item, "user", user or "")
        if wait:
            too_many = Fact("search.user_limit", limit=item.amount, seconds=math.ceil(wait))
            raise UserRateLimited(too_many, retry_after=wait)


class Pace:
    """The pace of one engine: ``per_second`` may be below one."""

    def __init__(self, windows: Windows, engine: str, per_second: float) -> None:
        self._windows = windows
        self._engine = engine
        self._item = (
            RateLimitItemPerSecond(math.floor(per_second))
            if per_second >= 1
            else RateLimitItemPerSecond(1, math.ceil(1 / per_second))
        )

    async def take(self) -> float:
        """Take a place; return 0, or the seconds after which to ask again."""
        return await self._windows.hit(self._item, "pace", self._engine)


def _wait(reset_time: float, clock: Callable[[], float] = time.time) -> float:
    # Never zero: zero means "go".
    return max(reset_time - clock(), 0.01)
