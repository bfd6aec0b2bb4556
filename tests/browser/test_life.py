"""The browser's life: started once, shared, recycled, restarted, closed; and no process left, whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from qiusuo.browser import Browser
from qiusuo.browser import browser as browser_module
from qiusuo.engines.base import EngineOptions
from qiusuo.engines.bing_web import BingWebEngine
from qiusuo.engines.google import GoogleEngine
from qiusuo.errors import SearchTimeout, Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Query
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.google import Google
from tests.support.chromium import LOOPBACK_ONLY, browser_settings, with_chromium
from tests.support.processes import family, is_renderer, on_linux, wait_until_gone

pytestmark = [*with_chromium, on_linux]
X = Query("x")


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(Google()) as server:
        yield server


@asynccontextmanager
async def own_browser(**changes: Any) -> AsyncIterator[Browser]:
    browser = Browser(browser_settings(**changes))
    try:
        yield browser
    finally:
        await browser.aclose()


def google(server: ProviderServer, browser: Browser, timeout: float = 15.0) -> GoogleEngine:
    return GoogleEngine(base_url=server.base_url, timeout=timeout, browser=browser)


async def leader(browser: Browser) -> int:
    return (await browser.process_ids())[0]


async def test_fifty_searches_leave_no_more_pages_or_processes(server: ProviderServer, browser: Browser) -> None:
    engine = google(server, browser)
    for _ in range(3):
        await asyncio.gather(*(engine.search(X, 10) for _ in range(3)))
    pages, processes = (await browser.counts())[1], len(family(await leader(browser)))
    for _ in range(50):
        assert len(await engine.search(X, 10)) == 10
    assert (await browser.counts())[1] <= pages
    assert len(family(await leader(browser))) <= processes


async def test_more_searches_than_pages_wait_their_turn(server: ProviderServer, browser: Browser) -> None:
    engine = google(server, browser)
    found = await asyncio.gather(*(engine.search(X, 10) for _ in range(8)))
    assert [len(results) for results in found] == [10] * 8
    assert (await browser.counts())[1] <= browser.settings.max_pages


async def test_page_that_never_loads(server: ProviderServer, browser: Browser) -> None:
    server.fault = Fault.HANG
    engine = GoogleEngine(base_url=server.base_url, browser=browser)
    started = time.monotonic()
    with pytest.raises(SearchTimeout) as caught:
        await engine.search(X, 10)
    assert 4.9 < time.monotonic() - started < 15
    assert caught.value.message == f"No answer from 127.0.0.1:{server.port} within 5 s."


async def test_all_pages_busy_is_named(server: ProviderServer, browser: Browser) -> None:
    server.fault = Fault.HANG
    hanging = [asyncio.create_task(google(server, browser, 3.0).search(X, 10)) for _ in range(3)]
    await asyncio.sleep(0.3)
    with pytest.raises(SearchTimeout, match=r"all of the browser's 3 pages for 0\.5 s"):
        await google(server, browser, 0.5).search(X, 10)
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)


async def test_cancelled_search_frees_its_page(server: ProviderServer, browser: Browser) -> None:
    server.fault = Fault.HANG
    # Not the same page thrice, which the browser would load once.
    hanging = [asyncio.create_task(google(server, browser).search(Query(word), 10)) for word in "abc"]
    await until(lambda: len(server.seen) == 3)
    for task in hanging:
        task.cancel()
    cancelled = await asyncio.gather(*hanging, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in cancelled)
    server.fault = None
    started = time.monotonic()
    assert len(await google(server, browser).search(X, 10)) == 10
    assert time.monotonic() - started < 3
    async with asyncio.timeout(5):
        while (await browser.counts())[1] > 1:  # noqa: ASYNC110 - the other process does not tell
            await asyncio.sleep(0.05)


async def test_killed_in_mid_search_it_is_started_once_more_and_later_recycled(server: ProviderServer) -> None:
    async with own_browser(recycle_after=3) as browser:
        engine = google(server, browser)
        await engine.search(X, 1)
        first = await leader(browser)
        server.fault, server.hold = Fault.SLOW, 1.0
        search = asyncio.create_task(engine.search(X, 10))
        await until(lambda: len(server.seen) == 2)
        os.kill(first, signal.SIGKILL)
        server.hold = 0.0
        assert len(await search) == 10
        second = await leader(browser)
        assert second != first
        assert not await asyncio.to_thread(wait_until_gone, first)

        for _ in range(3):
            assert len(await engine.search(X, 10)) == 10
        third = await leader(browser)
        assert third not in {first, second}
        assert not await asyncio.to_thread(wait_until_gone, second)
    assert not family(third)


async def test_browser_that_breaks_twice_is_an_error(
    server: ProviderServer, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qiusuo.browser.chrome import Chrome
    from qiusuo.browser.tab import TabGone

    tries = []

    async def break_down(_self: Chrome, visit: object, _deadline: float) -> None:
        tries.append(visit)
        raise TabGone("Page crashed")

    monkeypatch.setattr(Chrome, "view", break_down)
    with pytest.raises(Unavailable, match="twice"):
        await google(server, browser).search(X, 10)
    assert len(tries) == 2


async def test_crashed_page_is_replaced(server: ProviderServer, browser: Browser) -> None:
    engine = google(server, browser)
    await engine.search(X, 1)
    before = await leader(browser)
    renderers = family(before) - {before}
    server.fault, server.hold = Fault.SLOW, 0.5
    search = asyncio.create_task(engine.search(X, 10))
    await until(lambda: len(server.seen) == 2)
    for process in renderers:
        if is_renderer(process):
            os.kill(process, signal.SIGKILL)
    assert len(await search) == 10
    assert len(await engine.search(X, 10)) == 10


async def test_page_that_does_not_close_takes_the_browser_with_it(
    server: ProviderServer, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qiusuo.browser.tab import Tab

    async def stuck(_self: Tab) -> bool:
        return False

    engine = google(server, browser)
    await engine.search(X, 1)
    first = await leader(browser)
    server.fault = Fault.SERVER_ERROR
    with monkeypatch.context() as patch:
        patch.setattr(Tab, "close", stuck)
        with pytest.raises(Unavailable):
            await engine.search(X, 1)
        assert not await asyncio.to_thread(wait_until_gone, first)
    server.fault = None
    assert len(await engine.search(X, 10)) == 10


async def test_recycled_when_it_takes_too_much_memory(
    server: ProviderServer, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = google(server, browser)
    await engine.search(X, 10)
    assert 10 < (await browser.memory_mb() or 0) < browser.settings.memory_limit_mb
    first = await leader(browser)
    with monkeypatch.context() as patch:
        patch.setattr(browser_module, "LOOK_AT_MEMORY_EVERY", 1)
        patch.setattr(browser_module, "used_megabytes", lambda _ids: browser.settings.memory_limit_mb + 1.0)
        await engine.search(X, 10)
        assert not await asyncio.to_thread(wait_until_gone, first)
    assert len(await engine.search(X, 10)) == 10


async def test_closed_when_idle_and_when_forgotten(server: ProviderServer) -> None:
    browser = Browser(browser_settings(idle_seconds=0.2))
    engine = google(server, browser)
    await engine.search(X, 10)
    idle = await leader(browser)
    assert not await asyncio.to_thread(wait_until_gone, idle)
    assert await browser.process_ids() == []

    assert len(await engine.search(X, 10)) == 10
    forgotten = await leader(browser)
    del browser, engine
    assert not await asyncio.to_thread(wait_until_gone, forgotten)


def test_shared_by_event_loops(server: ProviderServer, browser: Browser) -> None:
    leaders = set()

    async def search() -> None:
        assert len(await google(server, browser).search(X, 10)) == 10
        leaders.add(await leader(browser))

    asyncio.run(search())
    asyncio.run(search())
    assert len(leaders) == 1


async def test_shared_by_the_engines_of_a_service() -> None:
    http = HttpClient()
    google = GoogleEngine.from_options(EngineOptions(), http)
    bing = BingWebEngine.from_options(EngineOptions(), http)
    assert google._browser is bing._browser
    await http.aclose()


async def test_closing_in_mid_search_is_an_error_and_leaves_nothing(server: ProviderServer) -> None:
    browser = Browser(browser_settings())
    engine = google(server, browser)
    await engine.search(X, 1)
    first = await leader(browser)
    server.fault = Fault.HANG
    search = asyncio.create_task(engine.search(X, 10))
    await until(lambda: len(server.seen) == 2)
    await browser.aclose()
    with pytest.raises(Unavailable, match="closed"):
        await search
    assert not family(first)
    assert not browser._thread.running


async def test_program_that_does_not_start_is_an_error(server: ProviderServer, tmp_path: Path) -> None:
    program = tmp_path / "chrome"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    async with own_browser(executable=program) as browser:
        with pytest.raises(Unavailable, match="does not start"):
            await google(server, browser).search(X, 10)
        program.unlink()
        with pytest.raises(Unavailable, match="not there") as caught:
            await google(server, browser).search(X, 10)
        assert "playwright install" not in str(caught.value)


def test_command_ends_in_time_when_chrome_hangs_at_its_start(tmp_path: Path) -> None:
    program = tmp_path / "chrome"
    program.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/started\nexec sleep 60\n")
    program.chmod(0o755)
    environment = {**os.environ, "QIUSUO_CHROME": str(program), "SEARCH_TIMEOUT": "4", "QIUSUO_LANG": "en"}
    # Within those seconds Playwright too is loaded and started, which takes two of them on a machine under load.
    done = subprocess.run(
        [sys.executable, "-m", "qiusuo", "search", "x", "--engine", "google"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Chrome did not start within 4 s" in done.stderr
    # Far less than the start may take.
    assert time.time() - (tmp_path / "started").stat().st_mtime < 12
    assert f"{program} --headless" in done.stderr
    assert "network" not in done.stderr
    assert not wait_until_gone(int((tmp_path / "started").read_text()), 2)


PROGRAM = """
import asyncio, sys, time
from dataclasses import replace
from qiusuo.browser import Browser, BrowserSettings
from qiusuo.engines.google import GoogleEngine
from qiusuo.models import Query

settings = replace(BrowserSettings.from_lookup(lambda _name: None), extra_args=({args!r},), cookies_file=None)
browser = Browser(settings)

async def search():
    results = await GoogleEngine(base_url={base!r}, timeout=15, browser=browser).search(Query("x"), 10)
    print(len(results), (await browser.process_ids())[0], flush=True)

asyncio.run(search())
if sys.argv[1] == "wait":
    time.sleep(60)
"""


def test_programs_that_end_leave_no_process(server: ProviderServer) -> None:
    code = PROGRAM.format(args=LOOPBACK_ONLY[0], base=server.base_url)
    ends = (signal.SIGKILL, signal.SIGTERM, None)
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                subprocess.Popen(  # noqa: S603 - our own interpreter and text
                    [sys.executable, "-c", code, "wait" if end else "end"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for end in ends
        ]
        for end, program in zip(ends, programs, strict=True):
            assert program.stdout is not None
            count, chrome = (int(word) for word in program.stdout.readline().split())
            assert count == 10
            if end is not None:
                assert family(chrome)
                program.send_signal(end)
            program.wait(10)
            assert not wait_until_gone(chrome), f"after {end}"


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the server is on another thread
            await asyncio.sleep(0.01)
