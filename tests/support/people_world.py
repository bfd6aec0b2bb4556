"""A server with people: tokens of the settings beside those of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from qiusuo.chat.stores.opening import open_store
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.mcp.routes import mcp_extension
from qiusuo.web.openai.routes import openai_extension
from qiusuo.web.people import people_extension
from qiusuo.web.watching.usage import usage_extension
from tests.support.chat_world import scripted
from tests.support.scripted_model import Reply, ScriptedModel, Step
from tests.support.web_server import WebServer

AMY, EVE = "amy-0123456789abcdef", "eve-0123456789abcdef"
TOKENS = f"amy:{AMY},eve:{EVE}:operator"
PLANTED = "planted-secret-0123456789"


class PeopleServer:
    """A server and those who call it."""

    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.world = server.world
        self.amy = AMY

    def call(self, method: str, path: str, token: str | None, body: Any = None, **params: Any) -> httpx.Response:
        headers = {"Accept": "application/json, text/event-stream"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        json = {} if body is None else {"json": body}
        return self.server.client.request(method, path, params=params, headers=headers, **json)

    def get(self, path: str, token: str | None = EVE, **params: Any) -> httpx.Response:
        return self.call("GET", path, token, **params)

    def post(self, path: str, token: str | None, **body: Any) -> httpx.Response:
        return self.call("POST", path, token, body)

    def search(self, query: str, token: str | None, **more: Any) -> httpx.Response:
        return self.post("/api/search", token, query=query, **more)


@contextmanager
def people_server(file: Path, *script: Step, **settings: Any) -> Iterator[PeopleServer]:
    """Serve over a database in a file; the model answers what the script says, else the same again and again."""
    clocks = {name: settings.pop(name) for name in ("clock", "timer") if name in settings}
    usual: dict[str, Any] = {"tokens": TOKENS, "hedge_delay": 0, **settings}
    with ScriptedModel(*(script or [Reply.text("Tea is hot.") for _ in range(50)])) as model:
        chat = chat_extension(scripted(model), open_store(f"sqlite:///{file}"))
        extensions = [mcp_extension, chat, openai_extension, usage_extension(), people_extension(**clocks)]
        with WebServer.over("brave", "searxng", extensions=extensions, **usual) as server:
            yield PeopleServer(server)
