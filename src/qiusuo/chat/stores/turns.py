"""Turns in the store: pieces of answers that are being written, and what becomes of turns that died or are replaced."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, select, update

from qiusuo.chat.events.folding import fold
from qiusuo.chat.events.turn import SERVER_RESTART, Notice, RoundState, TurnRecord, TurnState
from qiusuo.chat.sessions.session import Memory, Progress
from qiusuo.chat.stores.database.schema import pieces, storable, turns
from qiusuo.citations.linking.references import LINK
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.errors import InvalidQuery
from qiusuo.words import Fact, Language

_RESTART: Final = Fact("notice.server_restart")


def columns(record: TurnRecord) -> dict[str, Any]:
    """Return what stands in the row of a turn."""
    words = storable(f"{record.question}\n{record.answer}".casefold())
    return {"record": record.to_dict(), "words": words}


def is_turn(session: str, turn: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions for one turn."""
    return turns.c.session_id == session, turns.c.id == turn


def save(connection: Connection, session: str, record: TurnRecord) -> None:
    """Write a whole turn; what was kept of it in pieces is in it."""
    connection.execute(update(turns).where(*is_turn(session, record.id)).values(columns(record)))
    connection.execute(delete(pieces).where(pieces.c.session_id == session, pieces.c.turn_id == record.id))


def keep(connection: Connection, news: Sequence[tuple[Progress, dict[str, Any]]]) -> None:
    """Write what is new of turns that are being answered: text as pieces, all else (where there is any) as columns."""
    for each, whole in news:
        if whole:
            connection.execute(update(turns).where(*is_turn(each.session, each.record.id)).values(whole))
    rows = [
        {
            "session_id": each.session,
            "turn_id": each.record.id,
            "number": each.number,
            "start": each.start,
            "text": each.text,
        }
        for each, _ in news
        if each.number
    ]
    if rows:
        connection.execute(pieces.insert(), rows)


def with_pieces(connection: Connection, session: str, record: TurnRecord) -> TurnRecord:
    """Return a turn that was being answered with the text that was kept of it."""
    mine = (pieces.c.session_id == session, pieces.c.turn_id == record.id)
    wanted = select(pieces.c.start, pieces.c.text).where(*mine).order_by(pieces.c.number)
    found = (connection.execute(wanted)).all()
    if found:
        answer = ""
        for start, text in found:
            answer = answer[:start] + text
        record.answer = answer
    return record


def read(connection: Connection, session: str, data: dict[str, Any], running: str | None) -> TurnRecord:
    """Return a turn of a conversation in which ``running`` is being answered; one that died says so."""
    record = TurnRecord.from_dict(data)
    if record.state is TurnState.RUNNING:
        with_pieces(connection, session, record)
        if record.id != running:
            give_up(record)
    return record


def bury(connection: Connection, session: str, turn: str, memory: Memory, heard: TurnRecord | None = None) -> None:
    """Mark a dead turn as failed. The numbers its readers have seen stay taken.

    ``heard`` is what others have heard of it, which may be more than was kept.
    """
    data = connection.scalar(select(turns.c.record).where(*is_turn(session, turn)))
    if data is None:
        return
    record = with_pieces(connection, session, TurnRecord.from_dict(data))
    if heard is not None and _size(heard) > _size(record):
        record = replace(heard, kept=record.kept)
    memory.registry = _with_sources_of(record, memory.registry)
    _remember(memory, record)
    give_up(record)
    save(connection, session, record)


def drop(connection: Connection, session: str, turn: str, memory: Memory) -> None:
    """Remove a turn and all after it, from the memory too. The registry keeps its numbers: they never restart."""
    mine = turns.c.session_id == session
    first = connection.scalar(select(turns.c.position).where(mine, turns.c.id == turn))
    if first is None:
        raise InvalidQuery(Fact("session.replaced_is_gone"))
    later = (mine, turns.c.position >= first)
    dropped = set((connection.scalars(select(turns.c.id).where(*later))).all())
    connection.execute(delete(turns).where(*later))
    forget(memory, dropped)


def forget(memory: Memory, dropped: Collection[str]) -> None:
    """Take turns, the last ones of their conversation, out of what it remembers. The registry keeps its numbers."""
    # A turn that died before it said anything has no messages, so the cut may only come with a later one.
    cuts = [start for each, start in memory.starts.items() if each in dropped]
    memory.messages = memory.messages[: min(cuts, default=len(memory.messages))]
    memory.starts = {each: start for each, start in memory.starts.items() if each not in dropped}
    memory.said = {each: said for each, said in memory.said.items() if each not in dropped}


def give_up(record: TurnRecord) -> None:
    """Make a record of a turn that died say so."""
    fold(record, Notice(_RESTART, "error"))
    for each in record.rounds:
        if each.get("state") == RoundState.RUNNING:
            why = _RESTART.text(Language(record.language))
            each.update(state=RoundState.FAILED.value, reason=why, **_RESTART.to_dict())
    record.state, record.stage, record.finish = TurnState.FAILED, None, SERVER_RESTART


def _remember(memory: Memory, record: TurnRecord) -> None:
    """Note what was said so far: the next message may be to go on with it."""
    if not record.answer or record.id in memory.starts:
        return
    answer = LINK.sub(r"[\1]", record.answer)
    memory.starts[record.id] = len(memory.messages)
    said = (("human", record.question), ("ai", answer))
    memory.messages += [{"type": kind, "data": {"type": kind, "content": text}} for kind, text in said]
    memory.note(record.id, record.question, answer)


def _size(record: TurnRecord) -> tuple[int, int, int]:
    """Return how much there is of a turn."""
    return len(record.answer), len(record.sources), len(record.rounds)


def _with_sources_of(record: TurnRecord, registry: CitationRegistry) -> CitationRegistry:
    data = registry.to_dict()
    known = {source["number"] for source in data["sources"]}
    found = sorted((source for source in record.sources if source["number"] not in known), key=lambda s: s["number"])
    # A registry counts without gaps; what does not follow on was not numbered by it.
    for number, source in enumerate(found, len(known) + 1):
        if source["number"] != number:
            break
        data["sources"].append(source)
        known.add(number)
    for each in record.rounds:
        entry = {"query": each.get("query", ""), "numbers": [n for n in each.get("numbers", ()) if n in known]}
        if entry["numbers"] and entry not in data["rounds"]:
            data["rounds"].append(entry)
    return CitationRegistry.from_dict(data)
