"""The events of a turn put together to what is kept of it."""

from __future__ import annotations

from typing import Any

from qiusuo.chat.events.turn import Delta, Event, Stage, TurnRecord, TurnState
from qiusuo.words import Language


def fold(record: TurnRecord, event: Event) -> None:
    """Add an event to the record of its turn."""
    if isinstance(event, Delta):  # by far the most
        record.answer += event.text
    else:
        fold_told(record, event.to_dict(Language(record.language)))


def fold_told(record: TurnRecord, data: dict[str, Any]) -> None:  # noqa: C901, PLR0912 - one case per kind of event
    """Add an event in its JSON shape; kinds of later versions are left out."""
    told = {name: value for name, value in data.items() if name != "type"}
    match data["type"]:
        case "turn":
            record.mode, record.model, record.search = told["mode"], told["model"], told["search"]
            record.created_at, record.scope, record.called = told["createdAt"], told["scope"], told["called"]
        case "model":
            record.model, record.called = told["model"], told["called"]
        case "status":
            record.stage = Stage(told["stage"])
        case "round":
            _replace(record.rounds, told)
        case "sources":
            for source in told["sources"]:
                _replace(record.sources, source)
        case "research":
            record.research = told
        case "reading":
            _replace(record.readings, told)
        case "delta":
            record.answer += told["text"]
        case "retraction":
            record.answer = told["answer"]
        case "check":
            record.check = told
        case "notice":
            record.notices.append(told)
        case "usage":
            record.usage = told
        case "related":
            record.related = tuple(told["questions"])
        case "done":
            record.state, record.stage = TurnState(told["state"]), None
            record.answer, record.references = told["answer"], told["references"]
            record.cited, record.finish = tuple(told["cited"]), told["finish"]


def _replace(entries: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    for index, known in enumerate(entries):
        if known["number"] == entry["number"]:
            entries[index] = entry
            return
    entries.append(entry)
