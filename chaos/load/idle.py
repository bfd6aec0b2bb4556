"""Readers to whom nothing is said for a while."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from bench.table import Report
from chaos.doubles import question
from chaos.load.common import SEARCH_GOAL, cancelled, ms, p95, say, scaled, searching, source
from chaos.processes import memory
from chaos.run import warm
from chaos.wire import Refused, Unreachable
from chaos.world import Plan, World

READERS = 2000
TURNS = 40
SILENT = 45
TRIES = 40


class _Idle:
    """How many have joined and heard the end."""

    def __init__(self) -> None:
        self.joined = 0
        self.ended = 0
        self.refused: list[str] = []


async def measure(scale: float) -> Report:
    """Let many readers wait for few answers."""
    readers, turns = scaled(READERS, scale, 20), scaled(TURNS, scale, 4)
    report = Report(
        f"{readers:,} idle readers",
        f"{turns} answers whose model says nothing for {SILENT} s, and {readers:,} readers who wait for them through "
        "nginx on two servers; meanwhile others search.",
    )
    async with World(Plan()) as world:
        await warm(world)
        pids = [pid for server in world.servers for pid in server.pids]
        async with searching(world, world.front) as before:
            await asyncio.sleep(4)
        light, idle = memory(pids), _Idle()
        say("idle", f"{turns} silent answers begin")
        asked = [asyncio.create_task(_ask(world, number)) for number in range(turns)]
        named = [await asyncio.wait_for(task, 30) for task in asked]
        waiting: list[asyncio.Task[None]] = []
        for number in range(readers):
            session, turn, _ = named[number % turns]
            waiting.append(asyncio.create_task(_wait(world, idle, session, turn, number, turns)))
            await asyncio.sleep(0 if number % 20 else 0.05)
        with suppress(TimeoutError):
            async with asyncio.timeout(SILENT / 2):
                while idle.joined < readers:
                    await asyncio.sleep(0.2)
        say("idle", f"{idle.joined} readers wait")
        heavy = memory(pids)
        async with searching(world, world.front) as meanwhile:
            await asyncio.sleep(6)
        await asyncio.wait(waiting, timeout=SILENT + 30)
        await cancelled([*waiting, *(each for _, _, each in named)])
    joined = idle.joined
    report.add(
        "readers who joined", f"{joined:,} of {readers:,}", str(idle.refused[:1] or ""), "all", met=joined == readers
    )
    report.add("who heard the end", f"{idle.ended:,} of {readers:,}", "", "all", met=idle.ended == readers)
    report.add("memory for each", f"{(heavy - light) * 1024 / max(joined, 1):.0f} KB", f"{light:.0f} → {heavy:.0f} MB")
    report.add(
        "searches meanwhile, p95", ms(p95(meanwhile.seconds)),
        f"{ms(p95(before.seconds))} before; {len(meanwhile.failures)} of {len(meanwhile.seconds)} failed",
        ms(SEARCH_GOAL), met=p95(meanwhile.seconds) < SEARCH_GOAL and not meanwhile.failures,
    )  # fmt: skip
    return report


async def _ask(world: World, number: int) -> tuple[str, str, asyncio.Task[None]]:
    token = world.tokens[number % len(world.tokens)]
    made = await world.front.call("POST", "/api/chat/sessions", {"settings": {"search": False}}, token=token)
    session, named = made["id"], asyncio.get_running_loop().create_future()
    body = {"text": question(f"i{number}", 3, 20, silent=SILENT), "language": "en"}

    async def read() -> None:
        async with world.front.stream("POST", f"/api/chat/sessions/{session}/turns", body, token=token) as events:
            async for some in events:
                for _, data in some:
                    if data["type"] == "turn" and not named.done():
                        named.set_result(data["id"])

    task = asyncio.create_task(read())
    return session, await named, task


async def _wait(world: World, idle: _Idle, session: str, turn: str, number: int, turns: int) -> None:
    token, began, last = world.tokens[number % turns % len(world.tokens)], time.monotonic(), ""
    path = f"/api/chat/sessions/{session}/turns/{turn}/events"
    for _ in range(TRIES):
        try:
            async with world.front.stream("GET", path, token=token, source=source(number)) as events:
                joined = False
                async for some in events:
                    idle.joined += not joined
                    joined = True
                    if any(data["type"] == "done" for _, data in some):
                        idle.ended += 1
                        return
        except (
            Refused,
            Unreachable,
        ) as error:  # where a turn can be joined in its own process alone, it is a matter of luck
            last = str(error)
            await asyncio.sleep(0.2)
        if time.monotonic() - began > SILENT:
            break
    idle.refused.append(last)
