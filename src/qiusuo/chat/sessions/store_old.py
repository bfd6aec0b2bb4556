"""Conversations in which nothing happens any more."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, select

from qiusuo.chat.sessions.store_schema import sessions

_AT_ONCE: Final = 200


def delete_some(connection: Connection, before: str, idle: ColumnElement[bool]) -> int:
    """Delete some conversations that were not touched since, and return how many: others write in between."""
    wanted = select(sessions.c.id).where(sessions.c.updated_at < before, idle).limit(_AT_ONCE)
    # One that is being claimed just now is not idle.
    ids = connection.scalars(wanted.with_for_update(skip_locked=True, of=sessions)).all()
    connection.execute(delete(sessions).where(sessions.c.id.in_(ids)))
    return len(ids)
