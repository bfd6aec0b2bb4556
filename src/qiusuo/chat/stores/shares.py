"""Shared links in the database. Of a link's secret only a digest is stored: who reads the database cannot open it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, delete, func, or_, select

from qiusuo.chat.sessions.shares import MOST_SHARES, Begun, Opened, Share, records_of
from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import is_storable, sessions, shares, storable
from qiusuo.errors import LimitReached, SessionNotFound
from qiusuo.words import Fact

SECRET_BYTES: Final = 24
_DAY: Final = 24 * 3600.0


class SqlShares:
    """Implements ``Shares``."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, owner: str, session: str, title: str, snapshot: list[Any], *, days: int | None) -> Begun:
        secret = secrets.token_urlsafe(SECRET_BYTES)
        now = self._clock()
        ends_at = now + days * _DAY if days is not None else None
        made = Share(secrets.token_urlsafe(9), session, storable(title), now, ends_at)

        def work(connection: Connection) -> None:
            wanted = select(sessions.c.id).where(sessions.c.id == session, sessions.c.owner == owner)
            if not (is_storable(session) and is_storable(owner)) or connection.scalar(wanted) is None:
                raise SessionNotFound(Fact("session.not_found"))
            mine = shares.c.owner == owner
            connection.execute(delete(shares).where(mine, shares.c.ends_at <= now))
            if (connection.scalar(select(func.count()).where(mine)) or 0) >= MOST_SHARES:
                raise LimitReached(Fact("sharing.too_many", limit=MOST_SHARES))
            connection.execute(
                shares.insert().values(
                    id=made.id,
                    digest=_digest(secret),
                    owner=owner,
                    session_id=session,
                    snapshot=snapshot,
                    title=made.title,
                    created_at=now,
                    ends_at=ends_at,
                )
            )

        await self._database.run(work, write=True)
        return Begun(made, secret)

    async def of(self, owner: str) -> Sequence[Share]:
        columns = (shares.c.id, shares.c.session_id, shares.c.title, shares.c.created_at, shares.c.ends_at)
        wanted = select(*columns).where(shares.c.owner == owner, self._open()).order_by(shares.c.created_at.desc())

        def work(connection: Connection) -> Sequence[Share]:
            return [Share(*row) for row in connection.execute(wanted)]

        return await self._database.run(work) if is_storable(owner) else ()

    async def end(self, owner: str, share: str) -> None:
        def work(connection: Connection) -> None:
            connection.execute(delete(shares).where(shares.c.owner == owner, shares.c.id == share))

        if is_storable(owner) and is_storable(share):
            await self._database.run(work, write=True)

    async def opened(self, secret: str) -> Opened | None:
        wanted = select(shares.c.title, shares.c.snapshot).where(shares.c.digest == _digest(secret), self._open())

        def work(connection: Connection) -> Opened | None:
            row = connection.execute(wanted).one_or_none()
            return Opened(row.title, records_of(row.snapshot)) if row is not None else None

        return await self._database.run(work)

    def _open(self) -> Any:
        return or_(shares.c.ends_at.is_(None), shares.c.ends_at > self._clock())


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
