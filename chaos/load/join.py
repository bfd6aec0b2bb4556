"""What it costs that a reader joins an answer from another server than the one that makes it."""

from __future__ import annotations

import asyncio

from bench.table import Report
from chaos.load.common import say, scaled, source
from chaos.processes import NotThere, cpu_seconds
from chaos.reader import Reader, Strike
from chaos.wire import Front, Refused, Unreachable
from chaos.world import Plan, Server, World

STREAMS = 60
WORDS = 400
PACE = 20.0
ROUNDS = 3
GOAL = 0.05


async def measure(scale: float) -> Report:
    """Let answers of one server be read by a second reader, there and from the other server, in turns."""
    streams, words = scaled(STREAMS, scale, 8), scaled(WORDS, scale * 2, 80) if scale < 1 else WORDS
    report = Report(
        "A join from the other server",
        f"{streams} answers of {words} words at {PACE:g} a second on one server, each with its own reader and a "
        "second one who joins: nobody, on the same server, on the other one. Processor time for each word, best of "
        f"{ROUNDS} turns.",
    )
    kinds = ("unshared", "alone", "same", "other")
    answering: dict[str, list[float]] = {kind: [] for kind in kinds}
    together: dict[str, list[float]] = {kind: [] for kind in kinds}
    async with World(Plan(workers=1, proxy=False)) as world, World(Plan(1, 1, redis=False, proxy=False)) as bare:
        one, other = world.servers
        for turn in range(ROUNDS + 1):
            for kind in kinds:
                say("join", f"turn {turn}: {kind}")
                beside = {"same": one, "other": other}.get(kind)
                where, server = (bare, bare.servers[0]) if kind == "unshared" else (world, one)
                spent = await _turn(where, server, beside, streams, words if turn else 40, f"{turn}{kind}")
                if turn:  # the first one warms up
                    answering[kind].append(spent[0])
                    together[kind].append(spent[1])
    for kind, name in zip(
        kinds, ("without Redis", "no second reader", "on the same server", "on the other server"), strict=True
    ):
        report.add(
            f"{name}: the answering server", _us(min(answering[kind])), f"both servers {_us(min(together[kind]))}"
        )
    for kind, against in (("alone", "unshared"), ("other", "alone")):
        what = "joined from the other server" if kind == "other" else "that others could join, through Redis"
        more = min(answering[kind]) / min(answering[against]) - 1
        compared = "against no second reader" if kind == "other" else "against no Redis"
        report.add(f"more for the answering server: {what}", f"{more:+.1%}", compared, f"{GOAL:.0%}", met=more < GOAL)
    return report


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs a word"


async def _turn(
    world: World, one: Server, beside: Server | None, streams: int, words: int, name: str
) -> tuple[float, float]:
    """Return the processor time for each word: that of the answering server, and of both."""
    pids, all_pids = one.pids, [pid for server in world.servers for pid in server.pids]
    front, before = Front(one.port), (cpu_seconds(one.pids), cpu_seconds(all_pids))
    readers = [
        Reader(front, f"j{name}x{n}", world.tokens[n % len(world.tokens)], source(n), Strike(), words, PACE)
        for n in range(streams)
    ]
    async with asyncio.TaskGroup() as group:
        for reader in readers:
            group.create_task(reader.read())
            if beside is not None:
                group.create_task(_join(reader, Front(beside.port)))
    failed = [reader.trouble[:1] for reader in readers if reader.streamed != reader.expected]
    if failed:
        raise RuntimeError(f"{len(failed)} answers did not come whole: {failed[0]}")
    count = streams * words
    return (cpu_seconds(pids) - before[0]) / count, (cpu_seconds(all_pids) - before[1]) / count


async def _join(reader: Reader, front: Front) -> None:
    async with asyncio.timeout(60):
        while not reader.turn:
            await asyncio.sleep(0.05)
    text = ""
    try:
        path = f"{reader.path}/turns/{reader.turn}/events"
        async with front.stream("GET", path, token=reader.token, source=reader.source) as events:
            async for some in events:
                text += "".join(data["text"] for _, data in some if data["type"] == "delta")
    except Refused as error:
        if error.status == 404:
            raise NotThere("an answer cannot be joined from another server") from None
        raise RuntimeError(str(error)) from None
    except Unreachable as error:
        raise RuntimeError(str(error)) from None
    if text != reader.expected:
        raise RuntimeError(f"joined and heard {len(text)} characters of {len(reader.expected)}")
