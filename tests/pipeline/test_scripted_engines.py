"""The service over engines that do as they are told: races, attempts, rests, deadlines, errors and the end."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from qiusuo import Query, SearchEngine, SearchResultItem, SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import EngineOptions
from qiusuo.errors import AllEnginesFailed, EngineNotConfigured, RateLimited, Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Attempt, Outcome
from qiusuo.pipeline.cooldown import Cooldowns
from qiusuo.words import said

Work = Callable[[], Awaitable[Any]]


def engine(called: str, work: Work, *, paid: bool = False, here: bool = False) -> SearchEngine:
    """Make an engine that does what it is told and counts how often it was asked."""

    class Scripted(SearchEngine):
        name = called
        label = called
        costs_money = paid
        local = here

        def __init__(self) -> None:
            self.asked = 0
            self.closed = False

        async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - scripted
            self.asked += 1
            return cast("list[SearchResultItem]", await work())

        @classmethod
        def from_options(cls, options: EngineOptions, http: HttpClient) -> Scripted:  # noqa: ARG003 - scripted
            return cls()

        async def aclose(self) -> None:
            self.closed = True

    return Scripted()


def answers(after: float = 0.0, count: int = 1) -> Work:
    async def work() -> Any:
        await asyncio.sleep(after)
        return [SearchResultItem(f"t{n}", f"https://a{n}.example/", "s") for n in range(count)]

    return work


def fails(after: float = 0.0) -> Work:
    async def work() -> Any:
        await asyncio.sleep(after)
        raise Unavailable("down.")

    return work


def asked(one: SearchEngine) -> int:
    return cast("Any", one).asked  # type: ignore[no-any-return]


class TestRace:
    async def test_a_failure_does_not_start_a_paid_engine_beside_another_paid_one(self) -> None:
        free, first, second = (
            engine("free", fails(0.2)),
            engine("first", answers(0.6), paid=True),
            engine("second", answers(), paid=True),
        )
        async with SearchService([free, first, second], Settings.load(hedge_delay=0.1)) as service:
            response = await service.asearch("x")
        assert response.provider == "first"
        assert asked(second) == 0

    async def test_a_free_engine_between_two_paid_ones_does_not_let_both_run(self) -> None:
        first, free, second = (
            engine("first", answers(0.6), paid=True),
            engine("free", answers(5)),
            engine("second", answers(), paid=True),
        )
        async with SearchService([first, free, second], Settings.load(hedge_delay=0.1)) as service:
            response = await service.asearch("x")
        assert response.provider == "first"
        assert asked(second) == 0

    async def test_a_paid_engine_that_hangs_leaves_time_for_the_paid_one_behind_a_free_one(self) -> None:
        first, free, second = (
            engine("first", answers(60), paid=True),
            engine("free", fails(0.1)),
            engine("second", answers(), paid=True),
        )
        async with SearchService([first, free, second], Settings.load(hedge_delay=0.1, timeout=1)) as service:
            assert (await service.asearch("x")).provider == "second"

    async def test_one_on_this_machine_that_loads_goes_on_beside_the_next_ones(self) -> None:
        loads, dead, other = engine("loads", answers(1.7), here=True), engine("dead", fails()), engine("b", fails())
        async with SearchService([loads, dead, other], Settings.load(hedge_delay=0.1, timeout=2.5)) as service:
            response = await service.asearch("x")
        assert response.provider == "loads"
        outcomes = [(attempt.engine, attempt.outcome) for attempt in response.attempts]
        assert outcomes == [("loads", "ok"), ("dead", "unavailable"), ("b", "unavailable")]

    async def test_until_its_share_is_over_nothing_goes_out(self) -> None:
        loads, other = engine("loads", answers(0.6), here=True), engine("other", answers())
        async with SearchService([loads, other], Settings.load(hedge_delay=0.1, timeout=2)) as service:
            assert (await service.asearch("x")).provider == "loads"
        assert asked(other) == 0

    async def test_one_on_this_machine_that_hangs_keeps_nobody_from_an_answer(self) -> None:
        hangs, other = engine("hangs", answers(60), here=True), engine("other", answers())
        async with SearchService([hangs, other], Settings.load(timeout=1)) as service:
            assert (await service.asearch("x")).provider == "other"
        async with SearchService([hangs], Settings.load(timeout=0.3)) as service:
            with pytest.raises(AllEnginesFailed) as caught:
                await service.asearch("x")
        fact = caught.value.attempts[0].fact
        assert fact is not None
        assert fact.code == "search.late_here"

    async def test_emptiness_beside_a_running_engine_starts_no_third_one(self) -> None:
        empty, slow, third = (
            engine("empty", answers(0.15, count=0)),
            engine("slow", answers(0.5)),
            engine("c", answers()),
        )
        async with SearchService([empty, slow, third], Settings.load(hedge_delay=0.1)) as service:
            response = await service.asearch("x")
        assert response.provider == "slow"
        assert asked(third) == 0

    async def test_a_hedge_that_had_no_time_is_not_blamed(self) -> None:
        slow, hedge = engine("slow", answers(0.4)), engine("hedge", answers(5))
        async with SearchService([slow, hedge], Settings.load(hedge_delay=0.3)) as service:
            for number in range(4):
                assert (await service.asearch(f"q{number}")).provider == "slow"
            assert [status.state for status in await service.status()] == ["ready", "ready"]
        assert asked(hedge) == 4

    async def test_two_answers_at_the_same_moment_are_both_answers(self) -> None:
        gate = asyncio.Event()

        async def work() -> Any:
            await gate.wait()
            return [SearchResultItem("t", "https://a.example/", "s")]

        one, two = engine("one", work), engine("two", work)
        async with SearchService([one, two], Settings.load(hedge_delay=0.05)) as service:
            search = asyncio.create_task(service.asearch("x"))
            await asyncio.sleep(0.2)
            gate.set()
            response = await search
        assert response.provider == "one"
        assert [attempt.outcome for attempt in response.attempts] == [Outcome.OK, Outcome.OK]

    async def test_engines_for_which_no_time_was_left_are_named(self) -> None:
        names = [f"e{number}" for number in range(8)]
        engines = [engine(name, answers(60), paid=True) for name in names]
        async with SearchService(engines, Settings.load(timeout=0.5)) as service:
            with pytest.raises(AllEnginesFailed) as caught:
                await service.asearch("x")
        assert [attempt.engine for attempt in caught.value.attempts] == names
        assert caught.value.attempts[-1].skipped


class TestAttempt:
    @pytest.mark.parametrize("junk", [None, 5, ["text"]])
    async def test_a_plug_in_that_returns_nonsense_is_passed_over(self, junk: object) -> None:
        async def work() -> Any:
            return junk

        async with SearchService([engine("junk", work), engine("good", answers())], Settings.load()) as service:
            response = await service.asearch("x", exclude_domains=["example.org"])
        assert [attempt.outcome for attempt in response.attempts] == [Outcome.BAD_RESPONSE, Outcome.OK]

    async def test_waiting_for_a_place_is_not_held_against_the_engine(self) -> None:
        slow = engine("slow", answers(0.2))
        settings = Settings.load(engines={"slow": {"max_concurrency": 1}}, timeout=0.3)
        async with SearchService([slow], settings) as service:
            found = await asyncio.gather(*(service.asearch(f"q{n}") for n in range(6)), return_exceptions=True)
            refused = [one.attempts[0] for one in found if isinstance(one, AllEnginesFailed)]
            assert any(attempt.skipped for attempt in refused)
            assert (await service.status())[0].state == "ready"
        assert asked(slow) < 6

    async def test_whoever_is_overtaken_while_waiting_for_a_place_is_not_blamed(self) -> None:
        gate = asyncio.Event()

        async def work() -> Any:
            await gate.wait()
            return []

        narrow, other = engine("narrow", work), engine("other", answers())
        settings = Settings.load(engines={"narrow": {"max_concurrency": 1}}, hedge_delay=0.02, timeout=20)
        async with SearchService([narrow, other], settings) as service:
            first = asyncio.create_task(service.asearch("first", engine="narrow"))
            await asyncio.sleep(0)
            found = await asyncio.gather(*(service.asearch(f"q{n}") for n in range(4)))
            assert {response.provider for response in found} == {"other"}
            assert (await service.status())[0].state == "ready"
            gate.set()
            await first
        assert asked(narrow) == 1

    async def test_a_search_that_the_pace_refuses_costs_no_quota(self) -> None:
        settings = Settings.load(engines={"only": {"requests_per_second": 0.01, "monthly_quota": 50}})
        async with SearchService([engine("only", answers())], settings) as service:
            await asyncio.gather(*(service.asearch(f"q{n}") for n in range(5)), return_exceptions=True)
            assert (await service.status())[0].quota_used == 1


class TestCooldowns:
    async def test_an_engine_may_rest_more_than_a_thousand_times(self) -> None:
        now = [0.0]
        cooldowns = Cooldowns(clock=lambda: now[0])
        for _ in range(1100):
            for _ in range(3):
                await cooldowns.failed("dead", Unavailable("down."))
            now[0] += 61
        await cooldowns.failed("dead", Unavailable("down."))
        assert cooldowns.resting("dead") is not None

    async def test_an_answer_to_an_earlier_request_does_not_end_a_rest(self) -> None:
        cooldowns = Cooldowns(clock=lambda: 0.0)
        assert await cooldowns.admit("a") is None  # two requests leave
        assert await cooldowns.admit("a") is None
        await cooldowns.failed("a", RateLimited("slow down.", retry_after=30))
        await cooldowns.succeeded("a")  # the other one comes back
        assert await cooldowns.admit("a") is not None


class TestDeadlines:
    async def test_whoever_joins_a_search_keeps_the_own_deadline(self) -> None:
        async with SearchService([engine("slow", answers(1.5))], Settings.load()) as service:
            patient = asyncio.create_task(service.asearch("x", timeout=5))
            await asyncio.sleep(0.05)
            started = time.perf_counter()
            with pytest.raises(AllEnginesFailed):
                await service.asearch("x", timeout=0.2)
            assert time.perf_counter() - started < 1.2
            assert (await patient).results

    async def test_one_callers_hurry_does_not_put_the_engine_to_rest(self) -> None:
        async with SearchService([engine("calm", answers(0.3))], Settings.load()) as service:
            for number in range(4):
                with pytest.raises(AllEnginesFailed):
                    await service.asearch(f"q{number}", timeout=0.05)
            assert (await service.asearch("x")).results


class TestErrors:
    async def test_raising_the_same_problem_again_gathers_nothing(self) -> None:
        depths = set()
        async with SearchService.from_settings(Settings.load()) as service:
            for _ in range(5):
                with pytest.raises(EngineNotConfigured) as caught:
                    await service.asearch("x", engine="brave")
                depths.add(len(caught.traceback))
        assert len(depths) == 1

    def test_every_error_travels_between_processes(self) -> None:
        attempts = [Attempt("a", Outcome.QUOTA, 1, said("why"), said("fix"), 7.0)]
        error = pickle.loads(pickle.dumps(AllEnginesFailed.from_attempts(attempts)))  # noqa: S301 - our own
        assert error.attempts == tuple(attempts)
        assert error.retry_after == 7


async def test_an_engine_that_cannot_be_closed_keeps_no_other_from_it() -> None:
    async def broken() -> None:
        raise OSError("no")

    bad, good = engine("bad", answers()), engine("good", answers())
    cast("Any", bad).aclose = broken
    async with SearchService([bad, good], Settings.load()):
        pass
    assert cast("Any", good).closed
