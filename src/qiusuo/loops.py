"""Things that belong to one event loop: HTTP sessions, Redis connections, locks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One ``T`` for each running event loop, made when first asked for.

    A service may be used from the caller's loop and from the sync bridge's loop at the same time; connections cannot
    cross from one to the other.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self) -> T:
        """Return the running loop's object."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            with self._lock:
                found = self._made.setdefault(loop, self._make())
        return found

    def drain(self) -> Iterator[tuple[asyncio.AbstractEventLoop, T]]:
        """Hand out every object with its loop and forget it."""
        with self._lock:
            items = list(self._made.items())
            self._made.clear()
        yield from items
