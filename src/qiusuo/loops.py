"""Things that belong to one event loop: HTTP sessions, Redis connections, locks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One ``T`` for each running event loop, made when first asked for.

    A service may be used from the caller's loop and from the sync bridge's loop at the same time; connections cannot
    cross from one to the other. What has to be closed is closed with ``close`` when its loop ends, since afterwards
    nobody can.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]] | None = None) -> None:
        self._make = make
        self._close = close
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._ends: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self) -> T:
        """Return the running loop's object."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            with self._lock:
                if self._close is None:
                    # What waits in a loop holds it, so the weak keys alone would keep every loop that has ended.
                    for ended in [known for known in self._made if known.is_closed()]:
                        del self._made[ended]
                found = self._made.setdefault(loop, self._make())
                if self._close is not None and loop not in self._ends:
                    self._ends[loop] = end = self._at_end(loop, self._close)
                    with suppress(StopIteration):
                        end.__anext__().send(None)
        return found

    def drain(self) -> Iterator[tuple[asyncio.AbstractEventLoop, T]]:
        """Hand out every object with its loop and forget it."""
        with self._lock:
            items = list(self._made.items())
            self._made.clear()
        yield from items

    async def _at_end(
        self, loop: asyncio.AbstractEventLoop, close: Callable[[T], Awaitable[None]]
    ) -> AsyncGenerator[None, None]:
        # asyncio.run (like every runner) closes the generators that are still open before it closes its loop.
        try:
            yield
        finally:
            with self._lock:
                self._ends.pop(loop, None)
                left = self._made.pop(loop, None)
            if left is not None:
                await close(left)
