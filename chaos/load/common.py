"""What the measurements have in common."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from chaos.wire import Front, Refused, Unreachable
from chaos.world import World

SEARCH_GOAL: Final = 0.2

Job = Callable[[], Awaitable[object]]


def scaled(number: int, scale: float, least: int = 1) -> int:
    """Return a number for a run of this scale."""
    return max(least, round(number * scale))


def middle(values: Sequence[float]) -> float:
    """Return the median; of nothing, infinity."""
    return statistics.median(values) if values else float("inf")


def p95(values: Sequence[float]) -> float:
    """Return what 95 of 100 stay under; of nothing, infinity."""
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)] if values else float("inf")


def ms(seconds: float) -> str:
    """Return seconds as milliseconds."""
    return f"{seconds * 1000:,.0f} ms"


def source(number: int) -> str:
    """Return one of many addresses of this machine, as of many people."""
    return f"127.2.{number // 200 % 200}.{number % 200 + 1}"


async def search(world: World, front: Front, query: str, owner: int = 0) -> float:
    """Search; return the seconds.

    Raises:
        Refused: with an error.
        Unreachable: there is no answer.
    """
    began = time.perf_counter()
    await front.call("POST", "/api/search", {"query": query}, token=world.tokens[owner], source="127.3.0.1")
    return time.perf_counter() - began


class Searches:
    """What people find who search meanwhile."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.failures: list[str] = []


@asynccontextmanager
async def searching(world: World, front: Front, *, pause: float = 0.05, at_once: int = 2) -> AsyncIterator[Searches]:
    """Search on and on, half of it something new; what came of it is known at the end."""
    found = Searches()

    async def work(lane: int) -> None:
        number = 0
        while True:
            number += 1
            query = f"lane {lane} {number if number % 2 else 0} {id(found)}"
            try:
                found.seconds.append(await search(world, front, query))
            except (Refused, Unreachable) as error:
                found.failures.append(str(error))
            await asyncio.sleep(pause)

    tasks = [asyncio.create_task(work(lane)) for lane in range(at_once)]
    try:
        yield found
    finally:
        await cancelled(tasks)


async def cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def spread(jobs: Sequence[Job], at_once: int) -> None:
    """Do all jobs, so many at once."""
    waiting = iter(jobs)

    async def work() -> None:
        for job in waiting:
            await job()

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())


def say(name: str, text: str) -> None:
    """Tell how far it is."""
    print(f"[{time.strftime('%H:%M:%S')}] {name}: {text}", flush=True)
