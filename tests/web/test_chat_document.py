"""The conversations' part of the OpenAPI document: all of it, and true for what a real server answers.

By hand and not with random requests: nearly all of these need a conversation, a turn, a file or a link that is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema_rs
import pytest
from starlette.routing import Route

from tests.support.chat_page import Page, page
from tests.support.scripted_model import Gate, Reply

SESSION = "/api/chat/sessions/{session}"
QUESTION = "What is new with agents?"


class Described:
    """The document of a server, and what a request must be answered with by it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def check(self, data: Any, schema: dict[str, Any]) -> None:
        whole = {**schema, "components": self.document["components"]}
        jsonschema_rs.Draft202012Validator(whole).validate(data)

    def keeps_to_it(self, answer: httpx.Response, path: str, refused: int | None = None) -> Any:
        """Check an answer, and give what is in it."""
        assert answer.status_code == refused if refused else answer.is_success, answer.text
        told = self.document["paths"][path][answer.request.method.lower()]["responses"][str(answer.status_code)]
        if "content" not in told:
            assert not answer.content
            return None
        kind = answer.headers["content-type"].partition(";")[0]
        schema = told["content"][kind]["schema"]
        if kind != "application/json":
            return answer.text
        self.check(answer.json(), schema)
        return answer.json()


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate()


@pytest.fixture(scope="module")
def played(gate: Gate) -> Iterator[Page]:
    with page(Reply.text("Agents are new [1]."), Reply.text("Begun", gate, " and ended.")) as it:
        yield it


@pytest.fixture(scope="module")
def described(played: Page) -> Described:
    return Described(played.client.get("/openapi.json").json())


def test_every_endpoint_is_there(played: Page, described: Described) -> None:
    routes = {
        (method, route.path)
        for route in played.server.app.routes
        if isinstance(route, Route) and route.path.startswith("/api/chat")
        for method in (route.methods or set()) - {"HEAD"}
    }
    # The same endpoint to a reader: its kind is one of three.
    routes.discard(("GET", f"{SESSION}/turns/{{turn}}/report.json"))
    told = {
        (method.upper(), path)
        for path, methods in described.document["paths"].items()
        for method in methods
        if path.startswith("/api/chat")
    }
    assert told == routes


def test_a_conversation_keeps_to_it(played: Page, described: Described, gate: Gate) -> None:
    client, right = played.client, described.keeps_to_it
    right(client.get("/api/chat/config"), "/api/chat/config")
    begun = right(client.post("/api/chat/sessions", json={"settings": {"search": True}}), "/api/chat/sessions")
    path = f"/api/chat/sessions/{begun['id']}"
    event = {"$ref": "#/components/schemas/TurnEvent"}
    events = played.ask(begun["id"], QUESTION)
    for each in events:
        described.check(each, event)
    assert {"turn", "status", "round", "sources", "delta", "usage", "done"} <= {each["type"] for each in events}
    turn = f"{path}/turns/{events[0]['id']}"
    thought = client.post(f"{turn}/feedback", json={"verdict": "good"})
    right(thought, f"{SESSION}/turns/{{turn}}/feedback")
    right(client.patch(path, json={"settings": {"search": False}}), SESSION)
    with played.asking(begun["id"], "And then?") as running:
        second = next(running)["id"]
        next(each for each in running if each["type"] == "delta")
        right(client.get(path), SESSION)  # as it stands
        right(client.post(f"{path}/turns", json={"text": "At once?"}), f"{SESSION}/turns", 409)
        right(client.post(f"{path}/turns/{second}/stop"), f"{SESSION}/turns/{{turn}}/stop")
    gate.open()
    right(client.get(f"{path}/turns/{second}/events"), f"{SESSION}/turns/{{turn}}/events", 404)
    shown = right(client.get(path), SESSION)
    assert [each["state"] for each in shown["turns"]] == ["done", "stopped"]
    right(client.get("/api/chat/sessions?limit=1"), "/api/chat/sessions")
    right(client.get("/api/chat/sessions?limit=x"), "/api/chat/sessions", 400)
    right(client.patch(path, json={"title": "Agents", "settings": {"mode": "agent"}}), SESSION)
    right(client.post(f"{path}/branches", json={"turn": second}), f"{SESSION}/branches")
    for kind in ("md", "html", "json"):
        right(client.get(f"{path}/export.{kind}"), f"{SESSION}/export.{{kind}}")
        right(client.get(f"{turn}/report.{kind}"), f"{SESSION}/turns/{{turn}}/report.{{kind}}")
    taken = client.get(f"{path}/export.json").content
    right(
        client.post("/api/chat/import", content=taken, headers={"Content-Type": "application/json"}), "/api/chat/import"
    )
    right(client.delete(path), SESSION)
    right(client.get(path), SESSION, 404)


@pytest.mark.programs  # a file is read by a process of its own
def test_files_links_and_ones_own_data_keep_to_it(described: Described) -> None:
    with page(Reply.text("Nine o'clock."), sharing=True) as it:
        client, right = it.client, described.keeps_to_it
        session = it.new()
        path = f"/api/chat/sessions/{session}"
        added = client.post(f"{path}/files", content=b"The train leaves at nine.", headers={"X-File-Name": "notes.txt"})
        file = right(added, f"{SESSION}/files")["id"]
        right(client.post(f"{path}/files", content=b""), f"{SESSION}/files", 400)
        right(client.get(f"{path}/files"), f"{SESSION}/files")
        right(client.get(f"{path}/files/{file}/text"), f"{SESSION}/files/{{file}}/text")
        it.ask(session, "When does the train leave?")
        right(client.get(path), SESSION)
        right(client.delete(f"{path}/files/{file}"), f"{SESSION}/files/{{file}}")
        link = right(client.post(f"{path}/shares", json={"days": 1}), f"{SESSION}/shares")
        right(client.get("/api/chat/shares"), "/api/chat/shares")
        right(client.delete(f"/api/chat/shares/{link['id']}"), "/api/chat/shares/{share}")
        right(client.get("/api/chat/export"), "/api/chat/export")
        right(client.post("/api/chat/forget"), "/api/chat/forget", 400)
        right(client.post("/api/chat/forget", json={"confirm": True}), "/api/chat/forget")
        right(client.get("/api/board/feedback.csv"), "/api/board/feedback.csv")


def test_an_unknown_field_is_refused_with_where_its_schema_is(played: Page, described: Described) -> None:
    refused = played.client.post("/api/chat/sessions", json={"name": "x"})
    assert "/openapi.json" in described.keeps_to_it(refused, "/api/chat/sessions", 400)["fix"]
    asked = described.document["paths"]["/api/chat/sessions"]["post"]["requestBody"]["content"]["application/json"]
    name = asked["schema"]["$ref"].rpartition("/")[2]
    assert set(described.document["components"]["schemas"][name]["properties"]) == {"title", "settings"}
