"""Much that was kept: ten thousand conversations of one owner, and one of five hundred turns."""

from __future__ import annotations

import copy
import time
from functools import partial
from typing import Any

from bench.table import Report
from chaos.doubles import question
from chaos.load.common import middle, ms, p95, say, scaled, spread
from chaos.reader import Reader, Strike
from chaos.world import Plan, World

CONVERSATIONS = 10_000
TURNS = 500
TIMES = 15
LIST_GOAL = 0.2
OPEN_GOAL = 1.0
LIMITS = {"QIUSUO_MAX_CONVERSATIONS": "20000", "QIUSUO_MAX_TURNS": "1000"}


async def measure(scale: float) -> Report:
    """Fill the store through the import, then list, search and open."""
    many, turns = scaled(CONVERSATIONS, scale, 100), scaled(TURNS, scale, 30)
    report = Report(
        f"{many:,} conversations of one owner, one of {turns} turns",
        "One server over PostgreSQL, and over SQLite. Brought in by the import, of a real answer with sources; "
        f"{TIMES} requests each.",
    )
    for name, plan in (
        ("PostgreSQL", Plan(servers=1, proxy=False, settings=LIMITS)),
        ("SQLite", Plan(servers=1, workers=1, proxy=False, sqlite=True, redis=False, settings=LIMITS)),
    ):
        async with World(plan) as world:
            await _fill(world, many, turns, name)
            await _look(world, report, name, turns)
    return report


async def _fill(world: World, many: int, turns: int, name: str) -> None:
    token, call = world.tokens[0], world.front.call
    reader = Reader(world.front, "sample", token, "127.0.0.1", Strike(), words=150, pace=500)
    made = await call("POST", "/api/chat/sessions", {"settings": {"search": True}}, token=token)
    path = f"/api/chat/sessions/{made['id']}"
    body = {"text": question("sample", 150, 500), "language": "en"}
    async with world.front.stream("POST", f"{path}/turns", body, token=reader.token) as events:
        async for _ in events:
            pass
    sample = await call("GET", f"{path}/export.json", token=token)
    long = copy.deepcopy(sample)
    long["title"] = "the long one"
    long["turns"] = [_turn(sample["turns"][0], number) for number in range(turns)]
    await call("POST", "/api/chat/import", long, token=token, patience=120)

    async def bring(number: int) -> None:
        one = copy.deepcopy(sample)
        one["title"] = f"conversation {number} about subject{number % 97}"
        one["turns"] = [_turn(sample["turns"][0], number)]
        await call("POST", "/api/chat/import", one, token=token, patience=60)
        if number % 1000 == 999:
            say("archive", f"{name}: {number + 1:,} conversations are kept")

    await spread([partial(bring, number) for number in range(many)], 6)


def _turn(sample: dict[str, Any], number: int) -> dict[str, Any]:
    turn = copy.deepcopy(sample)
    turn["id"] = f"turn-{number}"
    turn["question"] = f"What about needle{number} in subject{number % 97}?"
    return turn


async def _look(world: World, report: Report, name: str, turns: int) -> None:
    found = await world.front.call("GET", "/api/chat/sessions?query=the+long+one&limit=5", token=world.tokens[0])
    long = next(one["id"] for one in found["sessions"] if one["title"] == "the long one")
    first = f"/api/chat/sessions/{long}"
    for what, paths, goal in (
        ("the list", ["/api/chat/sessions"], LIST_GOAL),
        ("the list, far down", ["/api/chat/sessions?offset=5000"], LIST_GOAL),
        ("search by a rare word", [f"/api/chat/sessions?query=needle{n}" for n in range(17, 77, 5)], LIST_GOAL),
        ("search by a common word", [f"/api/chat/sessions?query=subject{n}" for n in range(3, 60, 5)], LIST_GOAL),
        ("search for what is nowhere", ["/api/chat/sessions?query=nowhereatall"], LIST_GOAL),
        (f"open the one of {turns} turns", [first], OPEN_GOAL),
        (f"all of its {turns} turns", [f"{first}?limit={turns}"], OPEN_GOAL),
    ):
        took = []
        for number in range(TIMES):
            began = time.perf_counter()
            await world.front.call("GET", paths[number % len(paths)], token=world.tokens[0], patience=60)
            took.append(time.perf_counter() - began)
        report.add(
            f"{name}: {what}, median", ms(middle(took)), f"p95 {ms(p95(took))}", ms(goal), met=middle(took) < goal
        )
