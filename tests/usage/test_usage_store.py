"""Sums in the database: exact under many writers, folded into days, forgotten in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy import text as sql

from qiusuo.chat.events.observe import Answered
from qiusuo.models import Attempt, Outcome, SearchResponse, SearchResultItem
from qiusuo.pipeline.observe import Asked
from qiusuo.usage.recorder import FAILING, HOUR, MAX_NAMES, OTHERS, SLOW, UsageRecorder
from qiusuo.usage.report import Range, Report
from qiusuo.usage.store import DAY, MAX_QUERIES_A_DAY, UsageStore
from tests.support.stores import Place, place, url

__all__ = ["place", "url"]

ITEM = SearchResultItem("T", "https://e.example/", "s", "e.example")


class Server:
    """A process that counts into a place."""

    def __init__(self, place: Place, **options: Any) -> None:
        self.place = place
        self.recorder = UsageRecorder(clock=lambda: place.now, keep_queries=True)
        self.store = UsageStore(place.server().database, clock=lambda: place.now, **options)

    def search(self, engine: str = "brave", user: str | None = "amy", *, query: str = "tea", ms: int = 100) -> None:
        attempt = Attempt(engine, Outcome.OK, ms)
        response = SearchResponse(query, (ITEM,), engine, (attempt,))
        self.recorder.attempt_ended(attempt)
        self.recorder.search_ended(ms / 1000, response, Asked(query, user))

    def answer(self, model: str = "m", user: str | None = "amy") -> None:
        self.recorder.answer_ended(Answered(model, "done", user, 2.0, 100, 10))

    async def write(self) -> None:
        await self.store.add(self.recorder.take())

    async def report(self, days: int = 90, owner: str | None = None, by: str | None = None) -> dict[str, Any]:
        return await Report(self.store, Range.of(days, by, self.place.now), owner).read()

    async def rows(self, table: str = "qiusuo_usage") -> int:
        def work(connection: Connection) -> int:
            return int(connection.execute(sql(f"SELECT count(*) FROM {table}")).scalar_one())  # noqa: S608 - ours

        return await self.store.database.run(work)


async def test_many_writers_lose_nothing(place: Place) -> None:
    servers = [Server(place) for _ in range(4)]
    for round_ in range(5):
        for number, server in enumerate(servers):
            for _ in range(number + 1):
                server.search(f"engine{round_ % 2}")
            server.answer()
        await asyncio.gather(*(server.write() for server in servers))
    report = await servers[0].report()
    assert report["total"]["searches"] == 5 * (1 + 2 + 3 + 4)
    assert {row["name"]: row["requests"] for row in report["engines"]} == {"engine0": 30, "engine1": 20}
    assert (report["total"]["answers"], report["total"]["tokensIn"], report["total"]["tokensOut"]) == (20, 2000, 200)


async def test_a_batch_that_is_sent_twice_counts_once(place: Place) -> None:
    server = Server(place)
    server.search()
    batch = server.recorder.take()
    await asyncio.gather(*(server.store.add(batch) for _ in range(3)))
    server.search()
    await server.write()
    assert (await server.report())["total"]["searches"] == 2


async def test_hours_become_days_and_days_end(place: Place) -> None:
    server = Server(place)
    place.now = place.now // DAY * DAY + 5 * HOUR
    first = place.now
    for _ in range(30):  # an hour a day apart, over 30 days
        server.search(ms=40)
        server.search(ms=4000)
        place.now += HOUR
        server.search(user="bob")
        await server.write()
        place.now += DAY - HOUR
    before = await server.report(40)
    rows = await server.rows()
    await server.store.tidy(90, keep_queries=True)
    after = await server.report(40)
    assert after == before
    assert after["total"]["searches"] == 90
    assert after["total"]["median"] is not None
    assert await server.rows() < rows, "the hours of old days are folded"
    await server.store.tidy(90, keep_queries=True)
    assert await server.report(40) == before, "folding again changes nothing"
    # Hours of the last week are still hours.
    week = await server.report(7, by="hour")
    assert week["total"]["searches"] == 6 * 3 + 1
    assert max(row["searches"] for row in week["time"]) == 2
    # A late count for a day that was folded is added to it.
    now, place.now = place.now, first
    server.search()
    await server.write()
    place.now = now
    assert (await server.report(40))["total"]["searches"] == 91
    await server.store.tidy(90, keep_queries=True)
    assert (await server.report(40))["total"]["searches"] == 91
    # What is older than the setting goes.
    await server.store.tidy(10, keep_queries=True)
    assert (await server.report(40))["total"]["searches"] == 30
    place.now += 11 * DAY
    await server.store.tidy(10, keep_queries=True)
    assert (await server.rows(), await server.rows("qiusuo_usage_queries")) == (0, 0)


async def test_none_of_the_days_keeps_nothing(place: Place) -> None:
    server = Server(place)
    server.search()
    await server.write()
    await server.store.tidy(0)
    assert await server.rows() == 0


async def test_too_many_rows_count_people_together(place: Place) -> None:
    server = Server(place, most_rows=50)
    for day in range(4):
        for number in range(20):
            server.search(user=f"user{number}")
        await server.write()
        place.now += DAY * (day < 3)
    await server.store.tidy(90)
    assert await server.rows() <= 50
    report = await server.report(10)
    assert report["total"]["searches"] == 80
    people = {row["name"]: row["searches"] for row in report["people"]}
    assert people[OTHERS] >= 40
    assert sum(people.values()) == 80


async def test_hostile_names(place: Place) -> None:
    server = Server(place)
    hostile = ("=cmd|' /C calc'!A0", "a\0b", "\ud800", "x" * 5000, "'; DROP TABLE qiusuo_usage; --", "", "<script>")
    for name in hostile:
        server.search(name, user=name)
        server.answer(name, user=name)
    for number in range(MAX_NAMES + 50):
        server.search(f"engine-{number}")
    await server.write()
    report = await server.report()
    assert report["total"]["searches"] == len(hostile) + MAX_NAMES + 50
    names = {row["name"]: row["searches"] for row in report["engines"]}
    assert len(names) <= MAX_NAMES + 1
    assert names[OTHERS] >= 50
    assert max(map(len, names)) <= 100
    people = {row["name"]: row["searches"] for row in report["people"]}
    assert people["<script>"] == 1
    assert people[OTHERS] == 3, "names that no database takes as they are"
    assert (await server.report(owner="<script>"))["total"]["searches"] == 1


async def test_words_of_searches_are_few(place: Place) -> None:
    server = Server(place)
    for number in range(200):
        server.search(query=f"query {number}", ms=number)
        if number % 10 == 9:
            await server.write()
    server.recorder.search_ended(1.0, OSError(), Asked("broken", None))
    await server.write()
    await server.store.tidy(90, keep_queries=True)
    assert await server.rows("qiusuo_usage_queries") <= MAX_QUERIES_A_DAY + 1
    kept = await server.store.queries(0)
    assert [each.query for each in kept if each.kind == SLOW][:2] == ["broken", "query 199"]
    assert [(each.query, each.outcome) for each in kept if each.kind == FAILING] == [("broken", "error")]
    await server.store.tidy(90, keep_queries=False)
    assert await server.rows("qiusuo_usage_queries") == 0


@pytest.mark.parametrize(("days", "by"), [(0, None), (99999, None), (1, "minute"), (8, "hour")])
def test_ranges_that_are_none(days: int, by: str | None) -> None:
    from qiusuo.errors import InvalidQuery

    with pytest.raises(InvalidQuery):
        Range.of(days, by, 1_790_000_000)
