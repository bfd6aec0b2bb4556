"""The Google engine behind the service: its results, and the peace it is left in when blocked."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from qiusuo import SearchService
from qiusuo.browser import Browser
from qiusuo.config import Settings
from qiusuo.engines.google import GoogleEngine
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import AllEnginesFailed, InvalidQuery
from qiusuo.models import Outcome, Query
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.providers.google import Google
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Fact
from tests.support.chromium import always, with_chromium
from tests.support.processes import on_linux, parent_of, wait_until_gone

pytestmark = with_chromium


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(Google()) as server:
        yield server


@pytest.fixture
def engine(server: ProviderServer, browser: Browser) -> GoogleEngine:
    return GoogleEngine(base_url=server.base_url, browser=browser)


def engine_host(server: ProviderServer) -> str:
    return f"127.0.0.1:{server.port}"


async def test_chinese_search(server: ProviderServer, engine: GoogleEngine) -> None:
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        response = await service.asearch("人工智能 最新进展")
    assert (response.provider, response.total_results) == ("google", 10)
    assert server.seen[0].params == {"q": "人工智能 最新进展", "hl": "zh-CN", "gl": "cn"}
    assert set(response.results[0].to_dict()) >= {"title", "url", "snippet", "source"}


def test_from_synchronous_code(engine: GoogleEngine) -> None:
    with SearchService([engine], Settings.load(timeout=20)) as service:
        assert service.search("x").total_results == 10


async def test_blank_query_opens_no_page(server: ProviderServer, engine: GoogleEngine) -> None:
    async with SearchService([engine], Settings.load()) as service:
        with pytest.raises(InvalidQuery):
            await service.asearch("  \t")
    assert server.seen == []


async def test_blocked_once_it_rests_and_others_answer(
    server: ProviderServer, engine: GoogleEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    always(server, monkeypatch, Google.captcha())
    with ProviderServer(Tavily()) as other:
        tavily = TavilyEngine(other.key, base_url=other.base_url)
        async with SearchService([engine, tavily], Settings.load(timeout=20)) as service:
            for number in range(3):
                response = await service.asearch(f"query {number}")
                assert response.provider == "tavily"
                assert response.attempts[0].outcome is Outcome.BLOCKED
                assert "qiusuo google solve" in response.attempts[0].fix
            (status, _) = await service.status()
        await tavily.aclose()
    assert len(server.seen) == 1
    assert status.state == "resting"
    assert (status.retry_after or 0) > 500


def hang_after(server: ProviderServer, monkeypatch: pytest.MonkeyPatch, page: str = "") -> None:
    """Let the server answer its first request, with ``page`` or its own, and no other one."""
    answer = server.provider.answer

    def last(seen: Seen) -> Answer:
        server.fault = Fault.HANG
        return Answer(page) if page else answer(seen)

    monkeypatch.setattr(server.provider, "answer", last)


async def test_what_was_found_by_the_deadline_is_the_answer(
    server: ProviderServer, engine: GoogleEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await engine.search(Query("x"), 1)  # the browser's start is not what is measured
    hang_after(server, monkeypatch)
    async with SearchService([engine], Settings.load(timeout=2)) as service:
        response = await service.asearch("x", num_results=20)
    assert response.total_results == 10
    (note,) = response.attempts[0].notes
    assert (note.code, note.values["page"]) == ("engine.page_missing", 2)
    assert note.values["reason"] == Fact("http.timeout_answer", host=engine_host(server), seconds=2.0)


async def test_page_that_does_not_come_is_named_as_the_cause(server: ProviderServer, engine: GoogleEngine) -> None:
    server.fault = Fault.HANG
    async with SearchService([engine], Settings.load(timeout=1.5)) as service:
        with pytest.raises(AllEnginesFailed) as caught:
            await service.asearch("x")
    (attempt,) = caught.value.attempts
    assert attempt.fact == Fact("http.timeout_answer", host=engine_host(server), seconds=1.5)
    assert "SEARCH_TIMEOUT" in attempt.fix


async def test_own_limit_is_named_where_it_was_the_shorter_one(server: ProviderServer, browser: Browser) -> None:
    server.fault = Fault.HANG
    engine = GoogleEngine(base_url=server.base_url, timeout=0.5, browser=browser)
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        with pytest.raises(AllEnginesFailed) as caught:
            await service.asearch("x")
    (attempt,) = caught.value.attempts
    assert "0.5 s" in attempt.reason
    assert "SEARCH_TIMEOUT" not in attempt.fix
    assert "[engines.google]" in attempt.fix


async def test_script_that_hangs_behind_the_results_costs_nothing(
    server: ProviderServer, engine: GoogleEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = str(server.provider.answer(Seen("GET", "/search", {"q": "x"}, {})).body)
    hang_after(server, monkeypatch, page.replace("</body>", '<script src="/late.js"></script></body>'))
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        response = await service.asearch("x")
    assert response.total_results == 10
    assert response.search_time < 10_000
    assert [seen.path for seen in server.seen] == ["/search", "/late.js"]


async def test_page_that_breaks_off_in_silence_is_read_at_the_deadline(
    server: ProviderServer, browser: Browser
) -> None:
    page = str(server.provider.answer(Seen("GET", "/search", {"q": "x"}, {})).body).encode()
    end = asyncio.Event()

    async def half(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
        writer.write(head.encode() + page[: page.rindex(b'data-rpos="6"')])
        await end.wait()
        writer.close()

    async with await asyncio.start_server(half, "127.0.0.1", 0) as site:
        engine = GoogleEngine(base_url=f"http://127.0.0.1:{site.sockets[0].getsockname()[1]}", browser=browser)
        async with SearchService([engine], Settings.load(timeout=3)) as service:
            response = await service.asearch("x", num_results=5)
        end.set()
    assert response.total_results == 5


@on_linux
async def test_driver_that_was_killed_is_replaced_at_once(engine: GoogleEngine, browser: Browser) -> None:
    await engine.search(Query("x"), 1)
    (chrome, *_) = await browser.process_ids()
    os.kill(parent_of(chrome), signal.SIGKILL)
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        response = await service.asearch("x")
    assert [attempt.outcome for attempt in response.attempts] == [Outcome.OK]
    assert not await asyncio.to_thread(wait_until_gone, chrome)


async def test_waiting_for_a_page_is_not_held_against_the_engine(server: ProviderServer, engine: GoogleEngine) -> None:
    await engine.search(Query("x"), 1)
    server.fault = Fault.HANG
    # Not through the service: that these fail is the site's fault, and would count.
    busy = [asyncio.create_task(engine.search(Query(word), 10)) for word in "abc"]
    while len(server.seen) < 4:  # noqa: ASYNC110 - the server is on another thread
        await asyncio.sleep(0.01)
    async with SearchService([engine], Settings.load(timeout=0.8)) as service:
        queued = await asyncio.gather(*(service.asearch(f"query {n}") for n in range(4)), return_exceptions=True)
        for failure in queued:
            assert isinstance(failure, AllEnginesFailed)
            (attempt,) = failure.attempts
            assert (attempt.fact or Fact("")).code == "browser.no_free_page"
            assert "QIUSUO_CHROME_PAGES" in attempt.fix
        assert [status.state for status in await service.status() if status.name == "google"] == ["ready"]
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)


async def test_alone_and_blocked_it_says_what_to_do(
    server: ProviderServer, engine: GoogleEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    always(server, monkeypatch, Google.consent())
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        with pytest.raises(AllEnginesFailed) as caught:
            await service.asearch("x")
    assert "qiusuo google solve" in caught.value.fix
