"""The events of a turn, and what is kept of it, as the OpenAPI document has them: read off the classes themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import getdoc
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter

from qiusuo.chat.events.base import Event, camel
from qiusuo.chat.events.notice import Notice
from qiusuo.chat.events.page_reads import PageRead, Reading
from qiusuo.chat.events.progress import Amounts, Research, StepProgress
from qiusuo.chat.events.turn import (
    Check,
    Delta,
    Done,
    ModelTaken,
    Related,
    Retraction,
    Round,
    Source,
    Sources,
    Status,
    TurnRecord,
    TurnStarted,
    Usage,
)
from qiusuo.models import Attempt
from qiusuo.web.schemas import CODE, REFERENCE, VALUES

EVENTS: Final[tuple[type[Event], ...]] = (
    TurnStarted, Status, Round, Sources, Reading, Research, ModelTaken, Notice, Delta, Retraction, Check, Related,
    Usage, Done,
)  # fmt: skip
EVENT: Final = "TurnEvent"
TURN: Final = "TurnAnswer"
_NAMES: Final[Mapping[type, str]] = {
    **{kind: f"{kind.__name__}Event" for kind in EVENTS},
    Source: "SourceAnswer",
    PageRead: "PageReadAnswer",
    StepProgress: "StepProgressAnswer",
    Amounts: "AmountsAnswer",
    Attempt: "AttemptAnswer",
    TurnRecord: TURN,
}
_TEXT: Final = {"type": "string"}
_FACT: Final = {"$ref": REFERENCE.format(model="FactAnswer")}
_FACT_OR_NONE: Final = {"anyOf": [_FACT, {"type": "null"}]}
_WHY: Final = {"code": {**_TEXT, "description": CODE}, "values": {"type": "object", "description": VALUES}}


@dataclass(frozen=True, slots=True)
class _Told:
    """What the JSON of a class has beside its fields; ``may`` is there only where there is something to tell."""

    without: frozenset[str] = frozenset({"fact"})
    more: Mapping[str, Any] = field(default_factory=dict)
    may: Mapping[str, Any] = field(default_factory=dict)


def _several(kind: type) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": REFERENCE.format(model=_NAMES[kind])}}


def _one_or_none(kind: type) -> dict[str, Any]:
    return {"anyOf": [{"$ref": REFERENCE.format(model=_NAMES[kind])}, {"type": "null"}]}


def _told(kind: type) -> _Told:
    """Return what ``to_dict`` of a class does with facts: they become words, codes and values."""
    if kind is Round:
        return _Told(more={"reason": _TEXT, "ago": _TEXT}, may=_WHY)
    if kind is PageRead:
        return _Told(more={"reason": _TEXT}, may=_WHY)
    if kind is Notice:
        words = dict.fromkeys(("code", "title", "message", "fix"), _TEXT)
        facts = {"heading": _TEXT, "values": _WHY["values"], "reason": _FACT_OR_NONE, "remedy": _FACT_OR_NONE}
        return _Told(frozenset({"fact", "reason", "remedy", "kept"}), words, facts)
    if kind is TurnRecord:
        lists = {"rounds": Round, "sources": Source, "readings": Reading, "notices": Notice}
        single = {"check": Check, "usage": Usage, "research": Research}
        more = {name: _several(each) for name, each in lists.items()}
        more |= {name: _one_or_none(each) for name, each in single.items()}
        feedback = {"$ref": REFERENCE.format(model="FeedbackAnswer")}
        return _Told(frozenset({*more, "kept"}), more | {"canGoOn": {"type": "boolean"}}, {"feedback": feedback})
    return _Told()


def event_shapes() -> dict[str, Any]:
    """Return the shapes by their names: each event, what it is made of, any of them, and a turn."""
    shapes: dict[str, Any] = {}
    for kind, name in _NAMES.items():
        if kind is not Attempt:  # the search has it too
            shapes[name] = _shape(kind, shapes)
    any_of_them = [{"$ref": REFERENCE.format(model=_NAMES[kind])} for kind in EVENTS]
    mapping = {kind.type: REFERENCE.format(model=_NAMES[kind]) for kind in EVENTS}
    shapes[EVENT] = {"oneOf": any_of_them, "discriminator": {"propertyName": "type", "mapping": mapping}}
    return shapes


def _shape(kind: type, shapes: dict[str, Any]) -> dict[str, Any]:
    assert is_dataclass(kind)  # noqa: S101 - all of them are
    told, hints = _told(kind), get_type_hints(kind)
    own = {each.name: _field(hints[each.name], shapes) for each in fields(kind) if each.name not in told.without}
    properties = {**{camel(name): schema for name, schema in own.items()}, **told.more}
    required = sorted(properties)
    if issubclass(kind, Event):  # what is kept of it in a turn has no type
        properties = {"type": {"const": kind.type}, **properties}
    about = (getdoc(kind) or "").partition("\n\n")[0]
    return {"type": "object", "description": about, "properties": {**properties, **told.may}, "required": required}


def _field(hint: Any, shapes: dict[str, Any]) -> dict[str, Any]:
    inner = get_args(hint)
    if hint in _NAMES:
        return {"$ref": REFERENCE.format(model=_NAMES[hint])}
    if inner and inner[0] in _NAMES:
        return _several(inner[0])
    schema = TypeAdapter(hint).json_schema(ref_template=REFERENCE)
    shapes |= schema.pop("$defs", {})
    return schema
