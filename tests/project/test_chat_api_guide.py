"""The guide to the chat API: its commands and its program run as they stand there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from qiusuo.chat.chat import MAX_QUESTION
from qiusuo.chat.live.places import MAX_LIVE, MAX_OF_ONE
from qiusuo.chat.stores.opening import open_store
from qiusuo.web.app import create_app
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_page import page
from tests.support.documents import blocks, text_of
from tests.support.scripted_model import Gate, Reply
from tests.support.web_server import WebServer

PAGES = ("docs/chat-api.md", "docs/chat-api.zh-CN.md")
SHOWN = "http://127.0.0.1:8000"
COMMENT = re.compile(r" *# .*$", re.MULTILINE)


@pytest.fixture
def server() -> Iterator[WebServer]:
    # No model: the guide needs none.
    extension = chat_extension(store=open_store("sqlite://"))
    with WebServer.over("searxng", extensions=[extension], hedge_delay=0) as server:
        yield server


def test_both_languages_have_the_same_examples() -> None:
    for kind in ("bash", "text", "python"):
        english, chinese = ([COMMENT.sub("", text) for _, text in blocks(page, kind)] for page in PAGES)
        assert english
        assert english == chinese


@pytest.mark.parametrize("guide", PAGES)
def test_the_program_runs(guide: str, server: WebServer, capsys: pytest.CaptureFixture[str]) -> None:
    ((_, program),) = blocks(guide, "python")
    assert SHOWN in program
    exec(program.replace(SHOWN, server.url), {"__name__": "example"})  # noqa: S102 - our own page
    assert "[[1]](https://site1.example.com/page/1)" in capsys.readouterr().out


class Breaking(httpx.HTTPTransport):
    """Loses the connection of a question once the answer has begun; what it waits for goes on when it is joined."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self.gate = gate

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if request.method == "GET":
            self.gate.open()
            return answer
        return httpx.Response(answer.status_code, headers=answer.headers, stream=_Broken(answer))


class _Broken(httpx.SyncByteStream):
    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.answer.iter_raw():
            yield piece
            if b"event: delta" in piece:
                raise httpx.ReadError("the connection is lost")

    def close(self) -> None:
        self.answer.close()


def test_the_program_joins_again_and_misses_nothing() -> None:
    ((_, program),) = blocks(PAGES[0], "python")
    functions: dict[str, Any] = {}
    exec(program.partition("\nwith httpx")[0], functions)  # noqa: S102 - our own page
    gate = Gate()
    with (
        page(Reply.text("One", gate, " and two.")) as it,
        httpx.Client(base_url=it.server.url, transport=Breaking(gate), timeout=20) as client,
    ):
        events = list(functions["ask"](client, it.new(), "Which?"))
    assert "".join(event["text"] for event in events if event["type"] == "delta") == "One and two."
    assert [event["type"] for event in events].count("turn") == 1
    assert events[-1]["answer"] == "One and two."


@pytest.mark.programs
def test_the_commands_run(server: WebServer, tmp_path: Path) -> None:
    script = "\n".join(["set -eu", *(text for _, text in blocks(PAGES[0], "bash"))]).replace(SHOWN, server.url)
    run = ["bash", "-c", script]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own page
    assert done.returncode == 0, done.stderr
    stream, shown = (tmp_path / "turn.txt").read_text("utf-8"), done.stdout
    assert stream.startswith("id: 0\nevent: turn\n")
    assert "event: done\n" in stream
    assert "What is new in Python 3.14?\n" in shown
    # It has ended by then.
    assert shown.count('"code":"session.turn_not_running"') == 2
    assert '"title":"Python"' in shown
    assert "# Python\n" in shown
    assert server.client.get("/api/chat/sessions").json()["total"] == 0


@pytest.mark.parametrize("guide", PAGES)
def test_every_event_is_told_with_true_fields(guide: str, server: WebServer) -> None:
    schemas = server.client.get("/openapi.json").json()["components"]["schemas"]
    kinds = schemas["TurnEvent"]["discriminator"]["mapping"]
    rows = re.findall(r"^\| `([a-z]+)` \| (.*?) \| .* \|$", text_of(guide), re.MULTILINE)
    assert {name for name, _ in rows} == set(kinds)
    for name, told in rows:
        properties = schemas[kinds[name].rpartition("/")[2]]["properties"]
        named = re.findall(r"`(\w+)`", re.sub(r"[（(].*?[)）]|(?<=`)[:：].*", "", told))
        assert set(named) <= set(properties), name


@pytest.mark.parametrize("guide", PAGES)
def test_the_limits_are_true(guide: str) -> None:
    text = text_of(guide)
    assert all(f"{number:,}" in text for number in (MAX_QUESTION, MAX_LIVE, MAX_OF_ONE))


def test_what_is_refused_for_its_shape_has_that_in_the_document(server: WebServer) -> None:
    """The words of the refusal send the reader to the document."""
    app = create_app(server.world.service)
    paths = app.openapi()["paths"]
    writing = {
        (method.lower(), route.path)
        for route in app.routes
        if isinstance(route, Route) and route.path != "/"
        for method in (route.methods or set()) & {"POST", "PUT", "PATCH"}
    }
    assert writing
    assert [each for each in writing if each[0] not in paths.get(each[1], {})] == []
