"""``/metrics`` about answers: how they ended, how long they took, what went wrong with the model."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.openai.routes import openai_extension
from tests.support.chat_world import scripted
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.web_server import WebServer
from tests.web.test_metrics import numbers


@contextmanager
def answering(reply: Reply) -> Iterator[tuple[WebServer, ScriptedModel]]:
    with ScriptedModel(otherwise=reply) as model:
        extensions = [chat_extension(scripted(model), open_store("sqlite://")), openai_extension]
        with WebServer.over("tavily", extensions=extensions, hedge_delay=0) as server:
            yield server, model


def ask(server: WebServer) -> None:
    session = server.client.post("/api/chat/sessions", json={}).json()["id"]
    server.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "hello"}).read()


def test_how_they_ended_and_how_long_they_took() -> None:
    with answering(Reply.text("words")) as (server, model):
        ask(server)
        asked = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "hello"}]}
        assert server.client.post("/v1/chat/completions", json=asked).status_code == 200
        model.otherwise = Reply.error(401)
        ask(server)
        found = numbers(server)
    assert {name: value for name, value in found.items() if name.startswith("qiusuo_answers_total")} == {
        "qiusuo_answers_total{outcome=done}": 2,
        "qiusuo_answers_total{outcome=failed}": 1,
    }
    assert found["qiusuo_answer_seconds_count{}"] == 3
    assert found["qiusuo_answer_first_word_seconds_count{}"] == 2
    assert found["qiusuo_model_failures_total{code=model_auth}"] == 1
    assert found["qiusuo_answers_in_flight{}"] == 0


def test_those_under_way_are_seen() -> None:
    gate = Gate()
    with answering(Reply.text("words", gate, "more")) as (server, _):
        thread = threading.Thread(target=ask, args=(server,))
        thread.start()
        deadline = time.monotonic() + 5
        while numbers(server)["qiusuo_answers_in_flight{}"] != 1:
            assert time.monotonic() < deadline
        assert numbers(server)["qiusuo_answer_seconds_count{}"] == 0
        gate.open()
        thread.join()
        assert numbers(server)["qiusuo_answers_in_flight{}"] == 0


@pytest.mark.parametrize(("reply", "outcome"), [(Reply.text("words"), "done"), (Reply.error(401), "failed")])
def test_answers_beside_tavilys_results_count_too(reply: Reply, outcome: str) -> None:
    with answering(reply) as (server, _):
        body = {"query": "tea", "include_answer": True}
        assert server.client.post("/tavily/search", json=body).status_code == 200
        found = numbers(server)
    assert found[f"qiusuo_answers_total{{outcome={outcome}}}"] == 1
    assert found["qiusuo_answers_in_flight{}"] == 0
    assert found.get("qiusuo_model_failures_total{code=model_auth}", 0) == (outcome == "failed")
