"""The end of the time that a piece of work has.

Like :func:`asyncio.timeout`, but at a third of its price: many deadlines share one timer of the event loop, since
nearly all of them are left in time. Requests know of it, too: one that is sure to be broken off in time needs no timer
of the HTTP client's own.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar, Token
from math import inf
from types import TracebackType
from typing import Self

_INNERMOST: ContextVar[Deadline | None] = ContextVar("qiusuo_deadline", default=None)


class Watch:
    """The deadlines of one event loop."""

    __slots__ = ("_alarm", "_loop", "_rings_at", "kept")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None
        self._rings_at = inf
        self.kept: set[Deadline] = set()

    def within(self, seconds: float) -> Deadline:
        """``with watch.within(seconds):`` — what is awaited inside is cancelled in time: ``TimeoutError``."""
        when = self._loop.time() + seconds
        if when < self._rings_at:
            # Mostly it is set for a deadline of a search before this one, and rings once in a while for nothing.
            self._set(when)
        return Deadline(self, when)

    def _set(self, when: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(when, self._ring)
        self._rings_at = when

    def _ring(self) -> None:
        # The loop may ring a hair before the time that it was set to.
        now = max(self._loop.time(), self._rings_at)
        self._alarm, self._rings_at = None, inf
        waiting = [deadline for deadline in self.kept if not deadline.expire(now)]
        if waiting:
            self._set(min(deadline.when for deadline in waiting))


class Deadline:
    """The end of one piece of work; see :meth:`Watch.within`."""

    __slots__ = ("_cancelling", "_expired", "_token", "_watch", "task", "when")

    task: asyncio.Task[object]
    _token: Token[Deadline | None]
    _cancelling: int

    def __init__(self, watch: Watch, when: float) -> None:
        self.when = when
        self._watch = watch
        self._expired = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline is kept within a task only")
        self.task = task
        # Who was cancelled before, and went on, is not cancelled by us.
        self._cancelling = task.cancelling()
        self._watch.kept.add(self)
        self._token = _INNERMOST.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _INNERMOST.reset(self._token)
        self._watch.kept.discard(self)
        # Another reason to be cancelled goes first.
        if self._expired and self.task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self, now: float) -> bool:
        """Cancel the work if its time is over, once; return whether it is."""
        if self.when > now:
            return False
        if not self._expired:
            self._expired = True
            self.task.cancel()
        return True


def ends_within(seconds: float) -> bool:
    """Tell whether the running task is sure to be broken off in so many seconds or less."""
    deadline = _INNERMOST.get()
    if deadline is None:
        return False
    # Tasks inherit the variable from those who start them, but not the cancellation.
    task = asyncio.current_task()
    return deadline.task is task and deadline.when <= task.get_loop().time() + seconds
