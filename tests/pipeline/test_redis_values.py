"""Values in a real Redis that somebody else has written."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.web_server import WebServer

__all__ = ["redis"]
pytestmark = with_redis


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
