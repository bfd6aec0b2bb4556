"""Running turns for the other servers, through Redis: their events go out, and orders for them come in.

All of it happens beside the turns, some times in a second for all of them together: no reader here ever waits for
Redis. What Redis has lost is written anew from the events that each turn holds until its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Final

from qiusuo.chat.live.running import RunningTurn
from qiusuo.chat.live.stream import (
    ODD,
    TICK_SECONDS,
    WRITE_TICKS,
    Entry,
    Publication,
    entries_of,
    key,
    read_command,
    read_entries,
)
from qiusuo.chat.sessions.session import new_id
from qiusuo.storage.redis import SharedState, SharedStateGone

logger = logging.getLogger(__name__)

WRITE_BYTES: Final = 512 * 1024
"""About so much is written at once, so that no slow Redis is taken for one that is away."""
FLUSH_SECONDS: Final = 1.0
STOP: Final = "stop"
READ_TURNS: Final = 200
"""Of so many turns news is asked for at once."""

_ORDER_SECONDS: Final = 60
_REPLY_POLL: Final = 0.05
_POLLS_PER_LOOK: Final = 10
_DONE: Final = "done"


class Relay:
    """The turns of this server for the others, and theirs for this one."""

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._published: dict[str, Publication] = {}
        self._task: asyncio.Task[None] | None = None
        self._obeying: set[asyncio.Task[None]] = set()
        self._ticks = 0

    def publish(self, turn: RunningTurn) -> None:
        """Let other servers hear a turn, and stop it."""
        self._published[turn.record.id] = Publication(turn)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def read(self, turn: str, position: int) -> list[Entry]:
        """Return some of what is there of a turn from an event on.

        Raises:
            SharedStateGone: Redis does not answer.
        """
        try:
            return await self._shared.run(lambda redis: read_entries(redis, turn, position))
        except ODD:
            self._odd()
            raise SharedStateGone from None

    async def read_some(self, positions: dict[str, int]) -> dict[str, list[Entry]]:
        """Return some of what is there of several turns, of each from an event on; what cannot be read is left out.

        Raises:
            SharedStateGone: Redis does not answer.
        """
        found: dict[str, list[Entry]] = {}
        wanted = list(positions.items())
        for start in range(0, len(wanted), READ_TURNS):
            some = wanted[start : start + READ_TURNS]
            results = await self._shared.run(partial(_read_all, positions=some))
            for (turn, _), result in zip(some, results, strict=True):
                try:
                    found[turn] = entries_of(result)
                except ODD:
                    self._odd()
        return found

    def _odd(self) -> None:
        self._shared.odd("a running turn in Redis")

    async def is_known(self, turn: str) -> bool:
        """Tell whether a server lets others hear a turn.

        Raises:
            SharedStateGone: Redis does not answer.
        """
        return bool(await self._shared.run(lambda redis: redis.exists(key(turn, "events"))))

    async def send_stop(self, turn: str) -> str:
        """Order that a turn be stopped; return the number of the order.

        Raises:
            SharedStateGone: Redis does not answer.
        """
        number, orders = new_id(), key(turn, "orders")

        async def send(redis: Any) -> None:
            pipe = redis.pipeline(transaction=False)
            pipe.rpush(orders, f"{STOP} {number}")
            pipe.expire(orders, _ORDER_SECONDS)
            await pipe.execute()

        await self._shared.run(send)
        return number

    async def order_stop(self, turn: str, still_runs: Callable[[], Awaitable[bool]], seconds: float) -> bool:
        """Let the server that answers a turn stop it; tell whether it has ended.

        Raises:
            SharedStateGone: Redis does not answer.
        """
        reply = _reply(turn, await self.send_stop(turn))
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        for polls in count(1):
            await asyncio.sleep(_REPLY_POLL)
            if await self._shared.run(lambda redis: redis.lpop(reply)) is not None:
                return True
            # It may have ended before the order came.
            late = loop.time() > end
            if (late or polls % _POLLS_PER_LOOK == 0) and not await still_runs():
                return True
            if late:
                break
        return False

    async def aclose(self) -> None:
        """Write what is still to be written."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._tick()
                await asyncio.gather(*self._obeying, return_exceptions=True)
        for task in tuple(self._obeying):
            task.cancel()

    async def _work(self) -> None:
        while self._published:
            await asyncio.sleep(TICK_SECONDS)
            try:
                await self._tick()
            except Exception:  # a fault of ours costs the other servers' readers a moment, never an answer
                logger.exception("running turns could not be told to the other servers")

    async def _tick(self) -> None:
        if self._shared.away:
            self._lost()
            return
        now = asyncio.get_running_loop().time()
        self._ticks += 1
        due = [each for each in self._published.values() if each.is_due(self._ticks)]
        looking = list(self._published) if self._ticks % WRITE_TICKS == 0 else []
        if not due and not looking:
            return

        try:
            orders = await self._shared.run(lambda redis: _talk(redis, due, looking, now))
        except SharedStateGone:
            self._lost()
            return
        for turn, order in zip(looking, orders, strict=True):
            self._take(turn, order)
        for each in [each for each in self._published.values() if each.over]:
            del self._published[each.id]

    def _lost(self) -> None:
        for each in list(self._published.values()):
            each.lost()
            if each.turn.ended:  # the database has it
                del self._published[each.id]

    def _take(self, turn: str, order: object) -> None:
        if not isinstance(order, bytes):
            return
        what, _, number = order.decode("utf-8", "replace").partition(" ")
        published = self._published.get(turn)
        if what != STOP or published is None:
            return
        task = asyncio.create_task(self._stop(published.turn, _reply(turn, number)))
        self._obeying.add(task)
        task.add_done_callback(self._obeying.discard)

    async def _stop(self, turn: RunningTurn, reply: str) -> None:
        turn.stop()
        await turn.wait()

        async def answer(redis: Any) -> None:
            pipe = redis.pipeline(transaction=False)
            pipe.rpush(reply, _DONE)
            pipe.expire(reply, _ORDER_SECONDS)
            await pipe.execute()

        with suppress(SharedStateGone):
            await self._shared.run(answer)


def _reply(turn: str, number: str) -> str:
    return key(turn, f"reply:{number}")


async def _read_all(redis: Any, positions: Sequence[tuple[str, int]]) -> list[Any]:
    pipe = redis.pipeline(transaction=False)
    for turn, position in positions:
        read_command(pipe, turn, position)
    results: list[Any] = await pipe.execute(raise_on_error=False)
    return results


async def _talk(redis: Any, due: list[Publication], looking: list[str], now: float) -> list[Any]:
    """Write what is new of turns, and return an order for each of some, where there is one."""
    pipe = redis.pipeline(transaction=False)
    for turn in looking:
        pipe.lpop(key(turn, "orders"))
    parts: list[tuple[Publication, int, int]] = []
    room = WRITE_BYTES
    for each in due:
        if room > 0:
            start = len(pipe)
            room -= each.write(pipe, room, now)
            parts.append((each, start, len(pipe)))
    results: list[Any] = await pipe.execute(raise_on_error=False)
    for each, start, end in parts:
        each.written(results[start:end])
    for refusal in results:
        if isinstance(refusal, Exception):
            raise refusal
    return results[: len(looking)]
