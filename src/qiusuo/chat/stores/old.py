"""Conversations in which nothing happens any more, and how long they are kept: all of them, or some owners'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, select

from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import is_storable, retention, sessions
from qiusuo.errors import InvalidQuery
from qiusuo.words import Fact

LONGEST_DAYS: Final = 36_500
_AT_ONCE: Final = 200
_DAY: Final = 86_400.0


class SqlRetention:
    """How long is kept. ``moment`` tells the time so many seconds from now, ``idle`` what is not in use."""

    def __init__(
        self, database: Database, moment: Callable[[float], str], idle: Callable[[], ColumnElement[bool]]
    ) -> None:
        self._database = database
        self._moment = moment
        self._idle = idle

    async def rules(self) -> Mapping[str, int]:
        def work(connection: Connection) -> Mapping[str, int]:
            rows = connection.execute(select(retention.c.owner, retention.c.days).order_by(retention.c.owner))
            return {row.owner: row.days for row in rows}

        return await self._database.run(work)

    async def put(self, owner: str, days: int | None) -> None:
        if not is_storable(owner):
            raise InvalidQuery(Fact("session.bad_owner"))

        def work(connection: Connection) -> None:
            connection.execute(delete(retention).where(retention.c.owner == owner))
            if days is not None:
                connection.execute(retention.insert().values(owner=owner, days=days))

        await self._database.run(work, write=True)

    async def delete_untouched(self, seconds: float | None) -> int:
        """Delete what is older than so many seconds, and what is older than its owner's own time."""
        found: list[tuple[float, str | None]] = [] if seconds is None else [(seconds, None)]
        found += [(days * _DAY, owner) for owner, days in (await self.rules()).items()]
        deleted = 0
        for limit, owner in found:
            before = self._moment(-limit)

            def work(connection: Connection, before: str = before, owner: str | None = owner) -> int:
                return delete_some(connection, before, self._idle(), owner)

            while count := await self._database.run(work, write=True):
                deleted += count
        return deleted


def delete_some(connection: Connection, before: str, idle: ColumnElement[bool], owner: str | None) -> int:
    """Delete some conversations that were not touched since, and return how many: others write in between."""
    wanted = select(sessions.c.id).where(sessions.c.updated_at < before, idle).limit(_AT_ONCE)
    if owner is not None:
        wanted = wanted.where(sessions.c.owner == owner)
    # One that is being claimed just now is not idle.
    ids = connection.scalars(wanted.with_for_update(skip_locked=True, of=sessions)).all()
    connection.execute(delete(sessions).where(sessions.c.id.in_(ids)))
    return len(ids)
