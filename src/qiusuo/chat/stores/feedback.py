"""Feedback in the database of the conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, select

from qiusuo.chat.sessions.feedback import MOST_LISTED, Feedback, Reason, Told, Verdict
from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import feedback, is_storable, sessions, storable, turns
from qiusuo.chat.stores.turns import is_turn
from qiusuo.errors import SessionNotFound
from qiusuo.words import Fact


class SqlFeedback:
    """Implements ``FeedbackStore``."""

    def __init__(self, database: Database, moment: Callable[[], str]) -> None:
        self._database = database
        self._moment = moment

    async def put(self, owner: str, session: str, turn: str, given: Feedback | None) -> None:
        moment = self._moment()

        def work(connection: Connection) -> None:
            # Locked, so that two of the same moment come one after the other.
            _find(connection, owner, session, lock=True)
            known = connection.scalar(select(turns.c.id).where(*is_turn(session, turn))) if is_storable(turn) else None
            if known is None:
                raise SessionNotFound(Fact("session.no_turn"))
            connection.execute(delete(feedback).where(feedback.c.session_id == session, feedback.c.turn_id == turn))
            if given is not None:
                values = {**given.to_dict(), "text": storable(given.text), "created_at": moment}
                connection.execute(feedback.insert().values(session_id=session, turn_id=turn, **values))

        await self._database.run(work, write=True)

    async def of(self, owner: str, session: str) -> Mapping[str, Feedback]:
        def work(connection: Connection) -> Mapping[str, Feedback]:
            _find(connection, owner, session)
            wanted = select(feedback).where(feedback.c.session_id == session)
            return {row.turn_id: _read(row) for row in connection.execute(wanted)}

        return await self._database.run(work)

    async def all(self) -> Sequence[Told]:
        wanted = select(feedback, turns.c.record).join(
            turns, (turns.c.session_id == feedback.c.session_id) & (turns.c.id == feedback.c.turn_id)
        )
        wanted = wanted.order_by(feedback.c.created_at.desc(), feedback.c.turn_id).limit(MOST_LISTED)

        def work(connection: Connection) -> Sequence[Told]:
            return [_told(row) for row in connection.execute(wanted)]

        return await self._database.run(work)


def _find(connection: Connection, owner: str, session: str, *, lock: bool = False) -> None:
    if is_storable(session) and is_storable(owner):
        wanted = select(sessions.c.id).where(sessions.c.id == session, sessions.c.owner == owner)
        if connection.execute(wanted.with_for_update() if lock else wanted).one_or_none() is not None:
            return
    raise SessionNotFound(Fact("session.not_found"))


def _read(row: Row[Any]) -> Feedback:
    known = tuple(Reason(each) for each in row.reasons if each in list(Reason))
    return Feedback(Verdict(row.verdict), known, row.text)


def _told(row: Row[Any]) -> Told:
    record = row.record
    engines = dict.fromkeys(each["engine"] for each in record.get("rounds", ()) if each.get("engine"))
    return Told(row.created_at, _read(row), record.get("mode", ""), record.get("model", ""), tuple(engines))
