"""A real Redis: what several processes share, and that nothing fails when it goes away."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.models import Outcome
from qiusuo.testing import Fault
from support import World
from web_server import WebServer

pytestmark = [
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
    pytest.mark.xdist_group("redis"),
]


class RedisProcess:
    """A redis-server on a free port that can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(command, cwd=self._folder, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        pytest.fail("redis-server did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisProcess]:
    process = RedisProcess(tmp_path)
    yield process
    process.stop()


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
        [sys.executable, "-c", WORKER, json.dumps(searches)],
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


def spoil(entry: dict[str, Any], *path: str | int, value: Any) -> bytes:
    """Return an entry with one value replaced."""
    changed = json.loads(json.dumps(entry))
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(changed).encode()


FIRST = ("response", "results", 0)
RECEIPT = ("response", "attempts", 0)
# Where in an entry of the cache, and what stands there.
BAD_VALUES: list[tuple[tuple[str | int, ...], list[Any]]] = [
    (("until",), ["text", "nan", None, [], {}, True, float("nan"), float("inf"), 1e300, -1, "9e9"]),
    (("keep",), ["text", None, 1e300, -5]),
    (
        (*FIRST, "url"),
        ["javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "data:text/html,<script>"],
    ),
    ((*FIRST, "url"), ["file:///etc/passwd", "//evil.example/", "", 7, None, ["https://a.example"]]),
    ((*FIRST, "url"), ["https://a.example/\n", "https://x.example/" + "x" * 9000]),
    ((*FIRST, "score"), ["1", float("nan"), float("inf"), 10**400, []]),
    ((*FIRST, "title"), [7, None, {}, "\x1b[2J", "x" * 50_000]),
    ((*FIRST, "snippet"), [7, None, {}, "\x1b[2J", "x" * 50_000]),
    ((*FIRST, "source"), [7, None, {}, "\x1b[2J", "x" * 50_000]),
    ((*FIRST, "publishedAt"), [7, {}, "x" * 5000]),
    ((*FIRST, "engines"), ["tavily", [7], {"a": 1}, ["x"] * 1000]),
    ((*RECEIPT, "outcome"), ["hacked", 7, None]),
    ((*RECEIPT, "ms"), ["1", 1.5, -1, 10**18, None]),
    ((*RECEIPT, "retryAfter"), ["1", -1, 1e300]),
    (("response", "results"), ["text", [[]], [{}] * 51]),
    (("response", "attempts"), [None]),
    (("response", "provider"), [7]),
    (("response", "type"), ["hacked"]),
    (("response", "searchTime"), ["1"]),
    (("response",), [7, None]),
]
SPOILT = [(path, value) for path, values in BAD_VALUES for value in values]
WHOLE = [
    b"", b"0", b"null", b"[]", b'"text"', b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b'{"until": 1e999}',
    b'{"x": "' + b"x" * 3_000_000 + b'"}',
]  # fmt: skip


MOMENTS: list[Any] = ["text", "nan", None, [], float("inf"), 1e300, 9e10, True]
RESTS = [
    *(json.dumps({"until": until, "outcome": "blocked", "reason": "r", "fix": ""}) for until in MOMENTS),
    '{"until": 9e9, "outcome": "hacked", "reason": "r", "fix": ""}',
    '{"until": 1e9, "outcome": "blocked", "reason": 7, "fix": {}}',
    '{"until": 1e9, "outcome": "blocked", "reason": "\\u001b[2J", "fix": ""}',
    json.dumps({"until": 1e9, "outcome": "blocked", "reason": "x" * 9000, "fix": ""}),
    "[]", "7", "null", "junk", "x" * 1_000_000,
]  # fmt: skip


class TestHostileValues:
    """What stands in Redis was perhaps written by somebody else: the REST API goes on as if it were not there."""

    def test_in_the_cache(self, redis: RedisProcess, caplog: pytest.LogCaptureFixture) -> None:
        from redis import Redis

        count = len(SPOILT) + len(WHOLE)
        with Redis.from_url(redis.url) as client:
            keys: list[bytes] = []
            with WebServer.over("tavily", redis_url=redis.url) as one:
                for number in range(count):
                    before = set(client.keys("qiusuo:cache:*"))
                    assert one.search(f"q{number}").status_code == 200
                    keys += set(client.keys("qiusuo:cache:*")) - before
            entry = json.loads(client.get(keys[0]))
            hostile = [spoil(entry, *path, value=value) for path, value in SPOILT] + WHOLE
            for key, value in zip(keys, hostile, strict=True):
                client.set(key, value)
            with WebServer.over("tavily", redis_url=redis.url) as two:
                for number, value in enumerate(hostile):
                    answer = two.search(f"q{number}")
                    assert answer.status_code == 200, value[:200]
                    assert answer.json()["cached"] is False, value[:200]
                    assert {item["url"][:8] for item in answer.json()["results"]} == {"https://"}
        # One line for all of them, and Redis is not thought to be away.
        assert caplog.text.count("an entry of the shared cache cannot be read") == 1
        assert "Redis is away" not in caplog.text

    def test_an_entry_that_would_be_fresh_for_years(self, redis: RedisProcess) -> None:
        from redis import Redis

        with WebServer.over("tavily", redis_url=redis.url) as one:
            one.search("a")
        with Redis.from_url(redis.url) as client:
            [key] = client.keys("qiusuo:cache:*")
            entry = json.loads(client.get(key))
            far = time.time() + 1e9
            client.set(key, json.dumps(entry | {"until": far, "keep": far}))
        with WebServer.over("tavily", redis_url=redis.url) as two:
            assert two.search("a").json()["cached"] is False

    @pytest.mark.parametrize("value", RESTS, ids=range(len(RESTS)))
    def test_of_a_rest(self, redis: RedisProcess, value: str) -> None:
        from redis import Redis

        with Redis.from_url(redis.url) as client:
            client.set("qiusuo:cooldown:tavily", value)
        with WebServer.over("tavily", redis_url=redis.url) as server:
            answer = server.search("a")
            assert (answer.status_code, answer.json()["provider"]) == (200, "tavily")
            assert server.client.get("/api/engines").status_code == 200
            assert server.client.get("/api/health").status_code == 200

    @pytest.mark.parametrize("value", ["text", "-5", "1.5", "nan", "9" * 50, "99999999999", "٣", " 1", "0x10"])
    def test_of_a_quota(self, redis: RedisProcess, value: str) -> None:
        from datetime import UTC, datetime

        from redis import Redis

        with Redis.from_url(redis.url) as client:
            client.set(f"qiusuo:quota:tavily:{datetime.now(UTC):%Y-%m}", value)
        engines = {"tavily": {"monthly_quota": 100}}
        with WebServer.over("tavily", redis_url=redis.url, engines=engines) as server:
            assert [server.search(text).status_code for text in ("a", "b")] == [200, 200]
            assert server.client.get("/api/engines").status_code == 200

    def test_of_another_kind(self, redis: RedisProcess, caplog: pytest.LogCaptureFixture) -> None:
        from redis import Redis

        options: dict[str, Any] = {
            "redis_url": redis.url,
            "rate_limit": 50,
            "engines": {"tavily": {"monthly_quota": 100, "requests_per_second": 50}},
        }
        with Redis.from_url(redis.url) as client, WebServer.over("tavily", **options) as one:
            one.search("a")
            for key in ("qiusuo:cooldown:tavily", *client.keys("qiusuo:*")):
                client.delete(key)
                client.hset(key, "a", "b")
            with WebServer.over("tavily", **options) as two:
                assert [two.search(text).status_code for text in ("a", "b")] == [200, 200]
                assert two.client.get("/api/engines").status_code == 200
        assert "Redis is away" not in caplog.text

    @pytest.mark.parametrize("moment", ["9e99", "inf", "text", "-1", "1e400"])
    def test_of_a_users_limit(self, redis: RedisProcess, moment: str) -> None:
        from redis import Redis

        with Redis.from_url(redis.url) as client, WebServer.over("tavily", redis_url=redis.url, rate_limit=2) as server:
            server.search("a")
            [key] = client.keys("qiusuo:limits*")
            client.delete(key)
            client.lpush(key, moment, moment, moment)
            answer = server.search("b")
            assert answer.status_code in {200, 429}
            if answer.status_code == 429:
                assert 1 <= int(answer.headers["retry-after"]) <= 60

    @given(st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(
            ["until", "keep", "response", "results", "url", "title", "attempts", "outcome", "reason", "fix"]), inner),
    ))  # fmt: skip
    def test_nothing_that_can_be_written_as_json_breaks_the_reader(self, value: Any) -> None:
        from qiusuo.pipeline.stored import read_entry, read_rest

        data = json.dumps(value).encode("utf-8", "surrogatepass")
        assert read_entry(data) is None
        assert read_rest(data, 0.0) is None


def test_an_unusable_url_is_a_clear_error() -> None:
    from qiusuo import SearchService
    from qiusuo.config import Settings
    from qiusuo.errors import ConfigurationError

    with pytest.raises(ConfigurationError, match="redis://"):
        SearchService([], Settings.load(redis_url="http://nowhere:1"))
