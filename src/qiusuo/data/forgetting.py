"""Everything about one person deleted, wherever it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, func, select

from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.parts import all_tables, owned_by
from qiusuo.chat.stores.database.schema import is_storable, sessions
from qiusuo.data.sqlite_files import opened
from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.people.store import next_change
from qiusuo.usage.recorder import OTHERS
from qiusuo.usage.schema import KEYS, SUMS, lock_for_folding, queries, usage
from qiusuo.usage.store import adding
from qiusuo.words import Fact

LARGEST_REWRITTEN: Final = 100_000_000
"""Bytes of a file that is written anew while servers use it: they wait meanwhile."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows of each table were deleted; of ``counted`` only the name was taken away."""

    rows: Mapping[str, int]
    counted: int

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.rows.values()) + self.counted


async def forget(database: Database, owner: str) -> Forgotten:
    """Delete what is kept about somebody, in one step. Their searches still count, among those of all others.

    Words of searches that were kept for the board do not say whose they were: all of them go.

    Raises:
        SearchError: the database cannot be used, or nobody can have that name.
    """
    if not owner or not is_storable(owner) or owner == OTHERS:
        raise InvalidQuery(Fact("session.bad_owner"))

    def work(connection: Connection) -> Forgotten:
        next_change(connection)  # else servers would let a token of theirs in until they are started anew
        # In the order in which all others lock: what belongs to a conversation behind the conversation.
        connection.execute(select(sessions.c.id).where(sessions.c.owner == owner).with_for_update())
        rows = {}
        for table in reversed(all_tables()):
            condition = owned_by(table, owner)
            if condition is not None and table is not usage and not table.info.get("outlives"):
                rows[str(table.name)] = connection.execute(delete(table).where(condition)).rowcount
        rows = {name: count for name, count in rows.items() if count}
        counted = _count_among_others(connection, owner)
        if rows or counted:
            connection.execute(delete(queries))
        return Forgotten(rows, counted)

    return await database.run(work, write=True)


def _count_among_others(connection: Connection, owner: str) -> int:
    lock_for_folding(connection)
    mine = usage.c.owner == owner
    by = [usage.c[name] for name in KEYS if name != "owner"]
    sums = [func.sum(usage.c[name]).label(name) for name in SUMS]
    found = connection.execute(select(*by, *sums).where(mine).group_by(*by)).mappings().all()
    count = connection.execute(delete(usage).where(mine)).rowcount
    if found:
        connection.execute(adding(connection), [{**row, "owner": OTHERS} for row in found])
    return count


async def leave_no_trace(database: Database, *, in_use: bool) -> bool:
    """Write the file of a database anew, without the remains of what was deleted; tell whether it was done.

    PostgreSQL does so by itself in time.
    """
    path = database.address.path
    if path is None:
        return True

    def work() -> bool:
        with opened(path) as connection:
            connection.execute("PRAGMA secure_delete=ON")
            if not in_use or path.stat().st_size <= LARGEST_REWRITTEN:
                connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    try:
        return await asyncio.to_thread(work)
    except SearchError:
        return False
