"""How long one search may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

# An engine ends so much earlier than its caller gives up, so that what it has found is not lost on the way.
_HANDING_OVER: Final = 0.3


class Allowance:
    """The time that one search may take, and since when the engine is really being asked.

    Queueing behind one's own searches is no silence of the engine, and must not be held against it.
    """

    def __init__(
        self, seconds: float, clock: Callable[[], float] = time.monotonic, *, margin: float | None = None
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds - (min(_HANDING_OVER, seconds / 10) if margin is None else margin)
        self._asked_at: list[float] = []

    def shorten(self, seconds: float) -> None:
        """Leave no more than ``seconds`` from now on."""
        self.seconds = min(self.seconds, seconds)
        self._end = min(self._end, self._clock() + seconds)

    @property
    def was_asked(self) -> bool:
        return bool(self._asked_at)

    def asked(self) -> None:
        """Note that the provider is being asked from now on; may be called from another thread."""
        self._asked_at.append(self._clock())

    def silence(self) -> float:
        """Return for how many seconds the provider has been asked."""
        return self._clock() - self._asked_at[0] if self._asked_at else 0.0

    def left(self) -> float:
        """Return the seconds within which the engine must answer, so that what it has still reaches the caller."""
        return max(self._end - self._clock(), 0.001)
