"""A turn that runs on one server is heard, shown and stopped on another: through Redis, over one database."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from qiusuo.chat.stores.opening import open_store
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_world import scripted
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.scripted_model import Gate, Reply, ScriptedModel, Step
from tests.support.stores import url
from tests.support.web_server import WebServer

__all__ = ["redis", "url"]  # fixtures
pytestmark = with_redis

Events = list[dict[str, Any]]


class Server:
    """One of several servers over a database."""

    def __init__(self, web: WebServer) -> None:
        self.web = web
        self.client = web.client

    def new(self) -> str:
        made = self.client.post("/api/chat/sessions", json={"settings": {"search": False}})
        return str(made.json()["id"])

    def show(self, session: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.get(f"/api/chat/sessions/{session}").json()
        return shown

    @contextmanager
    def asking(self, session: str, text: str = "问题") -> Iterator[Iterator[dict[str, Any]]]:
        with self.client.stream("POST", f"/api/chat/sessions/{session}/turns", json={"text": text}) as answer:
            assert answer.status_code == 200, answer.read()
            yield events_of(answer)

    @contextmanager
    def joining(self, session: str, turn: str, after: int = -1) -> Iterator[Iterator[dict[str, Any]]]:
        headers = {"Last-Event-ID": str(after)} if after >= 0 else {}
        path = f"/api/chat/sessions/{session}/turns/{turn}/events"
        with self.client.stream("GET", path, headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            yield events_of(answer)

    def events(self, session: str, turn: str) -> httpx.Response:
        return self.client.get(f"/api/chat/sessions/{session}/turns/{turn}/events")

    def stop(self, session: str, turn: str) -> httpx.Response:
        return self.client.post(f"/api/chat/sessions/{session}/turns/{turn}/stop", json={})


@contextmanager
def servers(model: ScriptedModel, url: str, redis_url: str | None, **more: Any) -> Iterator[list[Server]]:
    """Serve twice over one database."""
    with ExitStack() as stack:
        made = []
        for _ in range(2):
            extension = chat_extension(scripted(model), open_store(url))
            settings = {"redis_url": redis_url, **more} if redis_url else more
            web = WebServer.over("searxng", extensions=[extension], hedge_delay=0, **settings)
            made.append(Server(stack.enter_context(web)))
        yield made


def events_of(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    number = -1
    for line in answer.iter_lines():
        if line.startswith("id: "):
            number = int(line[4:])
        elif line.startswith("data: "):
            yield {**json.loads(line[6:]), "id_": number}


def until_text(events: Iterator[dict[str, Any]], text: str) -> Events:
    """Return the events up to the one with which the text is whole."""
    heard: Events = []
    for event in events:
        heard.append(event)
        if text in text_of(heard):
            return heard
    pytest.fail(f"it ended without {text}: {heard}")


def text_of(events: Events) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


def until(look: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def running(*script: Step, url: str, redis: RedisProcess | None, **more: Any) -> Iterator[Any]:
    """Ask on the first of two servers; give both, the conversation, the turn and the first reader's events."""
    with (
        ScriptedModel(*script) as model,
        servers(model, url, redis.url if redis else None, **more) as (first, second),
    ):
        session = first.new()
        with first.asking(session) as events:
            turn = next(events)["id"]
            yield first, second, session, turn, events


def test_who_joins_on_the_other_server_hears_the_rest_at_once(url: str, redis: RedisProcess) -> None:
    gate, end = Gate(), Gate()
    script = Reply.text("一", "二", gate, "三", end, "四")
    with running(script, url=url, redis=redis) as (_, second, session, turn, here):
        seen = until_text(here, "一二")
        gate.open()
        begun = time.monotonic()
        with second.joining(session, turn, after=seen[-1]["id_"]) as there:
            rest = until_text(there, "三")
            assert time.monotonic() - begun < 2
            assert text_of(rest) == "三", "what was seen is not told again"
            assert rest[0]["id_"] > seen[-1]["id_"]
            [shown] = second.show(session)["turns"]
            assert (shown["answer"], shown["state"]) == ("一二三", "running")
            end.open()
            rest += list(there)
        assert rest[-1]["answer"] == "一二三四"
        told_here = [*seen, *here]
        assert rest[-1] == told_here[-1], "the same event with the same number"


def test_all_of_it_is_told_the_same_and_in_the_reader_s_language(tmp_path: Path, redis: RedisProcess) -> None:
    gate = Gate()
    script = Reply.text("见 [1]", gate, "。")
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with ScriptedModel(script) as model, servers(model, url, redis.url) as (first, second):
        session = first.client.post("/api/chat/sessions", json={"settings": {"search": True}}).json()["id"]
        with first.asking(session, "今天的新闻") as here:
            turn = next(here)["id"]
            until_text(here, "见")
            with second.joining(session, turn) as there, first.joining(session, turn) as beside:
                gate.open()
                everything = [joined(list(each)) for each in (there, beside)]
        assert everything[0] == everything[1]
        assert {"turn", "round", "sources", "delta", "usage", "done"} <= {event["type"] for event in everything[0]}


def joined(events: Events) -> Events:
    """Pieces of text come together in other ways on each server."""
    found: Events = []
    for event in events:
        if found and event["type"] == found[-1]["type"] == "delta":
            before = found.pop()
            found.append({**event, "text": before["text"] + event["text"]})
        else:
            found.append(event)
    return found


class TestStop:
    def test_it_is_stopped_from_the_other_server(self, url: str, redis: RedisProcess) -> None:
        gate = Gate()
        with running(Reply.text("开头", gate, "结尾"), url=url, redis=redis) as (_, second, session, turn, here):
            until_text(here, "开头")
            begun = time.monotonic()
            assert second.stop(session, turn).status_code == 204
            assert time.monotonic() - begun < 5
            assert list(here)[-1]["state"] == "stopped"
            assert second.show(session)["turns"][0]["answer"] == "开头"
            gone = second.stop(session, turn)
            assert (gone.status_code, gone.json()["code"]) == (404, "session.turn_not_running")

    def test_one_that_is_not_heard_is_not_taken_for_done(
        self, tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("qiusuo.chat.live.elsewhere.STOP_SECONDS", 0.3)
        gate = Gate()
        url = f"sqlite:///{tmp_path / 'chat.db'}"
        with running(Reply.text("开头", gate, "结尾"), url=url, redis=redis) as (_, second, session, turn, here):
            until_text(here, "开头")
            redis.stop()
            refused = second.stop(session, turn)
            assert (refused.status_code, refused.json()["code"]) == (409, "session.stop_not_confirmed")
            gate.open()
            assert list(here)[-1]["answer"] == "开头结尾"

    def test_a_conversation_that_is_deleted_elsewhere_stops(self, tmp_path: Path, redis: RedisProcess) -> None:
        gate = Gate()
        url = f"sqlite:///{tmp_path / 'chat.db'}"
        with running(Reply.text("开头", gate), url=url, redis=redis) as (_, second, session, _turn, here):
            until_text(here, "开头")
            begun = time.monotonic()
            assert second.client.delete(f"/api/chat/sessions/{session}").status_code == 204
            assert list(here)[-1]["state"] == "stopped"
            assert time.monotonic() - begun < 1.5, "sooner than the database tells"


def test_a_second_question_waits_for_the_one_that_runs_elsewhere(tmp_path: Path, redis: RedisProcess) -> None:
    gate = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with running(Reply.text("开头", gate), url=url, redis=redis) as (_, second, session, _turn, here):
        until_text(here, "开头")
        busy = second.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "又一个"})
        assert (busy.status_code, busy.json()["code"]) == (409, "session.busy")
        gate.open()
        assert list(here)[-1]["answer"] == "开头"


def test_who_listens_here_does_not_keep_this_server_from_stopping(tmp_path: Path, redis: RedisProcess) -> None:
    gate = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with running(Reply.text("开头", gate), url=url, redis=redis) as (_, second, session, turn, here):
        until_text(here, "开头")
        with second.joining(session, turn) as there:
            until_text(there, "开头")
            second.web.app.stop_streams()
            assert list(there) == [], "the reader goes on elsewhere"
        gate.open()
        assert list(here)[-1]["answer"] == "开头"


def test_strangers_hear_and_stop_nothing(tmp_path: Path, redis: RedisProcess) -> None:
    gate = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    tokens = {"tokens": "anna:annas-long-token,berta:bertas-long-token"}
    with ScriptedModel(Reply.text("开头", gate, "结尾")) as model, servers(model, url, redis.url, **tokens) as both:
        first, second = both
        for server in both:
            server.client.headers["Authorization"] = "Bearer annas-long-token"
        session = first.new()
        with first.asking(session) as here:
            turn = next(here)["id"]
            until_text(here, "开头")
            own = {"Authorization": "Bearer annas-long-token"}
            second.client.headers["Authorization"] = "Bearer bertas-long-token"
            assert second.events(session, turn).status_code == 404
            assert second.stop(session, turn).status_code == 404
            # Nor through a conversation of one's own.
            assert second.events(second.new(), turn).status_code == 404
            second.client.headers.update(own)
            with second.joining(session, turn) as there:
                gate.open()
                assert list(there)[-1]["answer"] == "开头结尾"


def test_what_lies_in_redis_is_bounded_and_goes_away(
    tmp_path: Path, redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qiusuo.chat.live.stream.MAX_BYTES", 4000)
    monkeypatch.setattr("qiusuo.chat.live.stream.ENTRY_BYTES", 500)
    gate, end = Gate(), Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    pieces = [f"{number:04} " * 20 for number in range(100)]
    client: Any = Redis.from_url(redis.url)
    with running(Reply.text(*pieces, gate, "再说。", end), url=url, redis=redis) as (_, second, session, turn, here):
        seen = until_text(here, "0099 0099")
        stream = f"qiusuo:{{{turn}}}:events"
        until(lambda: client.xlen(stream) > 0 and b"0099" in client.xrevrange(stream, count=1)[0][1][b"e"])
        lying = [fields[b"e"] for _, fields in client.xrange(stream)]
        assert sum(map(len, lying)) <= 4000
        assert 0 < client.ttl(stream) <= 600
        # Who needs the beginning is told so; who has seen it hears the rest.
        refused = second.events(session, turn)
        assert (refused.status_code, refused.json()["code"]) == (409, "session.runs_elsewhere")
        with second.joining(session, turn, after=seen[-1]["id_"]) as there:
            gate.open()
            assert text_of(until_text(there, "再说")).strip() == "再说。"
        end.open()
        list(here)
        until(lambda: 0 < client.ttl(stream) <= 60)
        assert {key for key in client.keys("qiusuo:{*") if client.ttl(key) < 0} == set()
    client.close()


class TestRedisAway:
    @pytest.fixture(autouse=True)
    def _soon_tried_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("qiusuo.storage.redis.RETRY_AFTER_FAILURE", 0.2)

    def test_a_lost_one_costs_the_others_a_while_and_the_answer_nothing(
        self, tmp_path: Path, redis: RedisProcess
    ) -> None:
        gates = [Gate(), Gate(), Gate()]
        script = Reply.text("一", gates[0], "二", gates[1], "三", gates[2], "四")
        url = f"sqlite:///{tmp_path / 'chat.db'}"
        with running(script, url=url, redis=redis) as (_, second, session, turn, here):
            heard = until_text(here, "一")
            with second.joining(session, turn) as there:
                until_text(there, "一")
                redis.stop()
                gates[0].open()
                heard += until_text(here, "二")
                assert list(there) == [], "it ends, and the reader looks elsewhere"
            refused = second.events(session, turn)
            assert (refused.status_code, refused.json()["code"]) == (409, "session.runs_elsewhere")
            redis.start()
            gates[1].open()
            heard += until_text(here, "三")
            until(lambda: second.show(session)["turns"][0]["answer"] == "一二三")
            with second.joining(session, turn) as there:
                assert text_of(until_text(there, "一二三")) == "一二三", "all of it was written anew"
                gates[2].open()
                assert list(there)[-1]["answer"] == "一二三四"
            assert text_of([*heard, *here]) == "一二三四"

    def test_a_frozen_one_delays_no_reader_here(self, tmp_path: Path, redis: RedisProcess) -> None:
        gates = [Gate() for _ in range(12)]
        pieces = [part for number, gate in enumerate(gates) for part in (gate, f"{number} ")]
        url = f"sqlite:///{tmp_path / 'chat.db'}"
        with running(Reply.text("开头 ", *pieces), url=url, redis=redis) as (_, second, session, _turn, here):
            until_text(here, "开头")
            redis.freeze()
            waits = []
            for number, gate in enumerate(gates):
                begun = time.monotonic()
                gate.open()
                until_text(here, str(number))
                waits.append(time.monotonic() - begun)
                time.sleep(0.05)
            assert max(waits) < 0.45, "less than anything waits for Redis"
            redis.thaw()
            assert list(here)[-1]["state"] == "done"
            assert second.show(session)["turns"][0]["state"] == "done"


def test_without_redis_it_is_told_that_another_server_answers(tmp_path: Path) -> None:
    gate = Gate()
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with running(Reply.text("开头", gate, "结尾"), url=url, redis=None) as (first, second, session, turn, here):
        until_text(here, "开头")
        heard = second.events(session, turn)
        assert (heard.status_code, heard.json()["code"]) == (409, "session.runs_elsewhere")
        stopped = second.stop(session, turn)
        assert (stopped.status_code, stopped.json()["code"]) == (409, "session.stop_not_reached")
        assert second.show(session)["running"] == turn
        with first.joining(session, turn) as beside:
            gate.open()
            assert list(beside)[-1]["answer"] == "开头结尾"
        assert second.show(session)["turns"][0]["answer"] == "开头结尾"
        assert second.events(session, turn).status_code == 404
