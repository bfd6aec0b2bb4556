"""Two server processes over one database serve the same conversation; what one leaves half done the other shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.postgres_process import PostgresProcess
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.server_process import server_process

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'chat.db'}"
    postgres: PostgresProcess = request.getfixturevalue("postgres")
    return postgres.url(postgres.create())


@contextmanager
def server(database: str, model: ScriptedModel, upstream: ProviderServer) -> Iterator[httpx.Client]:
    with server_process(model, database, SEARXNG_URL=upstream.url) as started:
        yield started.client


def ask(client: httpx.Client, session: str, text: str) -> dict[str, Any]:
    answer = client.post(f"/api/chat/sessions/{session}/turns", json={"text": text})
    assert answer.status_code == 200, answer.text
    last = [line for line in answer.text.splitlines() if line.startswith("data: ")][-1]
    done: dict[str, Any] = json.loads(last[6:])
    return done


def test_one_conversation_on_two_servers(database: str) -> None:
    gate = Gate()
    script = (Reply.text("甲答 [1]。"), Reply.text("乙答。"), Reply.text("开头", gate, "结尾"))
    with (
        ScriptedModel(*script) as model,
        ProviderServer(Searxng()) as upstream,
        server(database, model, upstream) as first,
        server(database, model, upstream) as second,
    ):
        session = first.post("/api/chat/sessions", json={"settings": {"search": True}}).json()["id"]
        assert ask(first, session, "甲")["cited"] == [1]
        # The other server has the switch, the history and the model's memory.
        assert second.get(f"/api/chat/sessions/{session}").json()["settings"]["switch"] == "on"
        second.patch(f"/api/chat/sessions/{session}", json={"settings": {"search": False}})
        assert ask(second, session, "乙")["answer"] == "乙答。"
        assert "甲答" in model.requests[-1].prompt
        assert [seen.params["q"] for seen in upstream.seen if seen.params.get("q") in {"甲", "乙"}] == ["甲"]
        shown = first.get(f"/api/chat/sessions/{session}").json()
        assert [turn["question"] for turn in shown["turns"]] == ["甲", "乙"]
        # One turn at a time, wherever it runs.
        with first.stream("POST", f"/api/chat/sessions/{session}/turns", json={"text": "丙"}) as answer:
            lines = answer.iter_lines()
            next(line for line in lines if "开头" in line)
            busy = second.post(f"/api/chat/sessions/{session}/turns", json={"text": "丁"})
            assert busy.status_code == 409
            assert second.get(f"/api/chat/sessions/{session}").json()["running"]
            gate.open()
            assert any("结尾" in line for line in list(lines))
        assert second.get(f"/api/chat/sessions/{session}").json()["turns"][-1]["answer"] == "开头结尾"
