"""Two server processes over one database count together, and what they counted outlives them."""

from __future__ import annotations

import signal
from functools import partial
from typing import Any

import pytest

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.server_process import ServerProcess, database, server_process

__all__ = ["database"]

pytestmark = pytest.mark.programs


def search(server: ServerProcess, *queries: str) -> None:
    for query in queries:
        assert server.client.post("/api/search", json={"query": query}).status_code == 200


def total(server: ServerProcess, path: str = "/api/board") -> dict[str, Any]:
    answer = server.client.get(path)
    assert answer.status_code == 200, answer.text
    figures: dict[str, Any] = answer.json()["total"]
    return figures


def stop(server: ServerProcess) -> None:
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(20)


def test_two_servers_and_a_restart(database: str) -> None:
    gate = Gate()
    script = (Reply.text("甲。"), Reply.text("乙。"), Reply.text("开头", gate, "结尾"), Reply.text("丁。"))
    with ScriptedModel(*script) as model, ProviderServer(Searxng()) as upstream:
        start = partial(server_process, model, database, SEARXNG_URL=upstream.url, SEARCH_RATE_LIMIT="0")
        with start() as first, start() as other:
            search(first, "a", "b", "a", "a")  # two from the cache
            search(other, "a", "c")  # the other process has a cache of its own
            first.ask(first.new(), "甲是什么意思")
            other.ask(other.new(), "乙是什么意思")
            total(first)  # writes what the first has counted
            told = total(other)
            assert (told["searches"], told["cached"], told["failed"]) == (6, 2, 0)
            assert (told["answers"], told["tokensIn"], told["tokensOut"]) == (2, 22, 14)
            # What is counted after that is written when a server is told to stop; a turn that it breaks off counts too.
            search(first, "d", "d")
            with first.asking(first.new(), "丙是什么意思") as events:
                next(event for event in events if event["type"] == "delta")
                stop(first)
            # Of a server that is killed, what somebody has read is written.
            search(other, "e")
            assert total(other)["searches"] == 9
            other.process.kill()
        with start() as again:
            search(again, "f")
            again.ask(again.new(), "丁是什么意思")
            told = total(again)
            assert (told["searches"], told["cached"]) == (10, 3)
            assert (told["answers"], told["answersFailed"]) == (4, 0)
            assert (told["tokensIn"], told["tokensOut"]) == (33, 21)
            assert told == {**total(again, "/api/usage"), "cost": []}
        asked = sum("q" in seen.params for seen in upstream.seen)
        assert asked == told["searches"] - told["cached"]
