"""Turns whose process is gone, in the database."""

from __future__ import annotations

from sqlalchemy import Connection, update

from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.stores import turns as store_turns
from qiusuo.chat.stores.claims import Claims
from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import sessions
from qiusuo.chat.stores.rows import FREE, find


class SqlDeadTurns:
    """Implements ``DeadTurns``."""

    def __init__(self, database: Database, claims: Claims) -> None:
        self._database = database
        self._claims = claims

    async def bury(self, owner: str, session: str, turn: str, heard: TurnRecord | None = None) -> None:
        def work(connection: Connection) -> None:
            row = find(connection, owner, session, lock=True, memory=True)
            if row.running != turn or self._claims.is_alive(row):
                return
            memory = Memory.from_dict(row.memory)
            store_turns.bury(connection, session, turn, memory, heard)
            values = {**FREE, "memory": memory.to_dict()}
            connection.execute(update(sessions).where(sessions.c.id == session).values(values))

        await self._database.run(work, write=True)
