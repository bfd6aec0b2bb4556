"""Commands of many callers in one trip to Redis."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from redis.asyncio import Redis

MOST_IN_A_TRIP: Final = 200

Command = tuple[str | bytes | int, ...]
"""A command of Redis with its arguments: ``("GET", "key")``."""


class _Asked(NamedTuple):
    commands: Sequence[Command]
    answers: asyncio.Future[list[Any]]


class Together:
    """Sends what is asked for at once; what is asked for while a trip is under way goes with the next one.

    A busy server so makes a few large trips instead of many small ones, and nobody waits for a connection of the pool.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._waiting: deque[_Asked] = deque()
        self._under_way: asyncio.Task[None] | None = None

    async def ask(self, commands: Sequence[Command]) -> list[Any]:
        """Return what Redis answers to each command; a refusal is among the answers, as an error."""
        asked = _Asked(commands, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._under_way is None:
            self._under_way = asyncio.create_task(self._travel())
        return await asked.answers

    async def _travel(self) -> None:
        try:
            while self._waiting:
                await self._trip()
        finally:
            self._under_way = None
            for asked in self._waiting:  # only where the loop ends
                asked.answers.cancel()

    async def _trip(self) -> None:
        trip = self._client.pipeline(transaction=False)
        aboard: list[_Asked] = []
        while self._waiting and len(trip) < MOST_IN_A_TRIP:
            asked = self._waiting.popleft()
            if not asked.answers.done():  # who asked has given up
                aboard.append(asked)
                for command in asked.commands:
                    trip.execute_command(*command)
        if not aboard:
            return
        try:
            answers = iter(await trip.execute(raise_on_error=False))
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            for asked in aboard:
                if not asked.answers.done():
                    asked.answers.set_exception(error)
            return
        for asked in aboard:
            told = [next(answers) for _ in asked.commands]
            if not asked.answers.done():
                asked.answers.set_result(told)
