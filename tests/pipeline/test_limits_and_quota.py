"""Limits per user, pace and quota per engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine

from qiusuo.errors import AllEnginesFailed, QuotaExceeded, UserRateLimited
from qiusuo.pipeline.quota import MonthlyQuota
from qiusuo.testing import Fault
from tests.support.world import World


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-11-15T12:00:00Z", tick=False) as traveller:
        yield traveller


class TestUserLimit:
    async def test_the_eleventh_search_in_a_minute_is_refused_with_the_wait(
        self, clock: time_machine.Traveller
    ) -> None:
        async with World("tavily") as here:
            for number in range(10):
                await here.service.asearch(f"q{number}", user="ada")
            clock.shift(timedelta(seconds=20))
            with pytest.raises(UserRateLimited) as caught:
                await here.service.asearch("one more", user="ada")
            assert caught.value.retry_after == pytest.approx(40, abs=1)
            assert "40 seconds" in caught.value.fix
            assert here.requests("tavily") == 10

    async def test_others_are_not_concerned_and_time_heals(self, clock: time_machine.Traveller) -> None:
        async with World("tavily", rate_limit=1) as here:
            await here.service.asearch("a", user="ada")
            await here.service.asearch("b", user="bob")
            with pytest.raises(UserRateLimited):
                await here.service.asearch("c", user="ada")
            clock.shift(timedelta(seconds=61))
            await here.service.asearch("c", user="ada")

    async def test_answers_from_the_cache_are_free(self) -> None:
        async with World("tavily", rate_limit=1) as here:
            await here.service.asearch("a", user="ada")
            for _ in range(5):
                assert (await here.service.asearch("a", user="ada")).cached

    async def test_without_a_user_only_a_limit_that_was_set_holds(self) -> None:
        async with World("tavily") as here:
            for number in range(15):
                await here.service.asearch(f"q{number}")
        async with World("tavily", rate_limit=2) as here:
            await here.service.asearch("a")
            await here.service.asearch("b")
            with pytest.raises(UserRateLimited):
                await here.service.asearch("c")

    async def test_one_users_refusal_is_not_shared_with_who_waits_for_the_same_search(self) -> None:
        async with World("tavily", rate_limit=1) as here:
            await here.service.asearch("a", user="ada")
            refused, served = await asyncio.gather(
                here.service.asearch("b", user="ada"), here.service.asearch("b", user="bob"), return_exceptions=True
            )
            assert isinstance(refused, UserRateLimited)
            assert not isinstance(served, BaseException)


class TestPace:
    async def test_requests_wait_for_their_turn(self) -> None:
        async with World("tavily", engines={"tavily": {"requests_per_second": 2}}) as here:
            started = time.perf_counter()
            await asyncio.gather(*(here.service.asearch(f"q{number}") for number in range(4)))
            assert 0.9 <= time.perf_counter() - started < 3

    async def test_a_turn_that_comes_too_late_goes_to_the_next_engine(self) -> None:
        async with World("tavily", "brave", engines={"tavily": {"requests_per_second": 0.01}}) as here:
            await here.service.asearch("first")
            second = await here.service.asearch("second")
            assert second.provider == "brave"
            assert second.attempts[0].skipped
            assert "requests_per_second" in second.attempts[0].fix
            assert here.requests("tavily") == 1


class TestQuota:
    @pytest.mark.usefixtures("clock")
    async def test_used_up_goes_to_the_next_engine_until_the_month_ends(self) -> None:
        async with World("tavily", "brave", engines={"tavily": {"monthly_quota": 0}}) as here:
            response = await here.service.asearch("x")
            assert response.provider == "brave"
            assert response.attempts[0].outcome.value == "quota"
            assert response.attempts[0].skipped
            assert response.attempts[0].retry_after == pytest.approx(15.5 * 86400)
            assert here.requests("tavily") == 0

    async def test_a_stale_answer_serves_when_the_quota_is_used_up(self, clock: time_machine.Traveller) -> None:
        async with World("tavily", engines={"tavily": {"monthly_quota": 1}}) as here:
            await here.service.asearch("x")
            clock.shift(timedelta(hours=2))
            assert (await here.service.asearch("x")).stale
            with pytest.raises(AllEnginesFailed, match="quota"):
                await here.service.asearch("y")

    async def test_near_the_quota_searches_queue(self) -> None:
        now = 1_800_000_000.0
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        quota = MonthlyQuota("tavily", 100, clock=lambda: now, sleep=sleep)
        for _ in range(91):
            await quota.take(patience=5)
        assert await quota.used() == 91
        with pytest.raises(QuotaExceeded, match="91 of 100") as caught:
            await quota.take(patience=5)
        assert caught.value.retry_after is not None
        assert caught.value.retry_after > 3600
        await quota.take(patience=1e9)
        assert waits == [caught.value.retry_after]

    async def test_a_new_month_starts_at_zero(self) -> None:
        now = [1_800_000_000.0]
        quota = MonthlyQuota("tavily", 2, clock=lambda: now[0])
        await quota.take(5)
        now[0] += 31 * 86400
        assert await quota.used() == 0

    async def test_status_tells_what_is_left(self) -> None:
        async with World("tavily", engines={"tavily": {"monthly_quota": 50}}) as here:
            await here.service.asearch("x")
            (status,) = await here.service.status()
            assert (status.state, status.quota, status.quota_used) == ("ready", 50, 1)


class TestCooldown:
    async def test_retry_after_is_honoured_to_the_second(self, clock: time_machine.Traveller) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].fault = Fault.RATE_LIMITED
            here["tavily"].retry_after = "30"
            await here.service.asearch("a")
            here["tavily"].fault = None
            clock.shift(timedelta(seconds=29))
            resting = await here.service.asearch("b")
            assert resting.provider == "brave"
            assert resting.attempts[0].retry_after == pytest.approx(1)
            (tavily, _) = await here.service.status()
            assert tavily.state == "resting"
            clock.shift(timedelta(seconds=2))
            assert (await here.service.asearch("c")).provider == "tavily"

    async def test_rests_grow_until_the_engine_answers(self, clock: time_machine.Traveller) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].fault = Fault.BOMB
            rests = []
            for round_ in range(4):
                before = here.requests("tavily")
                while not (
                    attempt := (await here.service.asearch(f"{round_} {time.perf_counter_ns()}")).attempts[0]
                ).skipped:
                    assert here.requests("tavily") - before <= 3
                rests.append(round(attempt.retry_after or 0))
                clock.shift(timedelta(seconds=(attempt.retry_after or 0) + 1))
            assert rests == [15, 30, 60, 120]
            here["tavily"].fault = None
            assert (await here.service.asearch("alive")).provider == "tavily"
            assert [status.state for status in await here.service.status()] == ["ready", "ready"]

    async def test_after_a_rest_one_caller_tries_and_the_others_go_on(self, clock: time_machine.Traveller) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].fault = Fault.RATE_LIMITED
            await here.service.asearch("a")
            clock.shift(timedelta(seconds=60))
            here["tavily"].fault = Fault.SLOW
            before = here.requests("tavily")
            found = await asyncio.gather(*(here.service.asearch(f"q{number}") for number in range(10)))
            assert here.requests("tavily") - before == 1
            assert sum(response.provider == "tavily" for response in found) == 1

    async def test_a_refused_request_says_nothing_of_the_engine(self) -> None:
        async with World("tavily", "brave") as here:
            here["tavily"].fault = Fault.INVALID
            for number in range(6):
                await here.service.asearch(f"q{number}")
            assert here.requests("tavily") == 6
