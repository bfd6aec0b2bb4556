"""Many answers at once."""

from __future__ import annotations

import asyncio
import time

from bench.table import Report
from chaos.load.common import middle, say, scaled, source
from chaos.reader import Reader, Strike
from chaos.run import warm
from chaos.world import Plan, World

STREAMS = 300
WORDS = 400
PACE = 20.0
RAMP = 3.0
GOAL = 2.0


async def measure(scale: float) -> Report:
    """Let many answers stream through the proxy and two servers."""
    many, words = scaled(STREAMS, scale, 5), scaled(WORDS, min(1.0, scale * 4), 60)
    report = Report(
        f"{many} answers at once",
        f"Two servers behind nginx, PostgreSQL, Redis; all of it, the model and the readers on one machine. "
        f"{many} readers begin within {RAMP:g} s, each gets {words} words at {PACE:g} a second.",
    )
    async with World(Plan()) as world:
        await warm(world)
        say("streams", f"{many} answers")
        readers = [
            Reader(world.front, f"s{n}", world.tokens[n % len(world.tokens)], source(n), Strike(), words, PACE)
            for n in range(many)
        ]
        took: list[float] = []

        async def read(number: int) -> None:
            await asyncio.sleep(number * RAMP / many)
            began = time.monotonic()
            await readers[number].read()
            took.append(time.monotonic() - began)

        await asyncio.wait_for(asyncio.gather(*(read(number) for number in range(many))), 60 + words / PACE * 6)
    firsts = [reader.first_word_after for reader in readers if reader.first_word_after is not None]
    whole = sum(reader.done is not None and reader.streamed == reader.expected for reader in readers)
    report.add("whole", f"{whole} of {many}", "", "all", met=whole == many)
    report.add(
        "first word, median", f"{middle(firsts):.2f} s", f"worst {max(firsts, default=0):.2f} s", f"{GOAL:g} s",
        met=middle(firsts) < GOAL,
    )  # fmt: skip
    ideal = words / PACE
    report.add(
        "the whole answer, median", f"{middle(took):.1f} s", f"worst {max(took):.1f} s", f"{ideal:.0f} s of text"
    )
    return report
