"""Bodies that are far too large."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from bench.table import Report
from chaos.load.common import say, scaled, search
from chaos.processes import memory
from chaos.world import Plan, World

SENDERS = 20
MEGABYTES = 50
PIECE = b"x" * 65536
GOAL = 1.0
GROWTH = 0.05
PATHS = ("/api/search", "/v1/chat/completions", "/api/chat/import", "/api/chat/sessions")


async def measure(scale: float) -> Report:
    """Send bodies of 50 MB, with and without a length, to several endpoints at once."""
    senders = scaled(SENDERS, scale, 2 * len(PATHS))
    report = Report(
        f"Bodies of {MEGABYTES} MB",
        f"{senders} at once, to {', '.join(f'`{path}`' for path in PATHS)}; half of them say their length, half send "
        "chunks. One server, without a proxy before it.",
    )
    async with World(Plan(servers=1, proxy=False)) as world:
        for number in range(20):
            await search(world, world.front, f"warm {number}")
        await _all(world, senders)  # what the first refusals load is loaded
        pids = world.servers[0].pids
        before, most = memory(pids), 0.0

        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, memory(pids))
                await asyncio.sleep(0.02)

        watching = asyncio.create_task(watch())
        say("bodies", f"{senders} bodies of {MEGABYTES} MB")
        answers = await _all(world, senders)
        watching.cancel()
        await search(world, world.front, "after")
    statuses = sorted({status for status, _, _ in answers})
    refused = sum(400 <= status < 500 for status, _, _ in answers)
    slowest = max(seconds for _, seconds, _ in answers)
    sent = max(size for _, _, size in answers) / 2**20
    report.add("refused", f"{refused} of {senders}", f"statuses {statuses}", "all", met=refused == senders)
    report.add(
        "slowest refusal", f"{slowest:.2f} s", f"at most {sent:.1f} MB were taken", f"{GOAL:g} s", met=slowest < GOAL
    )
    growth = most / before - 1
    report.add(
        "memory at most", f"{growth:+.1%}", f"{before:.0f} → {most:.0f} MB", f"{GROWTH:.0%}", met=growth < GROWTH
    )
    return report


async def _all(world: World, senders: int) -> list[tuple[int, float, int]]:
    sending = (_send(world, PATHS[number // 2 % len(PATHS)], chunked=number % 2 == 1) for number in range(senders))
    return list(await asyncio.wait_for(asyncio.gather(*sending), 120))


async def _send(world: World, path: str, *, chunked: bool) -> tuple[int, float, int]:
    """Return the status, the seconds and how many bytes were taken; status 0: hung up without a word."""
    reader, writer = await asyncio.open_connection("127.0.0.1", world.front.port)
    began, sent, size = time.perf_counter(), 0, MEGABYTES * 2**20
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {world.tokens[0]}\r\n"
    head += "Content-Type: application/json\r\n"
    head += "Transfer-Encoding: chunked\r\n\r\n" if chunked else f"Content-Length: {size}\r\n\r\n"
    writer.write(head.encode())
    answer = asyncio.create_task(reader.readline())
    with suppress(OSError):
        while sent < size and not answer.done():
            writer.write(b"%x\r\n%b\r\n" % (len(PIECE), PIECE) if chunked else PIECE)
            await writer.drain()
            sent += len(PIECE)
            await asyncio.sleep(0)
    status = 0
    with suppress(OSError, TimeoutError, IndexError):
        status = int((await asyncio.wait_for(answer, 30)).split(b" ", 2)[1])
    writer.close()
    return status, time.perf_counter() - began, sent
