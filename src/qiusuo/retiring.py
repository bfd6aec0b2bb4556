"""Things that are replaced while others still use them: each is closed when the last of those is done."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Protocol

logger = logging.getLogger(__name__)


class Closable(Protocol):
    """Something that has to be closed."""

    async def aclose(self) -> None: ...


class Retiring:
    """Knows who is at work. Safe to share between threads and event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: set[object] = set()
        self._waiting: list[tuple[set[object], Sequence[Closable]]] = []

    def enter(self) -> object:
        """Begin to use what is there now; give what is returned to :meth:`leave`."""
        user = object()
        with self._lock:
            self._users.add(user)
        return user

    async def leave(self, user: object) -> None:
        """End; what nobody else uses any more is closed."""
        with self._lock:
            self._users.discard(user)
            if not self._waiting:
                return
            for users, _ in self._waiting:
                users.discard(user)
            done = [things for users, things in self._waiting if not users]
            self._waiting = [entry for entry in self._waiting if entry[0]]
        for things in done:
            await _close(things)

    async def retire(self, things: Sequence[Closable]) -> None:
        """Close things that nobody new will use: now, or when those who may use them are done."""
        if not things:
            return
        with self._lock:
            users = set(self._users)
            if users:
                self._waiting.append((users, things))
                return
        await _close(things)

    async def aclose(self) -> None:
        """Close what still waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for _, things in waiting:
            await _close(things)


async def _close(things: Sequence[Closable]) -> None:
    for thing in things:
        try:
            await thing.aclose()
        except Exception:  # one that cannot be closed must not keep the others open
            logger.exception("something that was replaced cannot be closed")
