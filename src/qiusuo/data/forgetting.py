"""Everything about one person deleted, wherever it is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, false, func, or_, select, true

from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.parts import all_tables, owned_by
from qiusuo.chat.stores.database.schema import is_storable, sessions
from qiusuo.data.sqlite_files import opened
from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.people.budgets import month_of
from qiusuo.people.schema import members, used
from qiusuo.people.sign_ins import people as names
from qiusuo.people.store import Author, next_change, note
from qiusuo.usage.recorder import OTHERS
from qiusuo.usage.schema import KEYS, SUMS, lock_for_folding, queries, usage
from qiusuo.usage.store import adding
from qiusuo.words import Fact

LARGEST_REWRITTEN: Final = 100_000_000
"""Bytes of a file that is written anew while servers use it: they wait meanwhile."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows of each table were deleted, and how many stay; of ``counted`` only the name was taken away."""

    rows: Mapping[str, int]
    counted: int
    stays: Mapping[str, int]

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.rows.values()) + self.counted

    def shape(self, *, clean: bool) -> dict[str, object]:
        """Return it in its JSON shape; ``clean``: the file of the database has no remains of what was deleted."""
        told = {"deleted": self.rows, "usageRows": self.counted, "stays": self.stays}
        return {**told, "noTrace": clean and not self.stays}


async def forget(database: Database, owner: str, by: Author | None = None, *, whole: bool = True) -> Forgotten:
    """Delete what is kept about somebody, in one step. Their searches still count, among those of all others.

    Words of searches that were kept for the board do not say whose they were: all of them go. What the operator has set
    for them goes only where it is ``whole``, for nobody may take away their own budget. The audit log stays, and has a
    line about this where somebody is named who did it.

    Raises:
        SearchError: the database cannot be used, or nobody can have that name.
    """
    if not owner or not is_storable(owner) or owner == OTHERS:
        raise InvalidQuery(Fact("session.bad_owner"))

    def work(connection: Connection) -> Forgotten:
        if whole:
            next_change(connection)  # else servers would let a token of theirs in until they are started anew
        # In the order in which all others lock: what belongs to a conversation behind the conversation.
        connection.execute(select(sessions.c.id).where(sessions.c.owner == owner).with_for_update())
        now, rows = time.time(), {}
        for table in reversed(all_tables()):
            condition = owned_by(table, owner)
            if condition is None or table is usage or table.info.get("outlives"):
                continue
            if not whole:
                condition = and_(condition, _may_delete(table, owner, month_of(now)))
            rows[str(table.name)] = connection.execute(delete(table).where(condition)).rowcount
        rows = {name: count for name, count in rows.items() if count}
        counted = _count_among_others(connection, owner)
        if rows or counted:
            connection.execute(delete(queries))
            if by is not None:
                note(connection, by, Fact("audit.forgotten", name=owner), now)
        return Forgotten(rows, counted, _left(connection, owner))

    return await database.run(work, write=True)


def _may_delete(table: Table, owner: str, month: int) -> ColumnElement[bool]:
    """Return which rows about somebody they may delete themselves."""
    if table is used:  # what is used of this month's budget is used
        return used.c.month < month
    if table is names:  # else they could come back under another name, for which nothing is set
        budget = exists().where(used.c.name == owner, used.c.month >= month)
        return ~or_(exists().where(members.c.name == owner), budget)
    return false() if table.info.get("operators") else true()


def _left(connection: Connection, owner: str) -> dict[str, int]:
    found = {}
    for table in all_tables():
        condition = owned_by(table, owner)
        if condition is not None:
            found[str(table.name)] = connection.scalar(select(func.count()).select_from(table).where(condition)) or 0
    return {name: count for name, count in found.items() if count}


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
