"""The conversations' part of the OpenAPI document: made when somebody asks for it, by no request before."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

from pydantic import BaseModel

from qiusuo.web.chat import shapes
from qiusuo.web.chat.bodies import NewBranch, NewSession, Question, SessionChange
from qiusuo.web.chat.event_shapes import EVENT, TURN, event_shapes
from qiusuo.web.chat.feedback import GivenFeedback
from qiusuo.web.chat.files import NAME_HEADER
from qiusuo.web.chat.own_data import Confirmation
from qiusuo.web.chat.portable import NewShare
from qiusuo.web.entrance.guard import IMPORT_PATH
from qiusuo.web.schemas import REFERENCE, AttemptAnswer, FactAnswer, error_responses, shape_of

_TAG: Final = "chat"
_USUAL_ERRORS: Final = (400, 401, 403, 413, 421, 429, 503)
_SESSION: Final = "/api/chat/sessions/{session}"
_TURN: Final = f"{_SESSION}/turns/{{turn}}"
_CONVERSATION: Final = "ConversationAnswer"
_JSON: Final = "application/json"
_NOTHING: Final = "Done; there is nothing to tell."
_DOCUMENTS: Final = ("text/markdown", "text/html", _JSON)
_EVENTS: Final = (
    "Server-sent events. Of each, `id` is its number in the turn, `event` its name and `data` its JSON. Lines that "
    "begin with `:` keep the connection open. The last event is `done`."
)
_ANSWERS: Final[tuple[type[BaseModel], ...]] = (
    shapes.ChatConfigAnswer, shapes.SessionsAnswer, shapes.BegunAnswer, shapes.FilesAnswer, shapes.FileTextAnswer,
    shapes.BranchAnswer, shapes.FeedbackAnswer, shapes.NewShareAnswer, shapes.SharesAnswer, shapes.ForgottenAnswer,
    AttemptAnswer, FactAnswer,
)  # fmt: skip
_BODIES: Final[tuple[type[BaseModel], ...]] = (
    NewSession, NewBranch, SessionChange, Question, GivenFeedback, NewShare, Confirmation,
)  # fmt: skip


def _ref(name: type[BaseModel] | str) -> dict[str, str]:
    return {"$ref": REFERENCE.format(model=name if isinstance(name, str) else name.__name__)}


def _in_query(name: str, about: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    whole = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
    return {"name": name, "in": "query", "description": about, "schema": schema or whole}


def _text_in_query(name: str, about: str) -> dict[str, Any]:
    return _in_query(name, about, {"type": "string"})


def _operation(
    about: str,
    answer: type[BaseModel] | str | None = None,
    *,
    status: int = 200,
    body: type[BaseModel] | None = None,
    may_be_empty: bool = False,
    errors: tuple[int, ...] = (),
    parameters: tuple[dict[str, Any], ...] = (),
    content: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an operation; without an answer it has none, with ``content`` another than JSON."""
    told: dict[str, Any] = {"description": "The answer." if answer or content else _NOTHING}
    if answer or content:
        told["content"] = content or {_JSON: {"schema": _ref(answer or "")}}
    refused = error_responses(*_USUAL_ERRORS, *errors)
    operation: dict[str, Any] = {
        "tags": [_TAG],
        "description": about,
        "parameters": list(parameters),
        "responses": {
            str(status if answer or content else 204): told,
            **{str(code): {"description": "What is wrong.", **each} for code, each in sorted(refused.items())},
        },
    }
    if body is not None:
        operation["requestBody"] = {"required": not may_be_empty, "content": {_JSON: {"schema": _ref(body)}}}
    return operation


def _files(*kinds: str) -> dict[str, Any]:
    return {kind: {"schema": {"type": "object"} if kind == _JSON else {"type": "string"}} for kind in kinds}


def _stream() -> dict[str, Any]:
    # OpenAPI 3.1 has no word for the events of a stream: this is the shape of what stands behind "data:".
    return {"text/event-stream": {"schema": {"type": "string", "description": _EVENTS}, "x-event-data": _ref(EVENT)}}


def _paths() -> dict[str, dict[str, Any]]:
    page = (_in_query("limit", "How many at most. Unset: 50."),)
    next_to = (
        *page,
        _text_in_query("before", "The turns next before this one."),
        _text_in_query("after", "The turns next after this one."),
    )
    seen = (
        _text_in_query("Last-Event-ID", "The event that was seen last.") | {"in": "header"},
        _text_in_query("after", "The same, for who cannot send that header."),
    )
    named = {
        "name": NAME_HEADER, "in": "header", "required": True, "schema": {"type": "string"},
        "description": "The file's name, percent-encoded UTF-8.",
    }  # fmt: skip
    upload = _operation(
        "Add a file; the answer comes when it is read.", "FileAnswer", status=201, errors=(404,), parameters=(named,)
    )
    upload["requestBody"] = {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
    bring = _operation("Take in a conversation as its export in JSON.", shapes.BegunAnswer, status=201)
    bring["requestBody"] = {"required": True, "content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "/api/chat/config": {"get": _operation("What can be asked and searched here.", shapes.ChatConfigAnswer)},
        "/api/chat/sessions": {
            "get": _operation(
                "Your conversations, the last used first.",
                shapes.SessionsAnswer,
                parameters=(
                    *page,
                    _in_query("offset", "So many are passed over."),
                    _text_in_query("query", "Words in titles, questions and answers."),
                ),
            ),
            "post": _operation(
                "Begin a conversation.", shapes.BegunAnswer, status=201, body=NewSession, may_be_empty=True
            ),
        },
        _SESSION: {
            "get": _operation(
                "A conversation with its last turns; one that runs as it stands.",
                _CONVERSATION,
                errors=(404,),
                parameters=next_to,
            ),
            "patch": _operation(
                "Rename a conversation or change its settings.", shapes.SessionAnswer, body=SessionChange, errors=(404,)
            ),
            "delete": _operation("Delete a conversation; what runs of it is stopped.", errors=(404,)),
        },
        f"{_SESSION}/turns": {
            "post": _operation(
                "Ask a question; the answer streams in. Who hangs up stops nothing.",
                content=_stream(),
                body=Question,
                errors=(404, 409),
            )
        },
        f"{_TURN}/events": {
            "get": _operation(
                "Join a turn that runs, behind the event that was seen last.",
                content=_stream(),
                errors=(404, 409),
                parameters=seen,
            )
        },
        f"{_TURN}/stop": {"post": _operation("Stop a turn, and wait for its end.", errors=(404, 409))},
        f"{_TURN}/report.{{kind}}": {
            "get": _operation("An answer as a document.", content=_files(*_DOCUMENTS), errors=(404,))
        },
        f"{_TURN}/feedback": {
            "post": _operation("Say what you think of an answer.", body=GivenFeedback, errors=(404,))
        },
        f"{_SESSION}/branches": {
            "post": _operation(
                "Begin a conversation with all that stands before a question of this one.",
                shapes.BegunAnswer,
                status=201,
                body=NewBranch,
                errors=(404, 409),
            )
        },
        f"{_SESSION}/files": {
            "get": _operation("The files of a conversation.", shapes.FilesAnswer, errors=(404,)),
            "post": upload,
        },
        f"{_SESSION}/files/{{file}}": {"delete": _operation("Delete a file.", errors=(404,))},
        f"{_SESSION}/files/{{file}}/text": {
            "get": _operation(
                "The text of one page of a file.",
                shapes.FileTextAnswer,
                errors=(404,),
                parameters=(_in_query("page", "Counted from 1. Unset: 1."),),
            )
        },
        f"{_SESSION}/export.{{kind}}": {
            "get": _operation("A conversation as a document.", content=_files(*_DOCUMENTS), errors=(404,))
        },
        IMPORT_PATH: {"post": bring},
        f"{_SESSION}/shares": {
            "post": _operation(
                "Share a conversation as it stands, by a link that opens without a token.",
                shapes.NewShareAnswer,
                status=201,
                body=NewShare,
                may_be_empty=True,
                errors=(404,),
            )
        },
        "/api/chat/shares": {"get": _operation("Your links.", shapes.SharesAnswer)},
        "/api/chat/shares/{share}": {"delete": _operation("End a link.", errors=(404,))},
    }


def _paths_beside() -> dict[str, dict[str, Any]]:
    return {
        "/api/chat/export": {
            "get": _operation(
                "All that is kept about you, as a ZIP file.",
                content={"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            )
        },
        "/api/chat/forget": {
            "post": _operation("Delete all that is kept about you.", shapes.ForgottenAnswer, body=Confirmation)
        },
        "/api/board/feedback.csv": {
            "get": _operation("What readers think of answers as CSV, for operators.", content=_files("text/csv"))
        },
    }


def _in_path(path: str) -> list[dict[str, Any]]:
    kinds = {"type": "string", "enum": ["md", "html", "json"]}
    names = [part.partition("}")[0] for part in path.split("{")[1:]]
    return [
        {"name": name, "in": "path", "required": True, "schema": kinds if name == "kind" else {"type": "string"}}
        for name in names
    ]


def _conversation() -> dict[str, Any]:
    number = {"type": "integer"}
    more: dict[str, Any] = {
        "turns": {"type": "array", "items": _ref(TURN)},
        "earlier": {**number, "description": "Turns before these."},
        "later": {**number, "description": "Turns after these."},
        "total": number,
        "most": {**number, "description": "How many turns are kept."},
        "files": {"type": "array", "items": _ref(shapes.FileAnswer)},
        "branchedFrom": {"anyOf": [_ref(shapes.BranchAnswer), {"type": "null"}]},
        "branches": {"type": "array", "items": _ref(shapes.BranchAnswer)},
    }
    own = {"type": "object", "properties": more, "required": list(more)}
    return {"description": "A conversation with turns.", "allOf": [_ref(shapes.SessionAnswer), own]}


def chat_document(there: Container[str]) -> dict[str, Any]:
    """Return ``paths``, those that are there, and the ``schemas`` that they name."""
    paths = {path: methods for path, methods in (_paths() | _paths_beside()).items() if path in there}
    for path, methods in paths.items():
        for operation in methods.values():
            operation["parameters"] = [*_in_path(path), *operation["parameters"]]
    schemas: dict[str, Any] = {}
    for model in _ANSWERS:
        schemas |= shape_of(model)
    for model in _BODIES:
        schemas |= shape_of(model, mode="validation")
    return {"paths": paths, "schemas": {**schemas, **event_shapes(), _CONVERSATION: _conversation()}}
