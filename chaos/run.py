"""One fault from its beginning to its end: a world, readers, the strike, fresh questions, the verdict."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from chaos.faults import Fault
from chaos.processes import DidNotStart, wait_until
from chaos.reader import Reader, Strike
from chaos.verdict import Verdict, judge
from chaos.world import World

RAMP: Final = 4.0
BEGIN_SECONDS: Final = 20.0  # for every answer to have begun
UNTIL_STRIKE: Final = 3.0
PACE: Final = 20.0
RELOADING: Final = 4  # every fourth reader loads the page again: another server may tell the answer then
SHORTEST, LONGEST = 10.0, 30.0  # seconds of an answer
END_SECONDS: Final = 90.0  # for every reader to come to an end after the fault
NORMAL_SECONDS: Final = 90.0  # so long fresh questions are tried
WARM_SECONDS: Final = 120.0
STRIKE_SECONDS: Final = 120.0
FRESH_SECONDS: Final = 15.0
IN_A_ROW: Final = 4  # so many fresh questions answered in a row are normal


@dataclass
class Told:
    """What one fault has cost."""

    fault: Fault
    streams: int
    verdict: Verdict = field(default_factory=Verdict)
    normal_after: float | None = None
    asked_meanwhile: int = 0
    answered_meanwhile: int = 0
    unanswered: list[str] = field(default_factory=list)
    server_errors: list[str] = field(default_factory=list)
    problem: str = ""  # why it could not be run


@dataclass(frozen=True)
class Size:
    """How much is run; tests take less."""

    streams: int = 200
    workers: int = 2
    ramp: float = RAMP
    until_strike: float = UNTIL_STRIKE
    shortest: float = SHORTEST
    longest: float = LONGEST


async def run(fault: Fault, size: Size) -> Told:
    """Run one fault over a world of its own."""
    fault.needs()
    told = Told(fault, min(size.streams, fault.most_streams))
    world = World(replace(fault.plan, workers=size.workers))
    async with world:
        if fault.plan.small_disk:
            _say(fault, "a small disk" if world.disk.is_mount() else "no disk may be mounted; files may not grow")
        await strike_world(world, told, size)
    return told


async def strike_world(world: World, told: Told, size: Size) -> None:
    """Strike a world that runs, and judge."""
    fault, strike = told.fault, Strike()
    _say(fault, f"the world runs; {told.streams} answers begin")
    await warm(world)
    readers = [_reader(world, told, size, number, strike) for number in range(told.streams)]
    reading = [
        asyncio.create_task(_later(reader, number * size.ramp / told.streams)) for number, reader in enumerate(readers)
    ]
    try:
        await asyncio.sleep(size.ramp + size.until_strike)
        with suppress(DidNotStart):
            await wait_until(lambda: all(each.streamed or each.trouble for each in readers), BEGIN_SECONDS, "answers")
        running = sum(reader.done is None and bool(reader.streamed) for reader in readers)
        _say(fault, f"{running} answers stream; the fault strikes")
        strike.at = time.monotonic()
        asking = asyncio.create_task(_ask_meanwhile(world, told))
        reading.append(asking)
        await within(STRIKE_SECONDS, fault.strike(world), "the fault")
        asking.cancel()
        _say(fault, f"the fault is over after {time.monotonic() - strike.at:.1f} s; fresh questions are asked")
        told.normal_after = await _until_normal(world, told, time.monotonic())
        normal = "never" if told.normal_after is None else f"{told.normal_after:.1f} s"
        _say(fault, f"normal again: {normal}; the readers come to their ends")
        _, late = await asyncio.wait(reading, timeout=END_SECONDS)
        if late:
            _say(fault, f"{len(late)} readers have not come to an end in {END_SECONDS:.0f} s")
    finally:
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    told.verdict = await judge(readers)
    told.server_errors = list(world.front.server_errors)
    refusals = Counter(line for reader in readers for line in reader.trouble if line.startswith("HTTP"))
    for line, count in refusals.most_common(5):
        _say(fault, f"readers were told {count} times: {line}")


def _reader(world: World, told: Told, size: Size, number: int, strike: Strike) -> Reader:
    chance = random.Random(number)
    words = int(PACE * chance.uniform(size.shortest, size.longest))
    breaking = chance.random() < told.fault.breaking
    token, source = world.tokens[number % len(world.tokens)], f"127.1.0.{number % 200 + 1}"
    return Reader(
        world.front,
        f"a{number}",
        token,
        source,
        strike,
        words,
        PACE,
        break_after=chance.randint(60, words) if breaking else None,
        reload_after=1.0 if number % RELOADING == 1 else None,
    )


async def _later(reader: Reader, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await reader.read()


async def warm(world: World) -> None:
    """Let every worker load what a first answer needs."""
    many = sum(server.workers for server in world.servers) * 3
    readers = [_fresh(world, f"warm{number}") for number in range(many)]
    await within(WARM_SECONDS, asyncio.gather(*(reader.read() for reader in readers)), "the first answers")
    missing = [reader.trouble[-1:] for reader in readers if reader.done is None]
    if missing:
        raise RuntimeError(f"{len(missing)} of the first {many} questions were not answered: {missing[0]}")


async def within(seconds: float, work: Awaitable[object], what: str) -> None:
    """Wait for something.

    Raises:
        RuntimeError: it takes too long.
    """
    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        raise RuntimeError(f"{what}: not over within {seconds:.0f} s") from None


def _fresh(world: World, name: str) -> Reader:
    return Reader(world.front, name, world.tokens[0], "127.1.1.1", Strike(), words=5)


async def _is_answered(world: World, told: Told, name: str) -> bool:
    """Ask a fresh question; tell whether it was answered whole, in the time that people wait."""
    reader, began = _fresh(world, name), time.monotonic()
    with suppress(TimeoutError):
        async with asyncio.timeout(FRESH_SECONDS):
            await reader.read()
    if reader.done is not None and reader.streamed == reader.expected:
        return True
    stage = "its conversation" if not reader.session else "its first word" if not reader.streamed else "its end"
    why = reader.trouble[-1] if reader.trouble else f"waited for {stage} for {time.monotonic() - began:.0f} s"
    told.unanswered.append(why)
    return False


async def _ask_meanwhile(world: World, told: Told) -> None:
    """Ask fresh questions while the fault lasts."""
    while True:
        answered = await _is_answered(world, told, f"meanwhile{told.asked_meanwhile}")
        told.asked_meanwhile += 1
        told.answered_meanwhile += answered
        await asyncio.sleep(0.5)


async def _until_normal(world: World, told: Told, since: float) -> float | None:
    """Ask fresh questions; return after how many seconds the first of some in a row was answered."""
    row = number = 0
    first = 0.0
    while time.monotonic() - since < NORMAL_SECONDS:
        number += 1
        began = time.monotonic()
        if await _is_answered(world, told, f"fresh{number}"):
            first = first if row else time.monotonic()
            row += 1
            if row == IN_A_ROW:
                return first - since
        else:
            row = 0
            await asyncio.sleep(max(0.0, 0.5 - (time.monotonic() - began)))
    return None


def _say(fault: Fault, text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {fault.name}: {text}", flush=True)
