"""Spans: what happens inside of a request, told to whoever traces it.

The parts of the program say what they do with :func:`span`. Where nobody traces (and in every library use) that costs
a look into a context variable. The server puts its tracer there, request by request: ``web/watching/tracing.py``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType
from typing import Final, Protocol, Self

Value = str | int | float | bool


class Span(Protocol):
    """Something that takes time. What people ask and what providers say does not stand in it."""

    def note(self, **values: Value) -> None:
        """Add facts that are known only now."""

    def fail(self, reason: str) -> None:
        """Mark it as failed; the reason is a word of ours."""


class Tracer(Protocol):
    """Takes spans; each becomes a part of the one around it."""

    def span(self, name: str, values: dict[str, Value], *, around: bool) -> AbstractContextManager[Span]:
        """Begin a span. Spans that begin inside of it are its parts if it stands ``around`` them."""

    def ids(self) -> tuple[str, str] | None:
        """Return the ids of the present trace and span, in hexadecimal digits."""


tracer: Final[ContextVar[Tracer | None]] = ContextVar("tracer", default=None)
"""Who traces the request in which something happens; tasks that it starts have it too."""


class _Untold:
    """The span of those whom nobody traces."""

    def note(self, **values: Value) -> None:
        pass

    def fail(self, reason: str) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        pass


_UNTOLD: Final = _Untold()


def span(name: str, *, around: bool = True, **values: Value) -> AbstractContextManager[Span]:
    """Begin a span, for a ``with`` statement; an exception that leaves it marks it as failed.

    In a generator that others end, ``around`` must be off: it may be closed in another context than it began in.
    """
    present = tracer.get()
    return _UNTOLD if present is None else present.span(name, values, around=around)


def trace_ids() -> tuple[str, str] | None:
    """Return the ids of the trace and span in which something happens; None where nobody traces."""
    present = tracer.get()
    return None if present is None else present.ids()
