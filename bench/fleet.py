"""Hundreds of servers against a few providers: who gets the last searches, and does a dead provider cause a stampede.

Each server is a whole search service with its own memory; they share a real Redis. The providers are objects that count
who asks them and when: what is looked at is how the servers behave together, not how fast they are.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from bench.table import Report
from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import SearchEngine
from qiusuo.errors import SearchError, Unavailable
from qiusuo.models import Query, SearchResultItem
from qiusuo.words import Fact

SERVERS = 200
QUOTA = 1000
SECONDS = 40.0
DEAD_SECONDS = 25.0


@dataclass(slots=True)
class Provider:
    """Counts who asks it. ``state``: answers, refuses at once, or stays silent."""

    state: str = "answers"
    asked: list[tuple[float, int]] = field(default_factory=list)

    def per_second(self, begun: float) -> Counter[int]:
        """Return how often it was asked in each second."""
        return Counter(int(moment - begun) for moment, _ in self.asked)


class _Counted(SearchEngine):
    costs_money = False

    def __init__(self, provider: Provider, server: int) -> None:
        self._provider = provider
        self._server = server

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - one is enough
        self._provider.asked.append((time.monotonic(), self._server))
        if self._provider.state == "refuses":
            raise Unavailable(Fact("http.refused", host="127.0.0.1"), engine=self.name)
        if self._provider.state == "silent":
            await asyncio.sleep(60)
        await asyncio.sleep(0.02)
        found = self.item(query.text, "https://example.com/page", "found")
        return [found] if found else []


class FirstEngine(_Counted):
    """The one that is preferred."""

    name = "first"


class SecondEngine(_Counted):
    """The one behind it."""

    name = "second"


@dataclass(slots=True)
class Fleet:
    """Servers over the same two providers."""

    first: Provider
    second: Provider
    services: list[SearchService]
    asked: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    async def ask(self, server: int, query: str) -> None:
        """Ask one server, and count how it ended."""
        begun = time.monotonic()
        try:
            response = await self.services[server].asearch(query)
        except SearchError:
            self.ended["failed"] += 1
        else:
            self.ended[response.provider] += 1
        self.seconds.append(time.monotonic() - begun)

    async def load(self, seconds: float, every: float) -> None:
        """Let each server be asked something new in every so many seconds, evenly spread."""
        begun, asked, tasks = time.monotonic(), 0, set[asyncio.Task[None]]()
        total = int(seconds / every * len(self.services))
        while asked < total:
            await asyncio.sleep(0.01)
            due = min(int((time.monotonic() - begun) / every * len(self.services)), total)
            for number in range(asked, due):
                task = asyncio.create_task(self.ask(number % len(self.services), f"question {self.asked + number}"))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            asked = due
        self.asked += total
        await asyncio.gather(*tasks)

    def slowest(self) -> float:
        """Return the time within which 95 of 100 were answered."""
        return sorted(self.seconds)[int(len(self.seconds) * 0.95)]


@contextmanager
def redis_server() -> Iterator[str]:
    """Start a Redis of our own; give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        raise SystemExit("redis-server or valkey-server is needed")
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--save", "", "--appendonly", "no", "--dir", folder]
        process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        try:
            while True:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.02)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()
            process.wait()


@asynccontextmanager
async def fleet(count: int, redis_url: str | None, *, quota: int | None = None) -> AsyncIterator[Fleet]:
    """Give so many servers."""
    first, second = Provider(), Provider()
    settings = Settings.load(
        redis_url=redis_url,
        provider_priority=("first", "second"),
        rate_limit=0,
        timeout=5,
        hedge_delay=0.5,
        engines={"first": {"monthly_quota": quota, "max_concurrency": 100}, "second": {"max_concurrency": 100}},
    )
    services = [
        SearchService([FirstEngine(first, number), SecondEngine(second, number)], settings) for number in range(count)
    ]
    try:
        yield Fleet(first, second, services)
    finally:
        for service in services:
            await service.aclose()


async def last_searches(redis_url: str | None, count: int) -> tuple[Fleet, list[int]]:
    """Want twice as much as a quota has; return how many each server got of it."""
    async with fleet(count, redis_url, quota=QUOTA) as servers:
        await servers.load(2 * QUOTA / count, 1.0)
        got = Counter(server for _, server in servers.first.asked)
        return servers, sorted(got.get(number, 0) for number in range(count))


async def dead(redis_url: str | None, count: int, state: str) -> tuple[Fleet, Counter[int], float]:
    """Let the first provider die and come back; return the fleet, requests per second, and when it was used again."""
    async with fleet(count, redis_url) as servers:
        await servers.load(3, 1.0)
        servers.first.asked.clear()
        servers.first.state = state
        begun = time.monotonic()
        running = asyncio.create_task(servers.load(SECONDS, 1.0))
        await asyncio.sleep(DEAD_SECONDS)
        servers.first.state = "answers"
        back = time.monotonic()
        await running
        after = [moment - back for moment, _ in servers.first.asked if moment > back]
        return servers, servers.first.per_second(begun), min(after, default=-1.0)


async def the_same(redis_url: str, count: int) -> Fleet:
    """Ask the same new question everywhere at once, and again."""
    async with fleet(count, redis_url) as servers:
        await asyncio.gather(*(servers.ask(server, "what is new") for server in range(count)))
        at_once = len(servers.first.asked)
        await asyncio.gather(*(servers.ask(server, "what is new") for server in range(count)))
        servers.ended["at once"] = at_once
        return servers


async def _measure(count: int) -> Report:
    report = Report(f"{count} servers that share a Redis", __doc__.partition("\n\n")[2].replace("\n", " ").strip())
    with redis_server() as redis:
        for url, name in ((redis, "with Redis"), (None, "without")):
            servers, got = await last_searches(url, count)
            share = f"each server got {got[0]} to {got[-1]}"
            report.add(
                f"quota of {QUOTA}, {2 * QUOTA} wanted, {name}",
                f"{len(servers.first.asked)} asked",
                f"{share}; {servers.ended['second']} went to the next engine, {servers.ended['failed']} failed",
                f"≤ {QUOTA}" if url else "",
                met=len(servers.first.asked) <= QUOTA if url else None,
            )
    for state in ("refuses", "silent"):
        with redis_server() as redis:
            servers, seconds, again = await dead(redis, count, state)
            while_dead = {second: times for second, times in seconds.items() if 2 <= second < DEAD_SECONDS - 1}
            most = max(while_dead.values(), default=0)
            report.add(
                f"a provider that {'refuses' if state == 'refuses' else 'is silent'} for {DEAD_SECONDS:.0f} s",
                f"{sum(while_dead.values())} requests to it after the first 2 s, at most {most} in one second",
                f"{seconds[0] + seconds[1]} in the first 2 s; used again {again:.1f} s after it was back; "
                f"{servers.ended['failed']} of {len(servers.seconds)} searches failed, p95 {servers.slowest():.2f} s",
                "none failed",
                met=servers.ended["failed"] == 0,
            )
    with redis_server() as redis:
        servers = await the_same(redis, count)
        at_once = servers.ended["at once"]
        report.add(
            "the same new question on all servers at once",
            f"{at_once} requests",
            f"{len(servers.first.asked) - at_once} when it is asked again",
        )
    return report


def measure(count: int = SERVERS) -> Report:
    """Measure with so many servers."""
    return asyncio.run(_measure(count))


if __name__ == "__main__":
    from rich.console import Console

    measure(int(sys.argv[1]) if len(sys.argv) > 1 else SERVERS).show(Console())
