"""A day in small: many searches and answers, and the memory of the servers meanwhile."""

from __future__ import annotations

import random
from functools import partial

from bench.table import Report
from chaos.load.common import Job, ms, p95, say, scaled, search, source, spread
from chaos.processes import memory
from chaos.reader import Reader, Strike
from chaos.run import warm
from chaos.wire import Refused, Unreachable
from chaos.world import Plan, World

SEARCHES = 50_000
ANSWERS = 2_000
POINTS = 10
WARM_UP = 0.25
AT_ONCE = 12
FRESH = 0.4
CACHE = 500
GROWTH = 0.05


async def measure(scale: float) -> Report:
    """Search and ask for a long while; look at the memory at ten points."""
    searches, answers = scaled(SEARCHES, scale, 400), scaled(ANSWERS, scale, 40)
    report = Report(
        f"A day in small: {searches:,} searches and {answers:,} answers",
        f"Two servers behind nginx, PostgreSQL, Redis; {AT_ONCE} clients; {FRESH:.0%} of the searches are new. The "
        f"first {WARM_UP:.0%} warm the servers up, then the memory of all their processes is taken at {POINTS} points "
        f"(cache of {CACHE} entries, so that it is full by then).",
    )
    took: list[float] = []
    failed: list[str] = []
    points: list[float] = []
    chance = random.Random(1)  # the same day each time
    async with World(Plan(settings={"QIUSUO_CACHE_SIZE": str(CACHE)})) as world:
        await warm(world)
        pids = [pid for server in world.servers for pid in server.pids]

        async def one_search(query: str, owner: int) -> None:
            try:
                took.append(await search(world, world.front, query, owner))
            except (Refused, Unreachable) as error:
                failed.append(str(error))

        async def one_answer(number: int) -> None:
            token = world.tokens[number % len(world.tokens)]
            reader = Reader(world.front, f"d{number}", token, source(number), Strike(), words=40, pace=200)
            await reader.read()
            if reader.done is None or reader.streamed != reader.expected:
                failed.append(f"answer {number}: {reader.trouble[:1]}")
            else:  # kept for a day, not for ever: people delete, too
                await world.front.call("DELETE", reader.path, token=token)

        def jobs(part: float, first: int) -> list[Job]:
            found: list[Job] = []
            for number in range(scaled(searches, part)):
                fresh = chance.random() < FRESH
                query = f"fresh {first} {number}" if fresh else f"again {int(chance.paretovariate(1)) % 300}"
                found.append(partial(one_search, query, number % len(world.tokens)))
            found += [partial(one_answer, first * 100_000 + number) for number in range(scaled(answers, part))]
            chance.shuffle(found)
            return found

        await spread(jobs(WARM_UP, 1), AT_ONCE)
        for point in range(POINTS):
            await spread(jobs((1 - WARM_UP) / POINTS, 2 + point), AT_ONCE)
            points.append(memory(pids))
            say("day", f"point {point + 1} of {POINTS}: {points[-1]:.0f} MB, {len(failed)} failed")
    growth = max(points) / points[0] - 1
    shown = " ".join(f"{point:.0f}" for point in points)
    report.add(
        "memory, the most against the first point",
        f"{growth:+.1%}",
        f"{shown} MB",
        f"{GROWTH:.0%}",
        met=growth <= GROWTH,
    )
    report.add("failed", str(len(failed)), str(failed[:1] or ""), "0", met=not failed)
    report.add("searches, p95", ms(p95(took)))
    return report
