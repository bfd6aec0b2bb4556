"""The audit log in SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from qiusuo.chat.stores.database.schema import MAX_ID, storable
from qiusuo.people.audit import Noted
from qiusuo.people.schema import MAX_ADDRESS, MAX_CODE, PeopleTables, audit
from qiusuo.words import Fact

MOST_LINES: Final = 1000
"""In one answer."""


def row_of(line: Noted) -> dict[str, object]:
    """Return a line as it stands in its table."""
    return {
        "at": line.at,
        "who": storable(line.who)[:MAX_ID],
        "address": line.address[:MAX_ADDRESS],
        "code": line.fact.code[:MAX_CODE],
        "told": line.fact.to_dict()["values"],
    }


class SqlAuditStore:
    """Adds lines and reads them; none is ever changed."""

    def __init__(self, tables: PeopleTables) -> None:
        self._tables = tables

    async def add(self, lines: Sequence[Noted]) -> None:
        """Write lines.

        Raises:
            SearchError: the database cannot be used.
        """
        rows = [row_of(line) for line in lines]

        def work(connection: Connection) -> None:
            connection.execute(insert(audit), rows)

        await self._tables.run(work, write=True)

    async def tidy(self, before: int) -> None:
        """Delete what is older than a moment.

        Raises:
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> None:
            connection.execute(delete(audit).where(audit.c.at < before))

        await self._tables.run(work, write=True)

    async def lines(self, since: int = 0, limit: int = MOST_LINES, *, before: int | None = None) -> list[Noted]:
        """Return the lines since a moment (and before the line of an id), the newest first.

        Raises:
            SearchError: the database cannot be used.
        """
        wanted = select(audit).where(audit.c.at >= since).order_by(audit.c.id.desc()).limit(min(limit, MOST_LINES))
        if before is not None:
            wanted = wanted.where(audit.c.id < before)

        def work(connection: Connection) -> list[Noted]:
            return [
                Noted(int(row.at), row.who, row.address, Fact.from_dict({"code": row.code, "values": row.told}), row.id)
                for row in connection.execute(wanted)
            ]

        return await self._tables.run(work)
