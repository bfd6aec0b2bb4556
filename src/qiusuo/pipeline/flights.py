"""Identical searches at the same time become one: the later ones wait for the first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from qiusuo.loops import PerLoop

T = TypeVar("T")


class Flights(Generic[T]):
    """Runs one piece of work per key; whoever asks for the same key meanwhile gets the same result or error.

    The first caller does the work itself. If it is cancelled, one of those who wait takes over.
    """

    def __init__(self) -> None:
        self._under_way: PerLoop[dict[str, asyncio.Future[T]]] = PerLoop(dict)

    async def join(
        self, key: str, work: Callable[[], Awaitable[T]], *, admit: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[T, bool]:
        """Return the result and whether it was another caller's; ``admit`` is asked only of the one who works."""
        flights = self._under_way.get()
        while (flight := flights.get(key)) is not None or admit is not None:
            if flight is None:
                # Not shared: one user's limit is no concern of the others. Somebody may start meanwhile.
                if admit is not None:
                    await admit()
                    admit = None
                continue
            try:
                return await asyncio.shield(flight), True
            except asyncio.CancelledError:
                if not flight.cancelled() or _is_cancelled():
                    raise  # this caller was cancelled, not the one who works
        flight = asyncio.get_running_loop().create_future()
        flights[key] = flight
        try:
            result = await work()
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # nobody may be waiting for it
            raise
        else:
            flight.set_result(result)
            return result, False
        finally:
            flights.pop(key, None)
            flight.cancel()  # without effect once it has its result


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
