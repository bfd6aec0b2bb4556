"""The faults: how each strikes and how it is over."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from chaos.clock import compiler
from chaos.processes import NotThere, family
from chaos.world import Plan, World, has_workers

CLOCK_STEP: Final = 120


@dataclass(frozen=True)
class Fault:
    """A fault by name; ``strike`` returns when it is over."""

    name: str
    about: str
    strike: Callable[[World], Awaitable[None]]
    plan: Plan = field(default_factory=Plan)
    most_streams: int = 10_000
    breaking: float = 0.0  # which part of the answers the model itself breaks off
    needs: Callable[[], object] = lambda: None  # raises NotThere


async def _kill_worker(world: World) -> None:
    os.kill(world.servers[0].worker_pids[0], signal.SIGKILL)


async def _kill_server(world: World) -> None:
    server = world.servers[0]
    server.program.kill()
    await asyncio.sleep(5)
    await server.start()


async def _terminate_server(world: World) -> None:
    server = world.servers[0]
    server.program.send(signal.SIGTERM)
    if not await server.program.ended(20):
        server.program.kill()
        raise RuntimeError("the server did not end within 20 s of SIGTERM")
    await server.start()


async def _stop_postgres(world: World) -> None:
    await world.stop_postgres()
    await asyncio.sleep(10)
    assert world.postgres is not None
    world.postgres.start()
    await world.postgres_answers()


async def _kill_redis(world: World) -> None:
    assert world.redis is not None
    world.redis.kill()
    await asyncio.sleep(5)
    world.redis.start()
    await world.redis_answers()


async def _freeze_redis(world: World) -> None:
    assert world.redis is not None
    world.redis.send(signal.SIGSTOP)
    await asyncio.sleep(20)
    world.redis.send(signal.SIGCONT)


async def _wait(world: World) -> None:  # noqa: ARG001 - the model breaks off by itself
    await asyncio.sleep(10)


async def _fill_disk(world: World) -> None:
    """Leave no room on the small disk; where none could be mounted, let the database's files not grow."""
    disk = world.disk
    if disk.is_mount():
        filler = disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        await asyncio.sleep(10)
        filler.unlink()
        return
    pids = family(world.servers[0].program.pid)
    size = max(path.stat().st_size for path in disk.glob("chat.db*") if path.is_file())
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    await asyncio.sleep(10)
    for pid in pids:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


async def _step_clocks(world: World) -> None:
    for server in world.servers:
        server.set_clock(CLOCK_STEP)
    await asyncio.sleep(10)
    for server in world.servers:
        server.set_clock(0)


async def _step_one_clock(world: World) -> None:
    world.servers[0].set_clock(CLOCK_STEP)
    await asyncio.sleep(10)
    world.servers[0].set_clock(0)


def _workers() -> None:
    if not has_workers():
        raise NotThere("this qiusuo serve has no --workers")


TWO = Plan()
FAULTS: Final = {
    fault.name: fault
    for fault in (
        Fault("worker", "one worker of a server is killed (`kill -9`)", _kill_worker, needs=_workers),
        Fault("server", "a server is killed with its workers, and started again after 5 s", _kill_server),
        Fault("postgres", "PostgreSQL stops for 10 s", _stop_postgres),
        Fault("redis", "Redis is killed, and started again after 5 s", _kill_redis),
        Fault("redis-frozen", "Redis hangs for 20 s (SIGSTOP)", _freeze_redis),
        Fault("model", "the model resets every third answer in the middle", _wait, breaking=1 / 3),
        Fault(
            "disk",
            "no room on SQLite's disk for 10 s (one server)",
            _fill_disk,
            replace(TWO, servers=1, sqlite=True, small_disk=True),
        ),
        Fault("sigterm", "a server is told to stop (SIGTERM), and started again", _terminate_server, most_streams=50),
        Fault(
            "clock",
            "the clock steps by 2 minutes, and back after 10 s",
            _step_clocks,
            replace(TWO, fake_clock=True),
            needs=compiler,
        ),
        Fault(
            "clock-one",
            "the clock of one server steps by 2 minutes, and back after 10 s",
            _step_one_clock,
            replace(TWO, fake_clock=True),
            needs=compiler,
        ),
    )
}
