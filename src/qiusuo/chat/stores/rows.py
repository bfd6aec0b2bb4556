"""The rows of conversations: which columns are read, how one is found, and what frees it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, Row, select

from qiusuo.chat.stores import turns as store_turns
from qiusuo.chat.stores.claims import SIGN_OF_LIFE
from qiusuo.chat.stores.database.schema import is_storable, sessions, turns
from qiusuo.errors import InvalidQuery, SessionNotFound
from qiusuo.words import Fact

FREE: Final = {"running": None, "holder": None, "alive_at": None}
INFO: Final = (*(column for column in sessions.c if column.name not in {"memory", "title_words"}), SIGN_OF_LIFE)


def find(connection: Connection, owner: str, session: str, *, lock: bool = False, memory: bool = False) -> Row[Any]:
    """Return the row of a conversation; with ``lock`` nobody else can change it before the transaction ends."""
    if is_storable(session) and is_storable(owner):
        columns = (*INFO, sessions.c.memory) if memory else INFO
        wanted = select(*columns).where(sessions.c.id == session, sessions.c.owner == owner)
        row = (connection.execute(wanted.with_for_update(of=sessions) if lock else wanted)).one_or_none()
        if row is not None:
            return row
    raise SessionNotFound(Fact("session.not_found"))


def position_of(connection: Connection, session: str, turn: str) -> int:
    """Return the place of a turn in its conversation.

    Raises:
        InvalidQuery: there is no such turn.
    """
    position = None
    if is_storable(turn):
        position = connection.scalar(select(turns.c.position).where(*store_turns.is_turn(session, turn)))
    if position is None:
        raise InvalidQuery(Fact("session.no_such_turn"))
    return int(position)
