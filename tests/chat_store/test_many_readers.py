"""Many readers of a turn that runs on another server: it is read there once for all of them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.chat_store.test_live_elsewhere import Server, running, text_of, until, until_text
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.scripted_model import Gate, Reply

__all__ = ["redis"]  # a fixture
pytestmark = with_redis


def reads(url: str) -> int:
    """Return how often a stream was read so far."""
    with Redis.from_url(url) as client:
        stats: dict[str, Any] = client.info("commandstats")
    return int(stats.get("cmdstat_xread", {}).get("calls", 0))


def test_they_all_hear_all_of_it_and_cost_what_one_costs(tmp_path: Path, redis: RedisProcess) -> None:
    gate = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with (
        running(Reply.text("一", "二", gate, "三"), url=url, redis=redis) as (_, second, session, turn, here),
        ExitStack() as stack,
    ):
        seen = until_text(here, "一二")
        everybody = []
        for number in range(24):  # some have seen the beginning, on the server that answers
            after = seen[-1]["id_"] if number % 2 else -1
            everybody.append((number, stack.enter_context(second.joining(session, turn, after))))
            if number % 2 == 0:
                until_text(everybody[-1][1], "一二")
        before, began = reads(redis.url), time.monotonic()
        until(lambda: reads(redis.url) >= before + 3)
        often = (reads(redis.url) - before) / (time.monotonic() - began)
        assert often < 24, "one reading for all of them, at most ten times a second"
        gate.open()
        with ThreadPoolExecutor(24) as pool:
            rests = list(pool.map(lambda one: list(one[1]), everybody))
        for rest in rests:
            assert text_of(rest) == "三"
            assert (rest[-1]["type"], rest[-1]["answer"]) == ("done", "一二三")


def test_who_is_behind_what_is_held_reads_it_for_himself(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qiusuo.chat.live.watching.MAX_HELD", 2)
    gates = [Gate() for _ in range(8)]
    pieces = [part for number, gate in enumerate(gates) for part in (gate, f"{number} ")]
    end = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with running(Reply.text("开头 ", *pieces, end, "完"), url=url, redis=redis) as (_, second, session, turn, here):
        until_text(here, "开头")
        with second.joining(session, turn) as quick, second.joining(session, turn) as slow:
            until_text(quick, "开头")
            for number, gate in enumerate(gates):
                gate.open()
                until_text(quick, str(number))
            with second.joining(session, turn) as late:
                until_text(late, "0 1 2 3 4 5 6 7")
                end.open()
                assert list(late)[-1]["answer"] == list(slow)[-1]["answer"] == "开头 0 1 2 3 4 5 6 7 完"


def test_readers_who_go_leave_nothing_behind(tmp_path: Path, redis: RedisProcess) -> None:
    gate = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with running(Reply.text("开头", gate, "完"), url=url, redis=redis) as (_, second, session, turn, here):
        until_text(here, "开头")
        join_and_go(second, session, turn)
        until(lambda: quiet(redis.url), 10)
        join_and_go(second, session, turn)
        gate.open()
        assert list(here)[-1]["answer"] == "开头完"


def join_and_go(server: Server, session: str, turn: str) -> None:
    with server.joining(session, turn) as events:
        until_text(events, "开头")


def quiet(url: str) -> bool:
    """Tell whether nobody reads streams for a while."""
    before = reads(url)
    time.sleep(0.5)
    return reads(url) == before
