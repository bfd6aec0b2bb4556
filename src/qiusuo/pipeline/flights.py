"""Identical searches at the same time become one: the later ones wait for the first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Flights(Generic[T]):
    """Runs one piece of work per key; whoever asks for the same key meanwhile gets the same result or error.

    The first caller does the work itself. If it is cancelled, one of those who wait takes over.
    """

    def __init__(self) -> None:
        # By event loop and key. None stands for a flight for which nobody waits yet.
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, Hashable], asyncio.Future[T] | None] = {}

    async def join(
        self, key: Hashable, work: Callable[[], Awaitable[T]], *, admit: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[T, bool]:
        """Return the result and whether it was another caller's; ``admit`` is asked only of the one who works."""
        flights = self._under_way
        name = (asyncio.get_running_loop(), key)
        while name in flights or admit is not None:
            if name in flights:
                found = await self._other(name)
                if found is not None:
                    return found[0], True
            elif admit is not None:
                # Not shared: one user's limit is no concern of the others. Somebody may start meanwhile.
                await admit()
                admit = None
        flights[name] = None
        try:
            result = await work()
        except BaseException as error:
            _crash(flights.pop(name), error)
            raise
        flight = flights.pop(name)
        if flight is not None:
            flight.set_result(result)
        return result, False

    async def _other(self, name: tuple[asyncio.AbstractEventLoop, Hashable]) -> tuple[T] | None:
        """Wait for another caller's result; None if that one was cancelled."""
        flight = self._under_way[name]
        if flight is None:
            flight = self._under_way[name] = name[0].create_future()
        try:
            return (await asyncio.shield(flight),)
        except asyncio.CancelledError:
            if not flight.cancelled() or _is_cancelled():
                raise  # this caller was cancelled, not the one who works
            return None


def _crash(flight: asyncio.Future[T] | None, error: BaseException) -> None:
    if flight is None:
        return
    if isinstance(error, Exception):
        flight.set_exception(error)
        flight.exception()  # those who waited for it may have gone
    else:
        flight.cancel()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
