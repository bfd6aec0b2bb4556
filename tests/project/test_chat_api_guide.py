"""The guide to the chat API: its commands and its program run as they stand there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from qiusuo.chat.chat import MAX_QUESTION
from qiusuo.chat.live.places import MAX_LIVE, MAX_OF_ONE
from qiusuo.chat.stores.opening import open_store
from qiusuo.web.app import create_app
from qiusuo.web.chat.routes import chat_extension
from tests.support.documents import blocks, text_of
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


@pytest.mark.parametrize("page", PAGES)
def test_the_program_runs(page: str, server: WebServer, capsys: pytest.CaptureFixture[str]) -> None:
    ((_, program),) = blocks(page, "python")
    assert SHOWN in program
    exec(program.replace(SHOWN, server.url), {"__name__": "example"})  # noqa: S102 - our own page
    assert "[[1]](https://site1.example.com/page/1)" in capsys.readouterr().out


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


@pytest.mark.parametrize("page", PAGES)
def test_every_event_is_told_with_true_fields(page: str, server: WebServer) -> None:
    schemas = server.client.get("/openapi.json").json()["components"]["schemas"]
    kinds = schemas["TurnEvent"]["discriminator"]["mapping"]
    rows = re.findall(r"^\| `([a-z]+)` \| (.*?) \| .* \|$", text_of(page), re.MULTILINE)
    assert {name for name, _ in rows} == set(kinds)
    for name, told in rows:
        properties = schemas[kinds[name].rpartition("/")[2]]["properties"]
        named = re.findall(r"`(\w+)`", re.sub(r"[（(].*?[)）]|(?<=`)[:：].*", "", told))
        assert set(named) <= set(properties), name


@pytest.mark.parametrize("page", PAGES)
def test_the_limits_are_true(page: str) -> None:
    text = text_of(page)
    assert all(f"{number:,}" in text for number in (MAX_QUESTION, MAX_LIVE, MAX_OF_ONE))


def test_what_is_refused_for_its_shape_has_that_in_the_document(server: WebServer) -> None:
    """The words of the refusal send the reader to the document."""
    app = create_app(server.world.service)
    paths = app.openapi()["paths"]
    writing = {
        (method.lower(), route.path)
        for route in app.routes
        for method in getattr(route, "methods", None) or ()
        if method in {"POST", "PUT", "PATCH"} and getattr(route, "path", "/") != "/"
    }
    assert writing
    assert [each for each in writing if each[0] not in paths.get(each[1], {})] == []
