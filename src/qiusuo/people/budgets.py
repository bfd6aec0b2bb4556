"""What people have used in this month: added up in the database by all servers, with what is not written yet beside it.

Each server writes every second and reads every other, so it may be a few seconds late to know what was used on another:
by so much a budget can be overdrawn, and by the answers that are under way when it ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from qiusuo.errors import SearchError
from qiusuo.people.members import Member, Used
from qiusuo.people.store import PeopleStore

logger = logging.getLogger(__name__)

LAST_SECONDS: Final = 3.0
MOST_PENDING: Final = 20_000
_SEEN_SECONDS: Final = 60
_NOTHING: Final = Used()


class Budgets:
    """May be told from any thread what was used; reads and writes from one event loop."""

    def __init__(self, store: PeopleStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._turns = asyncio.Lock()
        self._month = 0
        self._written: dict[str, Used] = {}
        # By month and name: what was used in the last second of one belongs there.
        self._pending: dict[tuple[int, str], Used] = {}
        self._seen: dict[str, int] = {}
        self._last_seen: dict[str, int] = {}
        self._failing = False

    def of(self, name: str) -> Used:
        """Return what somebody has used in this month."""
        month = month_of(self._clock())
        with self._lock:
            written = self._written.get(name, _NOTHING) if self._month == month else _NOTHING
            return written + self._pending.get((month, name), _NOTHING)

    def add(self, name: str, more: Used) -> None:
        """Count something."""
        key = month_of(self._clock()), name
        with self._lock:
            if key in self._pending or len(self._pending) < MOST_PENDING:
                self._pending[key] = self._pending.get(key, _NOTHING) + more

    def seen(self, mark: str) -> None:
        """Note that a token was used; to the minute is enough."""
        now = int(self._clock())
        if now - self._last_seen.get(mark, 0) >= _SEEN_SECONDS:
            self._last_seen[mark] = now
            with self._lock:
                self._seen[mark] = now

    async def reading(self, number: int | None) -> tuple[int, Mapping[str, Member] | None, Mapping[str, Used]]:
        """Read what all servers have written, and people where these have changed.

        Raises:
            SearchError: the database cannot be used.
        """
        month = month_of(self._clock())
        async with self._turns:  # what is being written must not be counted twice, nor be left out
            found = await self._store.look(number, month)
            with self._lock:
                self._month, self._written = month, dict(found[2])
        if found[1] is not None:
            marks = {each.mark for each in found[1].values()}
            self._last_seen = {mark: at for mark, at in self._last_seen.items() if mark in marks}
        return found

    async def flush(self) -> None:
        """Write what was counted; what cannot be written stays."""
        async with self._turns:
            with self._lock:
                pending, seen = dict(self._pending), self._seen
                self._seen = {}
            if not pending and not seen:
                return
            try:
                for month in sorted({month for month, _ in pending} or {month_of(self._clock())}):
                    spent = {name: used for (of, name), used in pending.items() if of == month}
                    await self._store.add_used(month, spent, seen)
                    self._take(month, spent)
                self._failing = False
            except SearchError as error:
                with self._lock:
                    self._seen = {**seen, **self._seen}
                if not self._failing:
                    logger.warning("what people use is not written for now: %s", error)
                self._failing = True

    async def finish(self) -> None:
        """Write the rest, in a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await self.flush()

    def _take(self, month: int, spent: Mapping[str, Used]) -> None:
        """Move what was written from what is pending to what is known to be written."""
        with self._lock:
            for name, used in spent.items():
                now = self._pending[month, name]
                rest = Used(now.searches - used.searches, now.tokens - used.tokens)
                if rest == _NOTHING:
                    del self._pending[month, name]
                else:
                    self._pending[month, name] = rest
                if month == self._month:
                    self._written[name] = self._written.get(name, _NOTHING) + used


def month_of(seconds: float) -> int:
    """Return the month of UTC as a number: 202611."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.year * 100 + moment.month


def next_month(seconds: float) -> float:
    """Return when the next month of UTC begins."""
    moment = datetime.fromtimestamp(seconds, UTC)
    year, month = (moment.year + 1, 1) if moment.month == 12 else (moment.year, moment.month + 1)  # noqa: PLR2004
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
