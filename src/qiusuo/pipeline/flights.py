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
        # By event loop and key.
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, Hashable], asyncio.Future[T]] = {}

    async def join(
        self, key: Hashable, work: Callable[[], Awaitable[T]], *, admit: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[T, bool]:
        """Return the result and whether it was another caller's; ``admit`` is asked only of the one who works."""
        flights = self._under_way
        loop = asyncio.get_running_loop()
        name = (loop, key)
        while name in flights or admit is not None:
            if name in flights:
                found = await _result_of(flights[name])
                if found is not None:
                    return found[0], True
            elif admit is not None:
                # Not shared: one user's limit is no concern of the others. Somebody may start meanwhile.
                await admit()
                admit = None
        flight = flights[name] = loop.create_future()
        try:
            result = await work()
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # perhaps nobody waits for it
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            del flights[name]
        flight.set_result(result)
        return result, False


async def _result_of(flight: asyncio.Future[T]) -> tuple[T] | None:
    """Wait for another caller's result; None if that one was cancelled."""
    try:
        return (await asyncio.shield(flight),)
    except asyncio.CancelledError:
        if not flight.cancelled() or _is_cancelled():
            raise  # this caller was cancelled, not the one who works
        return None


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
