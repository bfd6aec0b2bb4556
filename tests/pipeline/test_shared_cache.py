"""The shared cache and the joining of identical searches, seen through the service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine

from qiusuo.errors import AllEnginesFailed
from qiusuo.testing import Fault
from tests.support.world import World

NOW = "2026-11-15T12:00:00Z"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A wall clock that stands still until a test moves it."""
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


class TestCacheHit:
    async def test_the_same_query_again_comes_from_the_cache_and_is_marked(self) -> None:
        async with World("tavily") as here:
            first = await here.service.asearch("Python 3.14  新特性")
            again = await here.service.asearch("  python 3.14 新特性 ")
            assert not first.cached
            assert again.cached
            assert again.results == first.results
            assert again.query == "python 3.14 新特性"
            assert here.requests("tavily") == 1

    @pytest.mark.parametrize(
        "options",
        [
            {"type": "news"},
            {"num_results": 3},
            {"language": "en"},
            {"region": "US"},
            {"freshness": "day"},
            {"include_domains": ["example.com"]},
            {"exclude_domains": ["example.org"]},
            {"engine": "tavily"},
        ],
    )
    async def test_another_option_is_another_search(self, options: dict[str, object]) -> None:
        async with World("tavily") as here:
            await here.service.asearch("x")
            assert not (await here.service.asearch("x", **options)).cached  # type: ignore[arg-type]

    async def test_skip_cache_searches_again_and_updates(self) -> None:
        async with World("tavily") as here:
            await here.service.asearch("x")
            assert not (await here.service.asearch("x", skip_cache=True)).cached
            assert here.requests("tavily") == 2

    async def test_zero_ttl_switches_the_cache_off(self) -> None:
        async with World("tavily", cache_ttl=0) as here:
            await here.service.asearch("x")
            await here.service.asearch("x", type="news")
            await here.service.asearch("x", type="news")
            assert here.requests("tavily") == 3

    async def test_sorted_words_share_an_entry_where_asked_for(self) -> None:
        async with World("tavily", sort_words=True) as here:
            await here.service.asearch("red apple")
            assert (await here.service.asearch("apple red")).cached


class TestExpiry:
    @pytest.mark.parametrize(("kind", "hours"), [("general", 1), ("news", 1), ("case", 6), ("regulation", 24)])
    async def test_each_type_has_its_time(self, kind: str, hours: int, clock: time_machine.Traveller) -> None:
        async with World("tavily") as here:
            await here.service.asearch("合同", type=kind)
            clock.shift(timedelta(hours=hours, seconds=-1))
            assert (await here.service.asearch("合同", type=kind)).cached
            clock.shift(timedelta(seconds=2))
            assert not (await here.service.asearch("合同", type=kind)).cached
            assert (await here.service.asearch("合同", type=kind)).cached
            assert here.requests("tavily") == 2

    async def test_an_older_answer_is_served_marked_stale_when_every_engine_fails(
        self, clock: time_machine.Traveller
    ) -> None:
        async with World("tavily") as here:
            first = await here.service.asearch("x")
            clock.shift(timedelta(hours=2))
            here["tavily"].fault = Fault.SERVER_ERROR
            stale = await here.service.asearch("x")
            assert stale.stale
            assert stale.cached
            assert stale.results == first.results
            assert stale.attempts[0].outcome.value == "unavailable"
            clock.shift(timedelta(hours=24))
            with pytest.raises(AllEnginesFailed):
                await here.service.asearch("x")

    async def test_failures_are_never_cached(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.INVALID
            with pytest.raises(AllEnginesFailed):
                await here.service.asearch("x")
            here["tavily"].fault = None
            assert not (await here.service.asearch("x")).cached

    async def test_results_that_may_not_be_stored_are_not(self) -> None:
        async with World("tavily", engines={"tavily": {"store_results": "never"}}) as here:
            await here.service.asearch("x")
            await here.service.asearch("x")
            assert here.requests("tavily") == 2

    async def test_results_kept_in_passing_are_not_served_stale(self, clock: time_machine.Traveller) -> None:
        async with World("brave") as here:
            await here.service.asearch("x")
            assert (await here.service.asearch("x")).cached
            clock.shift(timedelta(hours=2))
            here["brave"].fault = Fault.SERVER_ERROR
            with pytest.raises(AllEnginesFailed):
                await here.service.asearch("x")


class TestJoining:
    async def test_two_hundred_identical_searches_make_one_request(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.SLOW
            found = await asyncio.gather(*(here.service.asearch("同一个问题") for _ in range(200)))
            assert here.requests("tavily") == 1
            assert all(response.results == found[0].results for response in found)

    async def test_a_cancelled_caller_does_not_take_the_others_along(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.SLOW
            first = asyncio.create_task(here.service.asearch("x"))
            await asyncio.sleep(0.05)
            others = [asyncio.create_task(here.service.asearch("x")) for _ in range(3)]
            await asyncio.sleep(0.05)
            first.cancel()
            others[0].cancel()
            done = await asyncio.gather(first, *others, return_exceptions=True)
            assert [isinstance(one, asyncio.CancelledError) for one in done] == [True, True, False, False]

    async def test_a_failure_reaches_all_who_wait(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.SERVER_ERROR
            found = await asyncio.gather(*(here.service.asearch("x") for _ in range(5)), return_exceptions=True)
            assert all(isinstance(one, AllEnginesFailed) for one in found)
            assert here.requests("tavily") == 1

    def test_threads_and_loops_share_one_service(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        with World("tavily") as here, ThreadPoolExecutor(4) as pool:
            sync = list(pool.map(lambda number: here.service.search(f"q{number}"), range(8)))
            again = asyncio.run(here.service.asearch("q1"))
            assert all(len(response.results) == 10 for response in sync)
            assert again.cached

    async def test_sync_search_works_inside_a_running_loop(self) -> None:
        async with World("tavily") as here:
            assert len(here.service.search("notebook").results) == 10

    async def test_closing_synchronously_inside_a_running_loop_does_not_hang(self) -> None:
        with World("tavily") as here:
            await here.service.asearch("from this loop")
            here.service.search("from the bridge")
        await asyncio.sleep(0.05)  # this loop's own connections close as soon as it runs again
