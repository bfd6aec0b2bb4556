"""A conversation taken along as JSON, and brought back: its turns with their sources, its title, its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from langchain_core.messages import AIMessage, HumanMessage
from pydantic import ValidationError

from qiusuo.chat.events.telling import told
from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.portable.shape import FORMAT, VERSION, PortableConversation
from qiusuo.chat.sessions.session import ChatSettings, Memory, SessionInfo, SessionStore, new_id
from qiusuo.chat.turns.history import remember, without_links
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.errors import InvalidQuery
from qiusuo.words import Fact, Language

_PAGE: Final = 200
_NOT_SENT: Final = ("pending", "unsent-")
"""How the page calls turns that no server knows of."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A conversation that was brought, checked, with what the next question needs to know of it."""

    title: str
    settings: ChatSettings
    created_at: str
    turns: Sequence[TurnRecord]
    memory: Memory


async def all_turns(store: SessionStore, owner: str, session: str) -> list[TurnRecord]:
    """Return all turns of a conversation, however many."""
    page = await store.turns(owner, session, limit=_PAGE)
    found = list(page.turns)
    while page.earlier:
        page = await store.turns(owner, session, limit=_PAGE, before=found[0].id)
        found = [*page.turns, *found]
    return found


def to_portable(info: SessionInfo, turns: Sequence[TurnRecord]) -> dict[str, Any]:
    """Return a conversation, or some turns of it, in the JSON shape that ``from_portable`` reads."""
    settings = info.settings.to_dict()
    kept = {name: value for name, value in settings.items() if name not in {"switch", "note"}}
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": info.title,
        "createdAt": info.created_at,
        "settings": kept,
        "turns": [_without_the_server_s(turn.to_dict()) for turn in turns],
    }


def from_portable(body: bytes) -> Brought:
    """Read what somebody has brought.

    Raises:
        InvalidQuery: it is no conversation of ours, or not of a version that is known here.
    """
    try:
        given = PortableConversation.model_validate_json(body)
        turns = _records(given)
    except (ValidationError, RecursionError):
        raise InvalidQuery(Fact("portable.unreadable")) from None
    settings = ChatSettings.from_dict(dict(given.settings))
    return Brought(given.title, settings, _moment(given.created_at), turns, _memory(turns))


def _without_the_server_s(turn: dict[str, Any]) -> dict[str, Any]:
    """Return a turn without what is for its server alone: how a research goes on, and commands."""
    rounds = [
        each | {"attempts": [_without_commands(attempt) for attempt in each.get("attempts", ())]}
        for each in turn["rounds"]
    ]
    notices = [each | {"commands": []} for each in turn["notices"]]
    return {name: value for name, value in turn.items() if name not in {"kept", "stage"}} | {
        "rounds": rounds,
        "notices": notices,
    }


def _without_commands(attempt: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attempt.items() if name != "commands"}


def _records(given: PortableConversation) -> list[TurnRecord]:
    records: dict[str, TurnRecord] = {}
    for turn in given.turns:
        data = turn.model_dump(by_alias=True, exclude_unset=True)
        if data["id"] in records or data["id"].startswith(_NOT_SENT):
            data["id"] = new_id()
        record = TurnRecord.from_dict(
            {**data, "language": data.get("language") or "", "createdAt": _moment(turn.created_at)}
        )
        try:  # facts with values that do not fit could not be told to any reader later
            for language in Language:
                told(record.to_dict(), language)
        except Exception:  # noqa: BLE001 - whatever it is, it came with the file
            raise InvalidQuery(Fact("portable.unreadable")) from None
        records[record.id] = record
    return list(records.values())


def _moment(text: str) -> str:
    """Return a time as it is stored, blank where it is none."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return text


def _memory(turns: Sequence[TurnRecord]) -> Memory:
    """Return what the model is told of the conversation, and its numbering: what comes next gets larger numbers."""
    sources: dict[int, dict[str, Any]] = {}
    rounds: list[dict[str, Any]] = []
    memory = Memory()
    for turn in turns:
        for source in turn.sources:
            sources.setdefault(source["number"], {"domain": "", **source})
        for each in turn.rounds:
            numbers = [number for number in each.get("numbers", ()) if number in sources]
            if numbers:
                rounds.append({"query": each["query"], "numbers": numbers})
        if turn.answer:
            remember(memory, turn.id, [HumanMessage(turn.question), AIMessage(without_links(turn.answer))])
            memory.note(turn.id, turn.question, turn.answer)
    memory.registry = CitationRegistry.from_dict({"sources": list(sources.values()), "rounds": rounds})
    return memory
