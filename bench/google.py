"""Google through Chrome beside the bare Playwright calls, over one loopback page."""

from __future__ import annotations

import asyncio
import gzip
import json
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from bench.table import Report
from qiusuo.browser import Browser, BrowserSettings
from qiusuo.engines.google import GoogleEngine, parse_results
from qiusuo.errors import EngineNotConfigured
from qiusuo.models import Query
from qiusuo.testing import Answer, ProviderServer, Seen
from qiusuo.testing.providers.google import Google

ROUNDS = 12
STARTS = 3
TOGETHER = 3
REAL_PAGES = Path(__file__).resolve().parents[2] / "shared" / "serp"
FILLER_BYTES = 600_000
LOOPBACK_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

Call = Callable[[int], Awaitable[Any]]


class OnePage(Google):
    """Always the same page, as heavy as a real one."""

    def __init__(self, page: str) -> None:
        self._page = page

    def answer(self, seen: Seen) -> Answer:
        return Answer(self._page) if seen.path == "/search" else Answer("", 404)


def measure() -> Report:
    """Run everything and report."""
    report = Report(
        "Google through Chrome (one result page on loopback)",
        "Median seconds. *bare* is Playwright alone: a page that is used again, `goto`, `content`, the same parser; "
        "*ours* is `GoogleEngine.search`: pool, deadline, checks for blocks, images and fonts off.",
    )
    try:
        found = BrowserSettings.from_lookup(lambda _name: None)
    except EngineNotConfigured as problem:
        report.add("not measured", "—", str(problem))
        return report
    settings = replace(found, cookies_file=None, extra_args=(LOOPBACK_ONLY,))
    context = multiprocessing.get_context("spawn")
    address = context.Queue()
    site = context.Process(target=_serve, args=(address,), daemon=True)
    site.start()
    try:
        asyncio.run(_measure(report, settings, address.get(timeout=30)))
    finally:
        site.terminate()
        site.join()
    return report


def _page() -> str:
    """Return a real page of usual size where there are some, else one of our own with as much script in it."""
    if REAL_PAGES.is_dir():
        pages = json.loads((REAL_PAGES / "manifest.json").read_text("utf-8"))
        full = [page for page in pages if page["engine"] == "google" and page["organic"] == 10 and page["results"]]
        file = min(full, key=lambda page: abs((REAL_PAGES / page["file"]).stat().st_size - 200_000))["file"]
        return gzip.decompress((REAL_PAGES / file).read_bytes()).decode()
    page = str(Google().answer(Seen("GET", "/search", {"q": "benchmark"}, {})).body)
    return page.replace("</body>", f"<script>const filler = '{'x' * FILLER_BYTES}';</script></body>")


def _serve(address: Any) -> None:
    with ProviderServer(OnePage(_page())) as server:
        address.put(server.base_url)
        time.sleep(3600)


async def _measure(report: Report, settings: BrowserSettings, base: str) -> None:
    colds, starts = [], []
    for _ in range(STARTS):
        browser = Browser(settings)
        engine = GoogleEngine(base_url=base, timeout=30, browser=browser)
        began = time.perf_counter()
        await engine.search(Query("start"), 10)
        colds.append(time.perf_counter() - began)
        await browser.aclose()
        starts.append(await _bare_start(settings, base))
    cold = statistics.median(colds)
    report.add("bare Playwright, start to first result", _seconds(statistics.median(starts)))
    report.add("ours, start to first result", _seconds(cold), "", "at most 3 s", met=cold <= 3)
    browser = Browser(settings)
    engine = GoogleEngine(base_url=base, timeout=30, browser=browser)

    async def ours(number: int) -> None:
        assert len(await engine.search(Query(f"{number}"), 10)) == 10

    async with _Bare(settings, base) as bare:
        taken = await _in_turns({"bare": bare.search, "ours": ours})
        report.add("bare Playwright, next result", _seconds(taken["bare"]))
        report.add("ours, next result", _seconds(taken["ours"]), "", "at most 2 s", met=taken["ours"] <= 2)
        over = taken["ours"] / taken["bare"] - 1
        report.add("ours over bare", f"{over:+.0%}", "", "at most +15 %", met=over <= 0.15)
        together = await _in_turns(
            {
                "bare": lambda number: asyncio.gather(*(bare.search(number, place) for place in range(TOGETHER))),
                "ours": lambda number: asyncio.gather(*(ours(number * 10 + place) for place in range(TOGETHER))),
            }
        )
    report.add(f"bare Playwright, {TOGETHER} at once, all done", _seconds(together["bare"]))
    report.add(f"ours, {TOGETHER} at once, all done", _seconds(together["ours"]))
    memory = await browser.memory_mb()
    processes, pages = await browser.counts()
    shown = f"{memory:.0f} MB" if memory is not None else "not told by this system"
    report.add("memory of the browser", shown, f"{processes} processes, {pages} pages; shared parts counted once")
    await browser.aclose()


class _Bare:
    """Playwright as its documentation shows it, with a page kept for each place."""

    def __init__(self, settings: BrowserSettings, base: str) -> None:
        self._settings = settings
        self._base = base
        self._pages: list[Any] = []

    async def __aenter__(self) -> Self:
        from playwright.async_api import async_playwright  # noqa: PLC0415 - what is measured includes its loading

        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(
            executable_path=self._settings.executable, args=list(self._settings.extra_args)
        )
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._browser.close()
        await self._playwright.stop()

    async def search(self, number: int, place: int = 0) -> None:
        while len(self._pages) <= place:
            self._pages.append(await self._browser.new_page())
        page = self._pages[place]
        await page.goto(f"{self._base}/search?q=bare{number}-{place}", wait_until="domcontentloaded")
        assert len(parse_results(await page.content(), page.url)) == 10


async def _bare_start(settings: BrowserSettings, base: str) -> float:
    began = time.perf_counter()
    async with _Bare(settings, base) as bare:
        await bare.search(0)
        return time.perf_counter() - began


async def _in_turns(calls: dict[str, Call]) -> dict[str, float]:
    """Return the median seconds of each, taking turns; the first round opens pages and is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS + 1):
        for name, call in calls.items():
            began = time.perf_counter()
            await call(number)
            taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(values[1:]) for name, values in taken.items()}


def _seconds(value: float) -> str:
    return f"{value:.2f} s"
