"""How long to wait for another program, counted in time in which its answer could have been heard."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Self

_STROKES: Final = 20


class Patience:
    """A deadline by a clock of few strokes; a context manager, which raises ``TimeoutError`` after the last stroke.

    A stroke comes after all that was ready, what was read from the network too. So a process that stands still, or has
    hundreds of things to do first, waits for longer, and does not take its own delay for the other program's.
    """

    def __init__(self, seconds: float) -> None:
        self._stroke = seconds / _STROKES
        self._left = _STROKES
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.timeout(None)
        self._next: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._end.__aenter__()
        self._wind()
        return self

    def _wind(self) -> None:
        self._next = self._loop.call_later(self._stroke, self._strike)

    def _strike(self) -> None:
        self._left -= 1
        if self._left:
            self._wind()
        else:
            self._end.reschedule(self._loop.time())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._next is not None:
            self._next.cancel()
        await self._end.__aexit__(kind, error, trace)
