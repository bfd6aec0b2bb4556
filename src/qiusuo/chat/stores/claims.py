"""Who holds a conversation: the claims of this process, its signs of life, and those of the others.

A turn claims its conversation by writing its id and that of its process into the conversation's row. One row per
process has the last sign of life of all its turns. A process whose last sign is older than :data:`ALIVE_SECONDS` is
taken for gone, as is one whose row was removed: by itself at its end, or by the next process of the same machine that
starts and finds its file unlocked (``presence``). Processes of one machine see by that file at once that one is gone.
Several servers must agree on the time to some seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, case, delete, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import holders, sessions
from qiusuo.chat.stores.presence import Presence
from qiusuo.pipeline.flights import Flights

ALIVE_SECONDS: Final = 14.5
"""A process that gives no sign of life for so long is taken for gone; with a look at it readers know within 15 s."""
RENEW_SECONDS: Final = 3.0
"""A sign of life is good for so long before it is given again."""
_FORGET_SECONDS: Final = 86_400.0

_HELD_AT: Final = select(holders.c.alive_at).where(holders.c.id == sessions.c.holder).scalar_subquery()
# Versions before 2 wrote the sign of life of each turn into the conversation's row.
SIGN_OF_LIFE: Final = case((sessions.c.holder.is_(None), sessions.c.alive_at), else_=_HELD_AT).label("sign_of_life")
_CLAIM: Final = (sessions.c.id, sessions.c.running, sessions.c.holder, SIGN_OF_LIFE)


class Claims:
    """The claims of one process. ``turns`` are those that it knows of."""

    def __init__(self, database: Database, presence: Presence, clock: Callable[[], float]) -> None:
        self.turns: set[str] = set()
        self._database = database
        self._presence = presence
        self._clock = clock
        self._renewed: float | None = None
        self._started = False
        self._renewals: Flights[None] = Flights()

    @property
    def holder(self) -> str:
        """The id of this process."""
        return self._presence.id

    async def start(self) -> None:
        """Give up the claims of processes that are gone, and give the first sign of life.

        Raises:
            SearchError: the database cannot be used.
        """
        if not self._started:
            await self._renewals.join("start", self._start)

    async def be_alive(self) -> None:
        """Give a sign of life where the last one is some seconds old.

        Raises:
            SearchError: the database cannot be used.
        """
        await self.start()
        if self._renewed is None or not 0 <= self._clock() - self._renewed < RENEW_SECONDS:
            await self._renewals.join("renew", lambda: self._database.run(self.renew, write=True))

    def renew(self, connection: Connection) -> None:
        """Give a sign of life as a part of a transaction."""
        now = self._clock()
        insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        row = insert(holders).values(id=self.holder, alive_at=now)
        connection.execute(row.on_conflict_do_update(index_elements=["id"], set_={"alive_at": now}))
        self._renewed = now

    def held(self, connection: Connection) -> set[str]:
        """Return the turns of this process that still hold their conversations; others nobody answers are let go."""
        mine = sessions.c.holder == self.holder
        # None of them may be deleted before what is kept of it has been written.
        wanted = select(sessions.c.running).where(mine).with_for_update(read=True, key_share=True)
        held = {turn for turn in (connection.scalars(wanted)).all() if turn is not None}
        orphans = held - self.turns
        if orphans:
            lost = (mine, sessions.c.running.in_(orphans))
            connection.execute(update(sessions).where(*lost).values(holder=None, alive_at=None))
        return held - orphans

    def running(self, connection: Connection, ids: Collection[str]) -> dict[str, str]:
        """Return the turns that are being answered in some conversations."""
        wanted = select(*_CLAIM).where(sessions.c.id.in_(ids), sessions.c.running.is_not(None))
        rows: Iterable[Row[Any]] = connection.execute(wanted)
        return {row.id: row.running for row in rows if self.is_alive(row)}

    def is_alive(self, row: Row[Any]) -> bool:
        """Tell whether a conversation's turn is being answered; the row has :data:`SIGN_OF_LIFE`."""
        if row.running is None or (row.holder == self.holder and row.running not in self.turns):
            return False
        if row.holder is not None and row.holder != self.holder and self._presence.is_gone(row.holder):
            return False
        # Either way round: a clock that was ahead and is right again must not block the conversation for long.
        return row.sign_of_life is not None and abs(self._clock() - row.sign_of_life) < ALIVE_SECONDS

    def idle(self) -> ColumnElement[bool]:
        """Return the condition for conversations in which nothing is being answered."""
        now, seen = self._clock(), SIGN_OF_LIFE.element
        apart = or_(seen <= now - ALIVE_SECONDS, seen >= now + ALIVE_SECONDS)
        return or_(sessions.c.running.is_(None), seen.is_(None), apart)

    async def leave(self) -> None:
        """Give up every claim of this process.

        Raises:
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> None:
            connection.execute(delete(holders).where(holders.c.id == self.holder))

        try:
            if self._started:
                await self._database.run(work, write=True)
        finally:
            self._started, self._renewed = False, None
            self._presence.leave()

    async def _start(self) -> None:
        gone = await asyncio.to_thread(self._presence.enter)

        def work(connection: Connection) -> None:
            old = holders.c.alive_at < self._clock() - _FORGET_SECONDS
            connection.execute(delete(holders).where(or_(holders.c.id.in_(gone), old)))
            self.renew(connection)

        await self._database.run(work, write=True)
        await asyncio.to_thread(self._presence.forget, gone)
        self._started = True
