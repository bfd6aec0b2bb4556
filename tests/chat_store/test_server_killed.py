"""A server that is killed, and a database that goes away: what was answered stays, the conversation goes on at once."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.scripted_model import Delay, Gate, Reply, ScriptedModel
from tests.support.server_process import ServerProcess, database, server_process

__all__ = ["database", "redis"]  # fixtures
pytestmark = pytest.mark.xdist_group("postgres")

PIECE_SECONDS = 0.1


def numbers(count: int) -> Iterator[Any]:
    for number in range(count):
        yield f"{number:03} "
        yield Delay(PIECE_SECONDS)


def codes(events: list[dict[str, Any]]) -> list[str]:
    return [event["code"] for event in events if event["type"] == "notice"]


def heard_for(events: Iterator[dict[str, Any]], seconds: float) -> str:
    """Return the text that comes within so many seconds of a stream."""
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        event = next(events)
        text += event.get("text", "")
    return text


def test_killed_in_the_middle_of_an_answer(database: str) -> None:
    with ScriptedModel(Reply.text(*numbers(300)), otherwise=Reply.text("好。")) as model:
        with server_process(model, database) as first:
            session = first.new()
            with first.asking(session, "数到三百") as events:
                heard = heard_for(events, 5)
                first.process.send_signal(signal.SIGKILL)
                first.process.wait()
        with server_process(model, database) as again:
            shown = again.show(session)
            assert shown["running"] is None, "the process that answered is gone"
            [turn] = shown["turns"]
            assert (turn["state"], turn["finish"]) == ("failed", "server_restart")
            assert [notice["code"] for notice in turn["notices"]] == ["server_restart"]
            # What is kept may be a piece ahead of what the reader has got.
            assert heard.startswith(turn["answer"]) or turn["answer"].startswith(heard)
            lost = len(heard[len(turn["answer"]) :].split()) * PIECE_SECONDS
            assert lost < 3, f"{lost:.1f} s of text are lost"
            asked = time.monotonic()
            assert again.ask(session, "继续")[-1]["answer"] == "好。"
            assert time.monotonic() - asked < 5
            assert turn["answer"].strip() in model.requests[-1].prompt, "the model knows what it has said"
            assert [turn["state"] for turn in again.show(session)["turns"]] == ["failed", "done"]


@with_redis[0]
def test_readers_on_another_server_are_told_and_keep_all_they_heard(database: str, redis: RedisProcess) -> None:
    gate = Gate()
    script = (Reply.text("一", "二", "三", gate), Reply.text("再答。"))
    with (
        ScriptedModel(*script) as model,
        server_process(model, database, QIUSUO_REDIS_URL=redis.url) as first,
        server_process(model, database, QIUSUO_REDIS_URL=redis.url) as second,
    ):
        session = first.new()
        with first.asking(session, "问题") as events:
            turn = next(events)["id"]
            path = f"/api/chat/sessions/{session}/turns/{turn}/events"
            with second.client.stream("GET", path) as answer:
                there = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
                heard = ""
                while heard != "一二三":
                    heard += next(there).get("text", "")
                first.process.send_signal(signal.SIGKILL)
                killed = time.monotonic()
                rest = list(there)
        assert time.monotonic() - killed < 15
        assert codes(rest) == ["server_restart"]
        done = rest[-1]
        assert (done["type"], done["state"], done["answer"]) == ("done", "failed", "一二三")
        shown = second.show(session)
        assert shown["running"] is None
        [kept] = shown["turns"]
        assert (kept["answer"], kept["finish"]) == ("一二三", "server_restart"), "more than the database had"
        assert second.ask(session, "问题", replaces=turn)[-1]["answer"] == "再答。"


def test_who_starts_beside_a_living_server_leaves_its_turns_alone(database: str) -> None:
    gate = Gate()
    with (
        ScriptedModel(Reply.text("开头", gate, "结尾"), otherwise=Reply.text("好。")) as model,
        server_process(model, database) as first,
    ):
        session = first.new()
        with first.asking(session, "问题") as events:
            next(event for event in events if event["type"] == "delta")
            for _ in range(2):
                with server_process(model, database) as second:
                    assert second.show(session)["running"]
                    refused = second.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "又一个"})
                    assert refused.status_code == 409
                    second.process.send_signal(signal.SIGTERM)
                    second.process.wait(20)
            gate.open()
            assert list(events)[-1]["answer"] == "开头结尾"
        assert [turn["state"] for turn in first.show(session)["turns"]] == ["done"]


@pytest.fixture
def own_postgres() -> Iterator[PostgresProcess]:
    """One that may be stopped while other tests use theirs."""
    process = PostgresProcess()
    yield process
    process.remove()


def until_saved(server: ServerProcess, session: str) -> dict[str, Any]:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        answer = server.client.get(f"/api/chat/sessions/{session}")
        if answer.status_code == httpx.codes.OK and answer.json()["running"] is None:
            shown: dict[str, Any] = answer.json()
            return shown
        time.sleep(0.1)
    pytest.fail("the turn was never saved")


class TestPostgresStopped:
    pytestmark = with_postgres

    def test_at_the_end_of_a_turn(self, own_postgres: PostgresProcess) -> None:
        gate = Gate()
        url = own_postgres.url(own_postgres.create())
        replies = (Reply.text("甲"), Reply.text("开头", gate, "结尾"), Reply.text("好。"))
        with ScriptedModel(*replies) as model, server_process(model, url) as server:
            session = server.new()
            server.ask(session, "甲")
            with server.asking(session, "问题") as events:
                next(event for event in events if event["type"] == "delta")
                own_postgres.stop()
                stopped = time.monotonic()
                gate.open()
                rest = list(events)
            assert time.monotonic() - stopped < 6, "told at once"
            assert (codes(rest), rest[-1]["answer"]) == (["not_saved"], "开头结尾")
            refused = server.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "太早"})
            assert refused.status_code == 503
            assert str(own_postgres.port) not in refused.text, "where the database is, is nobody's business"
            own_postgres.start()
            # The next question must not be asked over a turn that is not saved yet.
            assert server.ask(session, "继续")[-1]["answer"] == "好。"
            assert "开头结尾" in model.requests[-1].prompt
            shown = server.show(session)
            assert [(turn["state"], turn["answer"]) for turn in shown["turns"]] == [
                ("done", "甲"),
                ("done", "开头结尾"),
                ("done", "好。"),
            ]
            assert all(turn["notices"] == [] for turn in shown["turns"])

    def test_and_nobody_asks_again(self, own_postgres: PostgresProcess) -> None:
        gate = Gate()
        url = own_postgres.url(own_postgres.create())
        with ScriptedModel(Reply.text("开头", gate, "结尾")) as model:
            with server_process(model, url) as server:
                session = server.new()
                with server.asking(session, "问题") as events:
                    next(event for event in events if event["type"] == "delta")
                    own_postgres.stop()
                    gate.open()
                    assert codes(list(events)) == ["not_saved"]
                # Told to stop while it is still away: it comes back just in time.
                server.process.send_signal(signal.SIGTERM)
                own_postgres.start()
                server.process.wait(20)
            with server_process(model, url) as again:
                [turn] = until_saved(again, session)["turns"]
                assert (turn["state"], turn["answer"]) == ("done", "开头结尾")
