"""A real Redis: what several processes share, and that nothing fails when it goes away."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import time
from contextlib import AsyncExitStack

import pytest

from qiusuo.errors import RateLimited
from qiusuo.models import Outcome
from qiusuo.pipeline.cooldown import Cooldowns
from qiusuo.storage.redis import FIRST_OPERATION_TIMEOUT, OPERATION_TIMEOUT, SharedState, SharedStateGone
from qiusuo.testing import Fault
from tests.support.own_program import FORKED_CODE
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.world import World

__all__ = ["redis"]
pytestmark = with_redis


WORKER = """
import asyncio, json, sys
from qiusuo import SearchService
from qiusuo.errors import SearchError

async def main():
    async with SearchService.from_settings() as service:
        out = []
        for line in json.loads(sys.argv[1]):
            try:
                out.append((await service.asearch(**line)).to_dict())
            except SearchError as error:
                out.append(error.to_dict())
        print(json.dumps(out))

asyncio.run(main())
"""


def in_another_process(
    redis: RedisProcess, world: World, *searches: dict[str, object], **env: str
) -> list[dict[str, object]]:
    """Run searches in a process of its own, over the same providers and the same Redis."""
    variables = {
        "QIUSUO_REDIS_URL": redis.url,
        "SEARCH_PROVIDER_PRIORITY": ",".join(world.servers),
        **{f"{name.upper()}_API_KEY": server.key for name, server in world.servers.items()},
        **{f"QIUSUO_ENGINES__{name.upper()}__BASE_URL": server.base_url for name, server in world.servers.items()},
        **env,
    }
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [*FORKED_CODE, WORKER, json.dumps(searches)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    result: list[dict[str, object]] = json.loads(done.stdout)
    return result


class TestShared:
    async def test_two_processes_share_the_cache(self, redis: RedisProcess) -> None:
        async with World("tavily", redis_url=redis.url) as here:
            first = await here.service.asearch("共享缓存")
            (other,) = await asyncio.to_thread(in_another_process, redis, here, {"query": "共享缓存"})
            assert other["cached"] is True
            assert other["provider"] == "tavily"
            assert other["results"] == first.to_dict()["results"]
            assert here.requests("tavily") == 1

    async def test_two_processes_share_the_limit_of_a_user(self, redis: RedisProcess) -> None:
        async with World("tavily", redis_url=redis.url, rate_limit=3) as here:
            await here.service.asearch("a", user="ada")
            await here.service.asearch("b", user="ada")
            searches: list[dict[str, object]] = [{"query": text, "user": "ada"} for text in ("c", "d")]
            searches.append({"query": "d", "user": "bob"})
            third, fourth, bob = await asyncio.to_thread(
                in_another_process, redis, here, *searches, SEARCH_RATE_LIMIT="3"
            )
            assert "results" in third
            assert fourth["error"] == "UserRateLimited"
            assert isinstance(fourth["retryAfter"], float)
            assert 0 < fourth["retryAfter"] <= 60
            assert "results" in bob

    async def test_two_processes_share_the_rest_of_an_engine(self, redis: RedisProcess) -> None:
        async with World("tavily", "brave", redis_url=redis.url) as here:
            here["tavily"].fault = Fault.RATE_LIMITED
            here["tavily"].retry_after = "60"
            await here.service.asearch("a")
            here["tavily"].fault = None
            (other,) = await asyncio.to_thread(in_another_process, redis, here, {"query": "b"})
            assert other["provider"] == "brave"
            assert here.requests("tavily") == 1

    async def test_after_a_rest_one_of_all_processes_tries_and_the_others_hear_of_it(self, redis: RedisProcess) -> None:
        now = time.time()
        async with AsyncExitStack() as stack:
            fleet = []
            for _ in range(20):
                shared = SharedState(redis.url)
                stack.push_async_callback(shared.aclose)
                fleet.append(Cooldowns(shared=shared, clock=lambda: now))

            async def who_may_ask() -> list[Cooldowns]:
                await asyncio.gather(*(each.refresh(["tavily"]) for each in fleet))
                answers = await asyncio.gather(*(each.admit("tavily") for each in fleet))
                return [each for each, rest in zip(fleet, answers, strict=True) if rest is None]

            await fleet[0].failed("tavily", RateLimited("Slow down.", engine="tavily"))
            assert await who_may_ask() == []
            now += 10.1
            [first] = await who_may_ask()
            await first.failed("tavily", RateLimited("Slow down.", engine="tavily"))
            now += 10.1  # the second rest is twice as long, for all of them
            assert await who_may_ask() == []
            now += 10.1
            await shared.run(lambda client: client.delete("qiusuo:probe:tavily"))  # five seconds have gone by
            [second] = await who_may_ask()
            await second.succeeded("tavily")
            assert await who_may_ask() == fleet

    async def test_two_processes_share_the_quota(self, redis: RedisProcess) -> None:
        async with World("tavily", "brave", redis_url=redis.url, engines={"tavily": {"monthly_quota": 1}}) as here:
            await here.service.asearch("a")
            (other,) = await asyncio.to_thread(
                in_another_process, redis, here, {"query": "b"}, QIUSUO_ENGINES__TAVILY__MONTHLY_QUOTA="1"
            )
            assert other["provider"] == "brave"
            assert other["attempts"][0]["outcome"] == "quota"  # type: ignore[index]

    async def test_results_that_may_not_be_stored_never_reach_redis(self, redis: RedisProcess) -> None:
        async with World("brave", redis_url=redis.url) as here:
            await here.service.asearch("只在内存")
            assert (await here.service.asearch("只在内存")).cached
            (other,) = await asyncio.to_thread(in_another_process, redis, here, {"query": "只在内存"})
            assert other["cached"] is False

    async def test_two_hundred_identical_searches_make_one_request(self, redis: RedisProcess) -> None:
        async with World("tavily", redis_url=redis.url) as here:
            await asyncio.gather(*(here.service.asearch("x") for _ in range(200)))
            assert here.requests("tavily") == 1

    async def test_a_look_that_ends_after_another_callers_search_makes_no_second_one(
        self, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from qiusuo.pipeline.cache import ResponseCache

        look, looks = ResponseCache.shared_fresh, iter((0.0, 0.5))

        async def late(self: ResponseCache, key: str) -> object:
            found = await look(self, key)
            await asyncio.sleep(next(looks))
            return found

        monkeypatch.setattr(ResponseCache, "shared_fresh", late)
        async with World("tavily", redis_url=redis.url) as here:
            await asyncio.gather(here.service.asearch("x"), here.service.asearch("x"))
            assert here.requests("tavily") == 1

    async def test_sync_and_async_callers_use_one_service(self, redis: RedisProcess) -> None:
        async with World("tavily", redis_url=redis.url) as here:
            await asyncio.to_thread(here.service.search, "a")
            assert (await here.service.asearch("a")).cached
            assert (await here.service.asearch("b", user="ada")).provider == "tavily"
            assert (await asyncio.to_thread(here.service.search, "c", user="ada")).provider == "tavily"


class TestManyAtOnce:
    async def test_hundreds_of_searches_need_few_connections_and_none_goes_without_redis(
        self, redis: RedisProcess, caplog: pytest.LogCaptureFixture
    ) -> None:
        from redis.asyncio import Redis

        caplog.set_level(logging.WARNING)
        options = {"tavily": {"max_concurrency": 400}}
        async with (
            World("tavily", redis_url=redis.url, timeout=30, engines=options) as here,
            Redis.from_url(redis.url) as client,
        ):
            await asyncio.gather(*(here.service.asearch(f"q{number}") for number in range(400)))
            assert len(await client.keys("qiusuo:cache:*")) == 400
            assert len(await client.client_list()) <= 3  # one of them is ours
        assert "Redis" not in caplog.text

    async def test_who_gives_up_keeps_nobody_else_from_an_answer(self, redis: RedisProcess) -> None:
        shared = SharedState(redis.url)
        await shared.ask("SET", "a", "1")
        asked = [asyncio.create_task(shared.ask("GET", "a")) for _ in range(10)]
        await asyncio.sleep(0)
        for task in asked[::2]:
            task.cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert answers[1::2] == [b"1"] * 5
        assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[::2])
        assert await shared.ask("GET", "a") == b"1"
        await shared.aclose()

    async def test_redis_is_not_blamed_where_this_process_stood_still(
        self, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        loop = asyncio.get_running_loop()
        now, passed = loop.time, [0.0]
        monkeypatch.setattr(loop, "time", lambda: now() + passed[0])
        shared = SharedState(redis.url)

        async def answer_late(seconds: float) -> str:
            passed[0] += seconds
            for _ in range(5):  # an answer that is there takes a few turns of the loop to be read
                await asyncio.sleep(0)
            return "answer"

        async def be_silent() -> None:
            while True:
                passed[0] += OPERATION_TIMEOUT / 20
                await asyncio.sleep(0)

        for _ in range(2):  # the first one has more time
            assert await shared.guard(lambda: answer_late(FIRST_OPERATION_TIMEOUT * 10)) == "answer"
        assert "Redis" not in caplog.text
        with pytest.raises(SharedStateGone):
            await shared.guard(be_silent)
        assert shared.away, "it was silent for all the time that it had"
        await shared.aclose()

    async def test_one_that_is_refused_is_told_and_the_others_are_answered(
        self, redis: RedisProcess, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.WARNING)
        shared = SharedState(redis.url)
        await shared.ask("LPUSH", "list", "1")
        await shared.ask("SET", "a", "1")
        assert await shared.ask_each([("GET", "list"), ("GET", "a")]) == [None, b"1"]
        found = await asyncio.gather(shared.ask("GET", "list"), shared.ask("GET", "a"), return_exceptions=True)
        assert isinstance(found[0], SharedStateGone)
        assert found[1] == b"1"
        assert caplog.text.count("Redis refuses (WRONGTYPE") == 1
        await shared.aclose()


class TestGone:
    async def test_redis_going_away_changes_nothing_for_the_user(
        self, redis: RedisProcess, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.WARNING)
        options = {"tavily": {"monthly_quota": 1000, "requests_per_second": 100}}
        async with World("tavily", redis_url=redis.url, rate_limit=100, engines=options) as here:
            await here.service.asearch("a", user="ada")
            await asyncio.to_thread(redis.stop)
            for text in ("b", "c", "d"):
                response = await here.service.asearch(text, user="ada")
                assert response.attempts[-1].outcome is Outcome.OK
            assert (await here.service.asearch("a", user="ada")).cached
            assert caplog.text.count("Redis is away") == 1

    async def test_the_limit_still_holds_in_this_process(self, redis: RedisProcess) -> None:
        from qiusuo.errors import UserRateLimited

        redis.stop()
        async with World("tavily", redis_url=redis.url, rate_limit=2) as here:
            await here.service.asearch("a", user="ada")
            await here.service.asearch("b", user="ada")
            with pytest.raises(UserRateLimited):
                await here.service.asearch("c", user="ada")

    async def test_redis_coming_back_is_used_again(
        self, redis: RedisProcess, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        caplog.set_level(logging.WARNING)
        monkeypatch.setattr("qiusuo.storage.redis.RETRY_AFTER_FAILURE", 0.0)
        async with World("tavily", redis_url=redis.url) as here:
            await asyncio.to_thread(redis.stop)
            await here.service.asearch("a")
            await asyncio.to_thread(redis.start)
            await here.service.asearch("b")
            assert "Redis is back" in caplog.text
            (other,) = await asyncio.to_thread(in_another_process, redis, here, {"query": "b"})
            assert other["cached"] is True

    async def test_a_foreign_entry_in_redis_is_as_good_as_absent(self, redis: RedisProcess) -> None:
        from redis.asyncio import Redis

        async with World("tavily", redis_url=redis.url) as here:
            await here.service.asearch("a")
            async with Redis.from_url(redis.url) as client:
                for key in await client.keys("qiusuo:cache:*"):
                    await client.set(key, b'{"response": 7}')
            (other,) = await asyncio.to_thread(in_another_process, redis, here, {"query": "a"})
            assert other["cached"] is False

    async def test_a_foreign_rest_in_redis_is_as_good_as_absent(self, redis: RedisProcess) -> None:
        from redis.asyncio import Redis

        async with World("tavily", redis_url=redis.url) as here:
            async with Redis.from_url(redis.url) as client:
                await client.set("qiusuo:cooldown:tavily", b"junk")
            assert (await here.service.asearch("a")).provider == "tavily"


class TestCare:
    async def test_a_quota_is_not_overdrawn_by_searches_at_the_same_time(self, redis: RedisProcess) -> None:
        from qiusuo.pipeline.quota import MonthlyQuota
        from qiusuo.storage.redis import SharedState

        shared = SharedState(redis.url)
        quota = MonthlyQuota("tavily", 5, shared=shared)
        found = await asyncio.gather(*(quota.take(0.1) for _ in range(20)), return_exceptions=True)
        await shared.aclose()
        assert found.count(None) == 5

    async def test_a_plain_tool_is_not_answered_with_what_another_engine_found(
        self, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from qiusuo.config import Settings
        from qiusuo.tools import WebSearchTool

        async with World("tavily", "brave", redis_url=redis.url) as here:
            assert (await here.service.asearch("a")).provider == "tavily"
            monkeypatch.setenv("BRAVE_API_KEY", here["brave"].key)
            settings = Settings.load(redis_url=redis.url)
            async with WebSearchTool(settings=settings, base_url=here["brave"].base_url) as tool:
                await tool.execute(query="a")
            assert here.requests("brave") == 1

    def test_loops_that_end_take_their_connections_along(self, redis: RedisProcess) -> None:
        from redis import Redis

        with World("tavily", redis_url=redis.url) as here, Redis.from_url(redis.url) as client:
            for number in range(5):
                asyncio.run(here.service.asearch(f"q{number}"))
            assert len(client.client_list()) == 1  # our own


def test_an_unusable_url_is_a_clear_error() -> None:
    from qiusuo import SearchService
    from qiusuo.config import Settings
    from qiusuo.errors import ConfigurationError

    with pytest.raises(ConfigurationError, match="redis://"):
        SearchService([], Settings.load(redis_url="http://nowhere:1"))
