"""Slow senders: clients that never finish their requests (slowloris)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from bench.table import Report
from chaos.load.common import SEARCH_GOAL, cancelled, ms, p95, say, scaled, searching, source
from chaos.world import Plan, World

SENDERS = 500
SECONDS = 12


async def measure(scale: float) -> Report:
    """Let many send slowly; look how others are served."""
    senders = scaled(SENDERS, scale, 20)
    report = Report(
        f"{senders} slow senders",
        "One server, without a proxy before it. Half of the senders send a byte of their headers every second, half of "
        "them headers and then a byte of a body; who is sent away comes again.",
    )
    async with World(Plan(servers=1, proxy=False)) as world:
        async with searching(world, world.front) as before:
            await asyncio.sleep(4)
        tasks = [asyncio.create_task(_send(world, number)) for number in range(senders)]
        await asyncio.sleep(2)
        say("slow", f"{senders} send slowly")
        async with searching(world, world.front) as meanwhile:
            await asyncio.sleep(SECONDS)
        await cancelled(tasks)
    report.add(
        "searches meanwhile, p95", ms(p95(meanwhile.seconds)), f"{ms(p95(before.seconds))} before", ms(SEARCH_GOAL),
        met=p95(meanwhile.seconds) < SEARCH_GOAL,
    )  # fmt: skip
    failed, all_of_them = len(meanwhile.failures), len(meanwhile.failures) + len(meanwhile.seconds)
    report.add(
        "searches that failed", f"{failed} of {all_of_them}", str(meanwhile.failures[:1] or ""), "0", met=not failed
    )
    return report


async def _send(world: World, number: int) -> None:
    body = number % 2
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", world.front.port, local_addr=(source(number), 0))
            try:
                writer.write(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\n")
                if body:
                    token = world.tokens[1].encode()
                    writer.write(b"Authorization: Bearer %b\r\nContent-Length: 20000\r\n\r\n" % token)
                while not writer.transport.is_closing():
                    writer.write(b" " if body else b"X-Slow: 1\r\n")
                    await writer.drain()
                    await asyncio.sleep(1)
            finally:
                writer.close()
        await asyncio.sleep(0.5)
