"""Limits per user, pace and quota per engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from qiusuo.errors import AllEnginesFailed, Blocked, QuotaExceeded, RateLimited, Unavailable, UserRateLimited
from qiusuo.pipeline.quota import BETWEEN_TURNS, MonthlyQuota
from qiusuo.testing import Answer, Fault
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

    async def test_near_the_quota_searches_wait_their_turn_and_on_the_last_day_all_are_spent(self) -> None:
        with time_machine.travel("2026-11-30T09:00:00Z", tick=True):
            async with World("tavily", engines={"tavily": {"monthly_quota": 20}}) as here:
                await asyncio.gather(*(here.service.asearch(f"q{number}") for number in range(18)))
                started = time.perf_counter()
                await asyncio.gather(here.service.asearch("19th"), here.service.asearch("20th"))
                assert time.perf_counter() - started >= BETWEEN_TURNS
                assert here.requests("tavily") == 20
                with pytest.raises(AllEnginesFailed, match="quota"):
                    await here.service.asearch("21st")
                assert here.requests("tavily") == 20

    async def test_the_last_tenth_is_shared_out_over_the_days_and_nothing_of_it_is_lost(
        self, clock: time_machine.Traveller
    ) -> None:
        async with World("tavily", engines={"tavily": {"monthly_quota": 30}}) as here:

            async def made(count: int) -> int:
                before = here.requests("tavily")
                for number in range(count):
                    clock.shift(timedelta(seconds=2))
                    with suppress(AllEnginesFailed):
                        await here.service.asearch(f"{time.time()} {number}")
                return here.requests("tavily") - before

            assert await made(40) == 27 + 2  # half of the month is over, so two of the last three may be spent
            with pytest.raises(AllEnginesFailed, match="29 of 30") as caught:
                await here.service.asearch("too much for today")
            assert caught.value.attempts[0].retry_after == pytest.approx(5.5 * 86400, abs=100)  # the 21st
            clock.move_to("2026-11-21T00:00:01Z")
            assert await made(3) == 1
            clock.move_to("2026-12-31T00:00:01Z")
            assert await made(40) == 30  # the last day of a month in which nobody had searched

    async def test_an_engine_is_not_blamed_for_searches_that_were_answered_while_they_waited_for_it(self) -> None:
        with time_machine.travel("2026-11-30T09:00:00Z", tick=True):
            options = {"tavily": {"monthly_quota": 20}}
            async with World("tavily", "searxng", engines=options, hedge_delay=0.02) as here:
                quota = [here.service.asearch(f"q{number}", engine="tavily") for number in range(19)]
                await asyncio.gather(*quota)
                for number in range(4):
                    found = await here.service.asearch(f"now {number}")
                    assert found.provider == "searxng"
                    assert found.attempts[0].skipped
                assert here.requests("tavily") == 19
                assert [status.state for status in await here.service.status()] == ["ready", "ready"]

    async def test_a_turn_that_comes_too_late_is_refused_at_once(self) -> None:
        now = [1_800_000_000.0]
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            now[0] += seconds

        quota = MonthlyQuota("tavily", 100, clock=lambda: now[0], sleep=sleep)
        for _ in range(91):
            await quota.take(patience=5)
        assert (await quota.used(), waits) == (91, [])
        with pytest.raises(QuotaExceeded, match="91 of 100") as caught:
            await quota.take(patience=BETWEEN_TURNS / 2)
        assert (caught.value.retry_after, waits) == (BETWEEN_TURNS, [])
        await quota.take(patience=5)
        assert waits == [BETWEEN_TURNS]

    async def test_who_gives_up_in_the_queue_leaves_the_turn_to_the_next(self) -> None:
        now = [1_800_000_000.0]

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(0)
            now[0] += seconds

        quota = MonthlyQuota("tavily", 100, clock=lambda: now[0], sleep=sleep)
        for _ in range(91):
            await quota.take(patience=5)
        first, second = (asyncio.ensure_future(quota.take(patience=1.5 * BETWEEN_TURNS)) for _ in range(2))
        third = asyncio.ensure_future(quota.take(patience=2.1 * BETWEEN_TURNS))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        await third
        assert await quota.used() == 92

    async def test_at_the_turn_of_the_month_a_search_waits_for_the_next(self) -> None:
        now = [datetime(2026, 11, 30, 23, 59, 58, tzinfo=UTC).timestamp()]

        async def sleep(seconds: float) -> None:
            now[0] += seconds

        quota = MonthlyQuota("tavily", 1, clock=lambda: now[0], sleep=sleep)
        await quota.take(patience=3)
        await quota.take(patience=3)
        assert now[0] >= datetime(2026, 12, 1, tzinfo=UTC).timestamp()

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

    async def test_a_wait_that_a_provider_names_is_obeyed_after_the_first_failure(
        self, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with World("tavily", "brave") as here:
            busy = Answer({"detail": "later"}, 503, {"Retry-After": "300"})
            monkeypatch.setattr(here["tavily"].provider, "refuse", lambda _fault: busy)
            here["tavily"].fault = Fault.OVERLOADED
            first = await here.service.asearch("a")
            assert (first.attempts[0].outcome, first.attempts[0].retry_after) == ("unavailable", 300)
            clock.shift(timedelta(seconds=290))
            await here.service.asearch("b")
            assert here.requests("tavily") == 1
            here["tavily"].fault = None
            clock.shift(timedelta(seconds=20))
            assert (await here.service.asearch("c")).provider == "tavily"

    @pytest.mark.parametrize(("said", "believed"), [(1e12, 86400), (-5.0, 0), (float("nan"), None), (40.0, 40)])
    def test_no_provider_is_believed_everything(self, said: float, believed: float | None) -> None:
        for kind in (Unavailable, RateLimited, Blocked):
            assert kind("later.", retry_after=said).retry_after == believed
        assert QuotaExceeded("next month.", retry_after=20 * 86400).retry_after == 20 * 86400

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
