"""A search through the service beside the bare HTTP client and LiteLLM, over one loopback upstream."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import orjson

from bench.processes import running
from bench.table import Report
from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.http import HttpClient
from qiusuo.testing import Answer, ProviderServer, Seen
from qiusuo.testing.providers.tavily import Tavily

ROUNDS = 15
PER_ROUND = 60
IN_FLIGHT = 50
# As many for everybody, and enough that what comes seldom counts: LiteLLM's calls cause a full collection of garbage
# about once in a thousand (0.15 s).
BURST = 1500
BURSTS = 7

Call = Callable[[int], Awaitable[Any]]


class PlainTavily(Tavily):
    """Ten results in plain words, as Tavily really sends them."""

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - the same for every query
        return Answer(_TEN)


_TEN = {
    "query": "benchmark",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "title": f"Result number {number} about open source search engines and agents",
            "url": f"https://site{number}.example.com/articles/2026/search-{number}",
            "content": f"{number}: Search engines crawl pages, keep an index and answer queries in milliseconds. " * 3,
            "score": 0.9,
            "raw_content": None,
        }
        for number in range(1, 11)
    ],
    "response_time": 0.5,
    "request_id": "0",
}


def measure() -> Report:
    """Run everything and report."""
    with running(serve_upstream) as base:
        return asyncio.run(_measure(base))


def serve_upstream(address: Any) -> None:
    """Serve the provider that stands behind every contestant."""
    with ProviderServer(PlainTavily()) as server:
        address.put(server.base_url)
        time.sleep(3600)


async def _measure(base: str) -> Report:
    http = HttpClient()
    engine = TavilyEngine(PlainTavily.key, base_url=base, http=http)
    # As many requests under way at the provider as the others have.
    settings = Settings.load(engines={"tavily": {"max_concurrency": IN_FLIGHT}})
    service = SearchService([engine], settings, http=http)
    headers = {"Authorization": f"Bearer {PlainTavily.key}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session, service:

        async def bare(number: int) -> Any:
            body = orjson.dumps({"query": f"bench {number}", "max_results": 10, "topic": "general"})
            async with session.post(f"{base}/search", data=body, headers=headers) as response:
                return orjson.loads(await response.read())

        async def ours(number: int) -> Any:
            return await service.asearch(f"bench {number}")

        calls: dict[str, Call] = {"bare": bare, "ours": ours, "cached": ours}
        litellm = _litellm(base)
        if litellm is not None:
            calls["litellm"] = litellm
        singles = await _one_by_one(calls)
        bursts = await _many_at_once({name: call for name, call in calls.items() if name != "cached"})
        bursts |= await _many_at_once({"cached": lambda _number: service.asearch("bench 1")})
    return _report(singles, bursts)


async def _one_by_one(calls: dict[str, Call]) -> dict[str, float]:
    """Return the median seconds per call, the contestants taking turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for number in range(20):
            await call(-number)
    for round_ in range(ROUNDS):
        for name, call in calls.items():
            started = time.perf_counter()
            for number in range(PER_ROUND):
                # "cached" comes right after "ours" and asks the same again.
                await call(round_ * PER_ROUND + number)
            taken[name].append((time.perf_counter() - started) / PER_ROUND)
    return {name: statistics.median(values) for name, values in taken.items()}


async def _many_at_once(calls: dict[str, Call]) -> dict[str, float]:
    """Return calls per second with fifty in flight, the contestants taking turns."""
    rates: dict[str, list[float]] = {name: [] for name in calls}
    for round_ in range(BURSTS):
        for name, call in calls.items():
            numbers = iter(range(10**6 * (round_ + 1), 10**6 * (round_ + 1) + BURST))

            async def worker(call: Call = call, numbers: Any = numbers) -> None:
                for number in numbers:
                    await call(number)

            started = time.perf_counter()
            await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
            rates[name].append(BURST / (time.perf_counter() - started))
    return {name: statistics.median(values) for name, values in rates.items()}


def _litellm(base: str) -> Call | None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["TAVILY_API_BASE"] = base
    os.environ["TAVILY_API_KEY"] = PlainTavily.key
    try:
        import litellm  # noqa: PLC0415 - measured only where it is installed
    except ImportError:
        return None
    litellm.suppress_debug_info = True

    async def search(number: int) -> Any:
        return await litellm.asearch(query=f"bench {number}", search_provider="tavily", max_results=10)

    return search


def _report(singles: dict[str, float], bursts: dict[str, float]) -> Report:
    report = Report(
        "Search over a loopback upstream (ten results of JSON)",
        "One upstream process, one client process, HTTP keep-alive. *bare* is aiohttp posting the same request and "
        "parsing the JSON; *ours* is `SearchService.asearch` with cache, limits, failover and receipt.",
    )
    bare = singles["bare"]
    report.add("bare aiohttp, one by one", _ms(bare))
    ratio = singles["ours"] / bare
    report.add("ours, uncached", _ms(singles["ours"]), f"{ratio:.2f}x bare", "at most 1.6x", met=ratio <= 1.6)
    faster = singles["ours"] / singles["cached"]
    report.add(
        "ours, cached", _ms(singles["cached"]), f"{faster:.0f}x faster than uncached", "at least 20x", met=faster >= 20
    )
    if "litellm" in singles:
        lead = singles["litellm"] / singles["ours"]
        report.add(
            "LiteLLM asearch", _ms(singles["litellm"]), f"ours is {lead:.1f}x faster", "at least 3x", met=lead >= 3
        )
    report.add(f"bare aiohttp, {IN_FLIGHT} in flight", _rate(bursts["bare"]))
    report.add(
        f"ours, uncached, {IN_FLIGHT} in flight",
        _rate(bursts["ours"]),
        f"{bursts['bare'] / bursts['ours']:.2f}x bare's time",
    )
    report.add(f"ours, cached, {IN_FLIGHT} in flight", _rate(bursts["cached"]))
    if "litellm" in bursts:
        lead = bursts["ours"] / bursts["litellm"]
        report.add(
            f"LiteLLM asearch, {IN_FLIGHT} in flight",
            _rate(bursts["litellm"]),
            f"ours is {lead:.1f}x faster",
            "at least 5x",
            met=lead >= 5,
        )
    return report


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3f} ms"


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f}/s"
