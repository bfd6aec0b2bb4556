"""One process and two: searches in a second."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.rest import WRK_SCRIPT
from bench.table import Report
from chaos.load.common import say, search
from chaos.processes import NotThere, cpu_seconds, family, program
from chaos.world import Plan, World, has_workers

ROUNDS = 4
SECONDS = 5
GOAL = 1.8
UPSTREAM_SECONDS = 0.1
PER_TURN = 1_000_000  # more than anybody answers in a turn: no two turns ask the same
CALCULATION = "d = {}\nfor i in range(20_000_000): d[i * 7 % 5000] = d.get(i % 5000, 0) + 1"
# So many connections that two workers are busy too: each uncached search waits for the upstream most of its time.
KINDS = (("cached", 64), ("uncached", 800))


@dataclass
class _Rates:
    """Turns of one world: searches in a second, and in a second of its processor time.

    ``others``: the part of the machine's processor time that wrk, upstream and Redis have taken.
    """

    by_time: list[float] = field(default_factory=list)
    by_processor: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)


async def measure(scale: float) -> Report:
    """Ask worlds of one and of two workers in turns."""
    if not has_workers():
        raise NotThere("this qiusuo serve has no --workers")
    wrk = program("wrk", "wrk")
    rounds, seconds = (ROUNDS, SECONDS) if scale >= 1 else (2, 2)
    report = Report(
        "One worker and two",
        f"`POST /api/search` by wrk on the same machine ({os.cpu_count()} cores), best of {rounds} turns of "
        f"{seconds} s; uncached over an upstream that takes {UPSTREAM_SECONDS * 1000:.0f} ms. wrk, the upstream and "
        "Redis take processor time, too. *Machines of one and two cores*: one worker with all of them on one core, two "
        "workers with all of them on two, so that they take the same part of both. *Two workers against one* leaves "
        "them a core of their own beside one worker, and none beside two; *with free cores* is twice the ratio of "
        "searches in a second of the workers' own time, what two workers would do if nobody else used their cores.",
    )
    settings = {"QIUSUO_ENGINES__SEARXNG__MAX_CONCURRENCY": "1000"}
    plans = [Plan(1, workers, proxy=False, search_seconds=UPSTREAM_SECONDS, settings=settings) for workers in (1, 2)]
    rates = {(kind, workers): _Rates() for kind, _ in KINDS for workers in (1, 2)}
    small = {kind: _Rates() for kind, _ in KINDS}
    async with World(plans[0]) as one, World(plans[1]) as two:
        for turn in range(rounds + 1):
            for kind, connections in KINDS:
                for world, workers in ((one, 1), (two, 2)):
                    say("workers", f"turn {turn}, {kind}, {workers}")
                    found = rates[kind, workers] if turn else _Rates()  # the first one warms up
                    await _turn(world, wrk, found, seconds, connections, turn if kind == "uncached" else None)
        _keep_to_one_core(one)
        for turn in range(1, rounds + 1):
            for kind, connections in KINDS:
                say("workers", f"turn {turn}, {kind}, one core")
                fresh = rounds + 1 + turn if kind == "uncached" else None
                await _turn(one, wrk, small[kind], seconds, connections, fresh, "taskset", "-c", "0")
    report.add(
        "for comparison: two programs that only calculate", f"{await _calculating(1) / await _calculating(2) * 2:.2f}x",
        "what this machine's second core is worth",
    )  # fmt: skip
    for kind, _ in KINDS:
        single, double = rates[kind, 1], rates[kind, 2]
        alone, together = max(single.by_time), max(double.by_time)
        free = 2 * max(double.by_processor) / max(single.by_processor)
        slow = max(small[kind].by_time)
        report.add(
            f"{kind}: machines of one and two cores", f"{together / slow:.2f}x", f"{slow:,.0f} → {together:,.0f}/s",
            f"{GOAL:g}x", met=together / slow >= GOAL,
        )  # fmt: skip
        report.add(
            f"{kind}: two workers against one", f"{together / alone:.2f}x",
            f"{alone:,.0f} → {together:,.0f}/s; with free cores {free:.2f}x; wrk, upstream and Redis took "
            f"{min(double.others):.0%} of the two cores", f"{GOAL:g}x",
            met=together / alone >= GOAL,
        )  # fmt: skip
    return report


async def _calculating(programs: int) -> float:
    """Return the seconds that so many programs take side by side to calculate the same each."""
    began = time.perf_counter()
    each = [await asyncio.create_subprocess_exec(sys.executable, "-c", CALCULATION) for _ in range(programs)]
    await asyncio.gather(*(program_.wait() for program_ in each))
    return time.perf_counter() - began


def _keep_to_one_core(world: World) -> None:
    """Let all that runs in a world, every thread of it, run on the first core alone."""
    for running in (each for each in world.programs if each.runs):
        for pid in family(running.pid):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {0})


async def _turn(
    world: World, wrk: str, rates: _Rates, seconds: int, connections: int, fresh: int | None, *through: str
) -> None:
    script = world.folder / "wrk.lua"
    script.write_text(WRK_SCRIPT)
    environment = {**os.environ, "BENCH_TOKEN": world.tokens[0], "BENCH_FIRST": str((fresh or 0) * PER_TURN)}
    environment |= {} if fresh is None else {"BENCH_FRESH": "1"}
    if fresh is None:
        await search(world, world.front, "bench 0")
    pids = world.servers[0].pids
    beside = [pid for each in (world.doubles, world.redis) if each is not None for pid in family(each.pid)]
    before, before_beside, before_wrk = cpu_seconds(pids), cpu_seconds(beside), _ended_programs_seconds()
    process = await asyncio.create_subprocess_exec(
        *through, wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), f"http://127.0.0.1:{world.front.port}/api/search",
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        said = (await asyncio.wait_for(process.communicate(), seconds + 30))[0].decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    spent = cpu_seconds(pids) - before
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    if rate is None or "Non-2xx" in said:
        raise RuntimeError(f"wrk: {said}")
    rates.by_time.append(float(rate[1]))
    rates.by_processor.append(float(rate[1]) * seconds / max(spent, 0.01))
    others = cpu_seconds(beside) - before_beside + _ended_programs_seconds() - before_wrk
    rates.others.append(others / seconds / (os.cpu_count() or 1))


def _ended_programs_seconds() -> float:
    """Return the processor time of all programs that were started here and have ended."""
    taken = os.times()
    return taken.children_user + taken.children_system
