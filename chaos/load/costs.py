"""What one search, one answer and one reader cost a server, Redis and PostgreSQL: the figures that plans rest on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import asyncpg
from redis.asyncio import Redis

from bench.table import Report
from chaos.load.common import say, scaled, search, source, spread
from chaos.processes import cpu_seconds, family, memory
from chaos.reader import Reader, Strike
from chaos.run import warm
from chaos.world import Plan, World

SEARCHES = 2000
ANSWERS = 200
WORDS = 300
READERS = 400
SETTLE_SECONDS = 2.5
"""PostgreSQL tells what it has done a little later."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been used up so far."""

    server: float
    redis: float
    postgres: float
    redis_calls: int
    transactions: int
    bytes: int

    def since(self, before: Spent, count: int) -> str:
        """Return what each of so many cost since then, in words."""
        cpu = " + ".join(
            f"{(now - then) / count * 1000:.2f} ms {name}"
            for name, now, then in (
                ("server", self.server, before.server),
                ("PostgreSQL", self.postgres, before.postgres),
                ("Redis", self.redis, before.redis),
            )
        )
        calls = (self.redis_calls - before.redis_calls) / count
        done = (self.transactions - before.transactions) / count
        return f"{cpu}; {calls:.1f} commands of Redis, {done:.1f} transactions"


async def measure(scale: float) -> Report:
    """Do many of each, one kind after another, and look at what was used."""
    searches, answers = scaled(SEARCHES, scale, 100), scaled(ANSWERS, scale, 20)
    report = Report(
        "What one of each costs",
        f"One server with one worker, PostgreSQL, Redis. {searches:,} searches, {answers} answers of {WORDS} words (a "
        "word is an event of the model), each asked in a conversation of its own. Processor time of each program.",
    )
    async with World(Plan(servers=1, workers=1, proxy=False)) as world:
        await warm(world)
        [server] = world.servers
        database = await asyncpg.connect(world.environment["QIUSUO_DATABASE_URL"])
        redis = Redis.from_url(world.environment["QIUSUO_REDIS_URL"])
        look = partial(_spent, world, database, redis)
        try:
            for name, query in (("a new search", "new {}"), ("a search that is known", "known")):
                say("costs", name)
                jobs = [partial(search, world, world.front, query.format(number)) for number in range(searches)]
                report.add(name, await _each(look, partial(spread, jobs, 8), searches))
            say("costs", "answers")
            kept = (await look()).bytes
            readers = [_reader(world, number) for number in range(answers)]
            asking = [partial(reader.read) for reader in readers]
            report.add(f"an answer of {WORDS} words", await _each(look, partial(spread, asking, 10), answers))
            size = ((await look()).bytes - kept) / answers
            report.add("a conversation with one answer, in PostgreSQL", f"{size / 1000:.1f} kB")
            say("costs", "readers")
            before, count = memory(server.pids), scaled(READERS, scale, 40)
            async with asyncio.TaskGroup() as group:
                idle = [_reader(world, 10_000 + number, pace=1.0, words=40) for number in range(count)]
                for reader in idle:
                    group.create_task(reader.read())
                await asyncio.sleep(12)
                grown = memory(server.pids) - before
            report.add("an answer under way, with its reader", f"{grown / count * 1000:.0f} kB of memory")
            report.add("a server at rest", f"{before:.0f} MB of memory")
        finally:
            await database.close()
            await redis.aclose()
    return report


def _reader(world: World, number: int, *, pace: float = 400.0, words: int = WORDS) -> Reader:
    token = world.tokens[number % len(world.tokens)]
    return Reader(world.front, f"c{number}", token, source(number), Strike(), words=words, pace=pace)


async def _each(look: Callable[[], Awaitable[Spent]], work: Callable[[], Awaitable[None]], count: int) -> str:
    before = await look()
    await work()
    return (await look()).since(before, count)


async def _spent(world: World, database: asyncpg.Connection, redis: Redis) -> Spent:
    assert world.redis is not None
    assert world.postgres is not None
    await asyncio.sleep(SETTLE_SECONDS)
    stats = await redis.info("commandstats")
    row = await database.fetchrow(
        "SELECT xact_commit + xact_rollback AS done, pg_database_size(datname) AS bytes "
        "FROM pg_stat_database WHERE datname = current_database()"
    )
    return Spent(
        server=cpu_seconds([pid for server in world.servers for pid in server.pids]),
        redis=cpu_seconds([world.redis.pid]),
        postgres=cpu_seconds(family(world.postgres.pid)),
        redis_calls=sum(each["calls"] for each in stats.values()),
        transactions=row["done"],
        bytes=row["bytes"],
    )
