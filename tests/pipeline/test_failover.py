"""Failover within one deadline: real engines, real loopback providers that fail in every way."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

import pytest

from qiusuo import SearchEngine, SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import EngineResults
from qiusuo.engines.bing import BingEngine
from qiusuo.engines.ddgs import DdgsEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.engines.serpapi import SerpApiBingEngine, SerpApiEngine
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import AllEnginesFailed, EngineNotConfigured, UnknownEngine
from qiusuo.models import Outcome, Query, SearchResultItem
from qiusuo.pipeline.pipeline import Choice, SearchPipeline
from qiusuo.pipeline.request import SearchRequest, build_request
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.serpapi import SerpApi
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Fact
from tests.support.world import World


def outcomes(attempts: object) -> list[tuple[str, str]]:
    return [(attempt.engine, attempt.outcome.value) for attempt in attempts]  # type: ignore[attr-defined]


def paging_engines() -> dict[str, tuple[Provider, Callable[[ProviderServer], SearchEngine]]]:
    return {
        "searxng": (Searxng(), lambda server: SearxngEngine(base_url=server.base_url)),
        "serpapi": (SerpApi(), lambda server: SerpApiEngine(server.key, base_url=server.base_url)),
        "bing": (SerpApi(), lambda server: BingEngine(through=SerpApiBingEngine(server.key, base_url=server.base_url))),
    }


@pytest.mark.parametrize("name", paging_engines())
async def test_pages_that_came_before_the_deadline_are_the_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider, make = paging_engines()[name]
    answer = provider.answer
    with ProviderServer(provider) as server:

        def once(seen: Seen) -> Answer:
            server.fault = Fault.HANG
            return answer(seen)

        monkeypatch.setattr(provider, "answer", once)
        async with SearchService([make(server)], Settings.load(timeout=1)) as service:
            response = await service.asearch("x", num_results=20)
    assert response.total_results == 10
    assert Fact("engine.page_missing", page=2, reason=Fact("engine.no_time")) in response.attempts[0].notes


async def test_an_answer_that_lacks_a_page_is_kept_for_a_minute_only() -> None:
    now = 1_000.0
    engine = Lacking()

    async def choose(_request: SearchRequest) -> Choice:
        return Choice((engine,), ())

    pipeline = SearchPipeline(Settings.load(), choose, clock=lambda: now)
    request = build_request(Settings.load(), "x")
    assert not (await pipeline.run(request)).cached
    now += 59
    assert (await pipeline.run(request)).cached
    now += 2
    assert not (await pipeline.run(request)).cached
    await pipeline.aclose()


class Lacking(SearchEngine):
    """Finds one page of results; the second does not come."""

    name = "lacking"

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - the same for all
        notes = (Fact("engine.page_missing", page=2, reason=Fact("engine.no_time")),)
        return EngineResults([SearchResultItem("T", "https://a.cn/", "s")], notes=notes)


@pytest.mark.parametrize(
    "make",
    [
        lambda server: TavilyEngine(server.key, base_url=server.base_url, timeout=0.3),
        lambda server: DdgsEngine(base_url=server.base_url, timeout=0.3),
    ],
    ids=["tavily", "ddgs"],
)
async def test_more_time_for_the_search_is_advised_only_where_it_helps(
    make: Callable[[ProviderServer], SearchEngine],
) -> None:
    with ProviderServer(Tavily(), fault=Fault.HANG) as server:
        engine = make(server)
        async with SearchService([engine], Settings.load(timeout=20)) as service:
            with pytest.raises(AllEnginesFailed) as caught:
                await service.asearch("x")
    (attempt,) = caught.value.attempts
    assert attempt.outcome is Outcome.TIMEOUT
    assert "SEARCH_TIMEOUT" not in attempt.fix
    assert f"timeout under [engines.{engine.name}]" in attempt.fix


class TestFailover:
    @pytest.mark.parametrize(
        ("fault", "outcome"),
        [
            (Fault.SERVER_ERROR, "unavailable"),
            (Fault.RESET, "unavailable"),
            (Fault.HTML, "bad_response"),
            (Fault.AUTH, "auth"),
            (Fault.QUOTA, "quota"),
            (Fault.RATE_LIMITED, "rate_limited"),
            (Fault.REDIRECT, "bad_response"),
        ],
    )
    async def test_any_failure_goes_on_to_the_next_engine(
        self, fault: Fault, outcome: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.WARNING)
        async with World("tavily", "brave") as here:
            here["tavily"].fault = fault
            response = await here.service.asearch("失败切换")
            assert response.provider == "brave"
            assert len(response.results) == 10
            assert outcomes(response.attempts) == [("tavily", outcome), ("brave", "ok")]
            assert response.attempts[0].reason
            assert "tavily failed" in caplog.text

    async def test_all_failed_names_every_attempt_and_its_fix(self) -> None:
        async with World("tavily", "brave", "searxng") as here:
            here["tavily"].fault = Fault.AUTH
            here["brave"].fault = Fault.SERVER_ERROR
            here["searxng"].fault = Fault.FORBIDDEN
            with pytest.raises(AllEnginesFailed) as caught:
                await here.service.asearch("x")
        error = caught.value
        assert outcomes(error.attempts) == [("tavily", "auth"), ("brave", "unavailable"), ("searxng", "disabled")]
        assert all(name in str(error) for name in ("tavily", "brave", "searxng"))
        assert "key of tavily" in error.fix

    async def test_one_empty_answer_tries_one_more_engine_and_no_further(self) -> None:
        async with World("tavily", "brave", "exa") as here:
            here["tavily"].empty = here["brave"].empty = True
            response = await here.service.asearch("nothing of the kind")
            assert response.results == ()
            assert outcomes(response.attempts) == [("tavily", "empty"), ("brave", "empty")]
            assert here.requests("exa") == 0

    async def test_empty_then_results_gives_the_results(self) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].empty = True
            response = await here.service.asearch("x")
            assert response.provider == "brave"

    async def test_empty_then_failure_stays_empty_and_is_no_error(self) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].empty = True
            here["brave"].fault = Fault.SERVER_ERROR
            response = await here.service.asearch("x")
            assert response.results == ()
            assert response.provider == "tavily"
            assert outcomes(response.attempts) == [("tavily", "empty"), ("brave", "unavailable")]


class TestDeadline:
    async def test_a_hanging_engine_is_overtaken_within_the_hedge_delay(self) -> None:
        async with World("searxng", "tavily", hedge_delay=0.3) as here:
            await here.service.asearch("warm up", engine="tavily")
            here["searxng"].fault = Fault.HANG
            started = time.perf_counter()
            response = await here.service.asearch("x")
            elapsed = time.perf_counter() - started
            assert response.provider == "tavily"
            assert 0.3 <= elapsed < 3
            assert outcomes(response.attempts) == [("searxng", "timeout"), ("tavily", "ok")]
            assert "when tavily had answered" in response.attempts[0].reason

    async def test_two_paid_engines_are_not_asked_at_once_and_share_the_time(self) -> None:
        async with World("tavily", "brave", hedge_delay=0.1, timeout=1.0) as here:
            here["tavily"].fault = Fault.HANG
            started = time.perf_counter()
            response = await here.service.asearch("x")
            elapsed = time.perf_counter() - started
            assert response.provider == "brave"
            assert elapsed >= 0.6
            assert "0.6 s" in response.attempts[0].reason

    async def test_paid_engines_are_hedged_where_the_settings_say_so(self) -> None:
        async with World("tavily", "brave", hedge_delay=0.1, hedge_paid=True, timeout=3.0) as here:
            here["tavily"].fault = Fault.HANG
            started = time.perf_counter()
            assert (await here.service.asearch("x")).provider == "brave"
            assert time.perf_counter() - started < 2.5

    async def test_hedging_can_be_switched_off(self) -> None:
        async with World("searxng", "tavily", hedge_delay=0, timeout=1.0) as here:
            here["searxng"].fault = Fault.HANG
            response = await here.service.asearch("x")
            assert response.provider == "tavily"
            assert "0.6 s" in response.attempts[0].reason

    @pytest.mark.parametrize("names", [("searxng", "tavily", "brave"), ("tavily", "brave", "exa")])
    async def test_all_hang_ends_by_the_deadline_and_names_each(self, names: tuple[str, ...]) -> None:
        async with World(*names, hedge_delay=0.2, timeout=1.0) as here:
            for name in names:
                here[name].fault = Fault.HANG
            started = time.perf_counter()
            with pytest.raises(AllEnginesFailed) as caught:
                await here.service.asearch("x")
            assert time.perf_counter() - started < 5
            assert outcomes(caught.value.attempts) == [(name, "timeout") for name in names]
            assert all(name in str(caught.value) for name in names)

    async def test_the_loser_is_cancelled_and_nothing_is_left_running(self) -> None:
        async with World("searxng", "tavily", hedge_delay=0.05) as here:
            here["searxng"].fault = Fault.HANG
            await here.service.asearch("x")
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not others

    async def test_cancelling_a_search_cancels_its_attempts(self) -> None:
        async with World("searxng", "tavily", hedge_delay=0.05) as here:
            here["searxng"].fault = here["tavily"].fault = Fault.HANG
            search = asyncio.create_task(here.service.asearch("x"))
            await asyncio.sleep(0.2)
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search
            assert asyncio.all_tasks() == {asyncio.current_task()}


class TestTheTimeOfOneEngine:
    async def test_silence_is_broken_off_in_time_and_the_caller_goes_on(self) -> None:
        async with World("tavily", timeout=0.2) as here:
            here["tavily"].fault = Fault.HANG
            with pytest.raises(AllEnginesFailed) as caught:
                await here.service.asearch("x")
            [attempt] = caught.value.attempts
            assert (attempt.outcome, attempt.reason) == (Outcome.TIMEOUT, "No answer within 0.2 s.")
            assert not attempt.skipped
            task = asyncio.current_task()
            assert task is not None
            assert task.cancelling() == 0
            here["tavily"].fault = None
            assert (await here.service.asearch("x", timeout=5)).results

    async def test_each_search_ends_at_its_own_time(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.HANG
            started = time.perf_counter()

            async def one(seconds: float) -> float:
                with pytest.raises(AllEnginesFailed):
                    await here.service.asearch("x", timeout=seconds)
                return time.perf_counter() - started

            longest, shortest, middle = await asyncio.gather(one(1.5), one(0.1), one(0.8))
            assert 0.1 <= shortest < 0.8 <= middle < 1.5 <= longest

    async def test_a_search_cancelled_from_outside_is_no_timeout_of_the_engine(self) -> None:
        async with World("tavily", engines={"tavily": {"max_concurrency": 1}}) as here:
            here["tavily"].fault = Fault.HANG
            for number in range(4):  # three failures would put it to rest
                search = asyncio.create_task(here.service.asearch(f"q{number}"))
                await asyncio.sleep(0.05)
                search.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await search
            assert (await here.service.status())[0].state == "ready"
            here["tavily"].fault = None
            assert (await here.service.asearch("x", timeout=5)).results, "the one place is free again"

    async def test_a_search_cancelled_at_the_moment_its_time_is_over_is_cancelled(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.HANG
            search = asyncio.create_task(here.service.asearch("x", timeout=0.2))
            await asyncio.sleep(0.1)
            until = time.perf_counter() + 0.2
            while time.perf_counter() < until:  # both become due in the same turn of the loop
                pass
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search

    async def test_whoever_waits_for_a_place_and_is_cancelled_takes_none_away(self) -> None:
        async with World("tavily", engines={"tavily": {"max_concurrency": 1}}) as here:
            here["tavily"].fault = Fault.HANG
            searches = [asyncio.create_task(here.service.asearch(f"q{number}")) for number in range(3)]
            await asyncio.sleep(0.1)
            assert here.requests("tavily") == 1
            for search in reversed(searches):
                search.cancel()
            assert all(
                isinstance(end, asyncio.CancelledError)
                for end in await asyncio.gather(*searches, return_exceptions=True)
            )
            here["tavily"].fault = None
            assert (await here.service.asearch("x", timeout=5)).results


class TestChosenEngine:
    async def test_only_the_chosen_engine_is_asked(self) -> None:
        async with World("tavily", "brave") as here:
            assert (await here.service.asearch("x", engine="Brave")).provider == "brave"
            assert here.requests("tavily") == 0

    async def test_its_failure_is_not_answered_by_another(self) -> None:
        async with World("tavily", "brave") as here:
            here["brave"].fault = Fault.SERVER_ERROR
            with pytest.raises(AllEnginesFailed) as caught:
                await here.service.asearch("x", engine="brave")
            assert outcomes(caught.value.attempts) == [("brave", "unavailable")]
            assert here.requests("tavily") == 0

    async def test_unknown_engine_names_the_known_ones(self) -> None:
        async with World("tavily") as here:
            with pytest.raises(UnknownEngine, match="tavily"):
                await here.service.asearch("x", engine="altavista")

    async def test_chosen_without_key_fails_with_the_fix_and_is_never_replaced(self) -> None:
        from qiusuo import SearchService

        async with SearchService.from_settings() as service:
            with pytest.raises(EngineNotConfigured, match="BRAVE_API_KEY") as caught:
                await service.asearch("x", engine="brave")
        assert caught.value.outcome is Outcome.DISABLED


class TestDeadEngine:
    async def test_a_dead_engine_is_tried_three_times_and_then_rests(self) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].fault = Fault.SERVER_ERROR
            for number in range(20):
                assert (await here.service.asearch(f"query {number}")).provider == "brave"
            assert here.requests("tavily") == 3
            last = await here.service.asearch("one more")
            assert last.attempts[0].skipped
            assert last.attempts[0].retry_after

    async def test_a_burst_at_a_dead_engine_is_a_handful_of_requests(self) -> None:
        async with World("tavily", "brave", engines={"tavily": {"max_concurrency": 5}}) as here:
            here["tavily"].fault = Fault.SERVER_ERROR
            found = await asyncio.gather(*(here.service.asearch(f"burst {number}") for number in range(100)))
            assert {response.provider for response in found} == {"brave"}
            # Five places, and the two that were free again before the third failure.
            assert here.requests("tavily") <= 7

    async def test_an_engine_that_dies_under_load_is_left_alone(self) -> None:
        async with World("tavily", "brave") as here:

            async def worker(name: int) -> None:
                for number in range(25):
                    if name == 0 and number == 10:
                        here["tavily"].fault = Fault.RESET
                    await here.service.asearch(f"load {name} {number}")

            await asyncio.gather(*(worker(name) for name in range(4)))
            alive = here.requests("tavily")
            for number in range(20):
                await here.service.asearch(f"after {number}")
            assert here.requests("tavily") == alive
            assert here.requests("brave") >= 20
