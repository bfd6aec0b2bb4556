"""Two servers behind nginx, over PostgreSQL and Redis, when one of these is killed: small ones of ``make chaos``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chaos.faults import Fault
from chaos.run import Size, Told, strike_world
from chaos.world import Plan, World
from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.redis_process import with_redis
from tests.support.reverse_proxies import with_nginx

# One process has the database; its mark wins over that of Redis.
pytestmark = [*with_redis[:1], *with_postgres, with_nginx, pytest.mark.asyncio(loop_scope="module")]

SMALL = Size(streams=6, workers=1, ramp=0.4, until_strike=0.2, shortest=2, longest=3.5)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(postgres: PostgresProcess) -> AsyncIterator[World]:
    async with World(Plan(workers=1, database=postgres.url(postgres.create()))) as running:
        yield running


async def kill_redis(world: World) -> None:
    assert world.redis is not None
    world.redis.kill()
    await asyncio.sleep(0.5)
    world.redis.start()
    await world.redis_answers()


async def kill_server(world: World) -> None:
    server = world.servers[0]
    server.program.kill()
    await server.start()


async def struck(world: World, fault: Fault) -> Told:
    told = Told(fault, SMALL.streams)
    await strike_world(world, told, SMALL)
    assert told.verdict.lost == []
    assert told.verdict.doubled == []
    assert told.verdict.unheard == []
    assert told.verdict.unsent == 0
    assert told.normal_after is not None
    assert told.verdict.silence < 15
    return told


async def test_redis_is_killed(world: World) -> None:
    told = await struck(world, Fault("redis", "", kill_redis))
    assert told.verdict.whole == SMALL.streams


async def test_a_server_is_killed(world: World) -> None:
    """The answers of the other one go on; of its own what was written is kept, and its readers learn the end."""
    told = await struck(world, Fault("server", "", kill_server))
    assert told.verdict.broken_off > 0
    assert told.verdict.whole > 0
    assert told.verdict.whole + told.verdict.broken_off == SMALL.streams
