"""``qiusuo serve`` with one worker and with two: the same searches by the same client, in turns."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.processes import running
from bench.rest import CONNECTIONS, ROUNDS, Contestant, load
from bench.search import PlainTavily, serve_upstream
from bench.table import Report
from qiusuo.testing import Fault, ProviderServer

SLOW_SECONDS = 0.1
TIMES = 1.8


def measure() -> Report:
    """Run everything and report."""
    with ExitStack() as stack:
        fast, slow = (stack.enter_context(running(target)) for target in (serve_upstream, _serve_slow_upstream))
        contestants: dict[tuple[str, int], Contestant] = {}
        for count in (1, 2):
            contestants["cached", count] = Contestant(f"{stack.enter_context(_serving(count, fast))}/api/search")
            url = stack.enter_context(_serving(count, slow))
            contestants["slow", count] = Contestant(f"{url}/api/search", fresh=True)
        for turn in range(ROUNDS + 1):
            for contestant in contestants.values():
                contestant.rates.append(load(contestant, turn))
    report = Report(
        "Workers",
        f"`qiusuo serve --workers`, `POST /api/search` with {CONNECTIONS} connections, best of {ROUNDS} turns, on "
        f"{len(os.sched_getaffinity(0))} cores which client and upstream use too. An engine is asked ten times at once "
        "by each worker.",
    )
    for kind, what in (("cached", "cached"), ("slow", f"uncached, over an upstream that takes {SLOW_SECONDS:g} s")):
        one, two = (contestants[kind, count].rate for count in (1, 2))
        report.add(f"{what}, 1 worker", f"{one:,.0f}/s")
        met = two >= TIMES * one
        report.add(f"{what}, 2 workers", f"{two:,.0f}/s", f"{two / one:.2f}x", f"at least {TIMES}x", met=met)
    return report


def _serve_slow_upstream(address: Any) -> None:
    with ProviderServer(PlainTavily(), fault=Fault.SLOW) as server:
        server.hold = SLOW_SECONDS
        address.put(server.base_url)
        time.sleep(3600)


@contextmanager
def _serving(count: int, upstream: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "XDG_CONFIG_HOME": folder,
            "XDG_DATA_HOME": folder,
            "QIUSUO_LANG": "en",
            "QIUSUO_LEGAL_MEANING": "false",
            "SEARCH_PROVIDER_PRIORITY": "tavily",
            "SEARCH_RATE_LIMIT": "0",
            "TAVILY_API_KEY": PlainTavily.key,
            "QIUSUO_ENGINES__TAVILY__BASE_URL": upstream,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "qiusuo", "--verbose", "serve", "--port", "0", "--workers", str(count)],
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield _address(process, count)
        finally:
            process.terminate()
            process.wait()


def _address(process: subprocess.Popen[str], count: int) -> str:
    """Wait until all workers serve, and let nobody wait for somebody who reads their log."""
    url, serving = "", 0 if count > 1 else 1
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"listens on (http://[\d.:]+)", line)
        url = found[1] if found else url
        serving += "serves" in line
        if url and serving == count:
            subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
            return url
    raise RuntimeError("the server has ended")
