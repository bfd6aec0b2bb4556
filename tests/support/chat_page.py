"""What the page does, over HTTP: conversations of ``/api/chat`` on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from qiusuo.chat.stores.opening import open_store
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_world import scripted
from tests.support.scripted_model import ScriptedModel, Step
from tests.support.web_server import WebServer


class Page:
    """What the page does, over HTTP."""

    def __init__(self, server: WebServer, model: ScriptedModel) -> None:
        self.server = server
        self.model = model
        self.client = server.client

    def new(self, **settings: Any) -> str:
        answer = self.client.post("/api/chat/sessions", json={"settings": settings})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def show(self, session: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.get(f"/api/chat/sessions/{session}").json()
        return shown

    def change(self, session: str, **settings: Any) -> httpx.Response:
        return self.client.patch(f"/api/chat/sessions/{session}", json={"settings": settings})

    def ask(self, session: str, text: str, **more: Any) -> list[dict[str, Any]]:
        with self.asking(session, text, **more) as events:
            return list(events)

    @contextmanager
    def asking(self, session: str, text: str, **more: Any) -> Iterator[Iterator[dict[str, Any]]]:
        body = {"text": text, **more}
        with self.client.stream("POST", f"/api/chat/sessions/{session}/turns", json=body) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield events_of(answer)


def events_of(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    number = -1
    for line in answer.iter_lines():
        if line.startswith("id: "):
            number = int(line[4:])
        elif line.startswith("data: "):
            yield {**json.loads(line[6:]), "id_": number}


@contextmanager
def page(*script: Step, store: str = "sqlite://", **settings: Any) -> Iterator[Page]:
    with ScriptedModel(*script) as model:
        extension = chat_extension(scripted(model), open_store(store))
        with WebServer.over("searxng", extensions=[extension], hedge_delay=0, **settings) as server:
            yield Page(server, model)


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")
