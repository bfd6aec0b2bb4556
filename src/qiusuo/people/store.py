"""Tokens and what was used of them, in SQLite or PostgreSQL. Whoever changes a token notes it in the same step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from sqlalchemy import Connection, Row, Table, delete, func, insert, or_, select, update

from qiusuo.chat.stores.database.schema import MAX_ID, storable
from qiusuo.errors import InvalidQuery, LimitReached
from qiusuo.people.audit import Noted
from qiusuo.people.audit_store import row_of
from qiusuo.people.members import MOST_MEMBERS, Grant, Member, Secret, Used, limits_shape
from qiusuo.people.person import Allowance, Role
from qiusuo.people.schema import PeopleTables, audit, changes, members, used
from qiusuo.words import Fact

_ROW: Final = 1
_MONTHS_KEPT: Final = 100
"""As the number of a month is written: those of the last year."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes something, from where; ``noted``: whether the audit log is kept."""

    name: str
    address: str = ""
    noted: bool = True


class PeopleStore:
    """Reads and changes tokens. May be used by any number of processes at once."""

    def __init__(self, tables: PeopleTables, *, clock: Callable[[], float] = time.time) -> None:
        self.tables = tables
        self._clock = clock

    # Reading
    @property
    def is_there(self) -> bool:
        """Whether there is a database at all: to look must not create a file."""
        path = self.tables.database.address.path
        return path is None or path.exists()

    async def look(self, known: int | None, month: int) -> tuple[int, dict[str, Member] | None, dict[str, Used]]:
        """Return the number of the last change, everybody where it is not the known one, and what a month has used.

        Raises:
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> tuple[int, dict[str, Member] | None, dict[str, Used]]:
            number = connection.scalar(select(changes.c.number)) or 0
            found = None if number == known else _everybody(connection)
            rows = connection.execute(select(used).where(used.c.month == month))
            return int(number), found, {row.name: Used(int(row.searches), int(row.tokens)) for row in rows}

        return await self.tables.run(work)

    async def everybody(self) -> dict[str, Member]:
        """Return all people by their names.

        Raises:
            SearchError: the database cannot be used.
        """
        return await self.tables.run(_everybody)

    # Changing
    async def add(self, name: str, grant: Grant, by: Author) -> Secret:
        """Add somebody; the token is told this once.

        Raises:
            InvalidQuery: there is somebody of that name.
            LimitReached: there are as many as there may be.
            SearchError: the database cannot be used.
        """
        secret, now = Secret.new(), int(self._clock())
        values = {"name": name, "mark": secret.mark, "digest": secret.digest, "made_at": now, **_columns(grant)}

        def work(connection: Connection) -> None:
            next_change(connection)
            if connection.scalar(select(members.c.name).where(members.c.name == name)) is not None:
                raise InvalidQuery(Fact("people.name_taken", name=name))
            if (connection.scalar(select(func.count()).select_from(members)) or 0) >= MOST_MEMBERS:
                raise LimitReached(Fact("people.too_many", most=MOST_MEMBERS))
            connection.execute(insert(members), values)
            self._note(connection, by, Fact("audit.token_added", name=name, role=grant.role.value))

        await self.tables.run(work, write=True)
        return secret

    async def rotate(self, name: str, by: Author) -> Secret:
        """Give somebody another token; the one before it ends.

        Raises:
            InvalidQuery: there is nobody of that name.
            SearchError: the database cannot be used.
        """
        secret = Secret.new()

        def work(connection: Connection) -> None:
            next_change(connection)
            new = {"mark": secret.mark, "digest": secret.digest, "made_at": int(self._clock()), "used_at": None}
            if not connection.execute(update(members).where(members.c.name == name).values(new)).rowcount:
                raise _nobody(name)
            self._note(connection, by, Fact("audit.token_rotated", name=name))

        await self.tables.run(work, write=True)
        return secret

    async def change(self, name: str, to: Callable[[Grant], Grant], by: Author) -> Member:
        """Change what is set for somebody.

        Raises:
            InvalidQuery: there is nobody of that name, or it cannot be set so.
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> Member:
            next_change(connection)
            before = _everybody(connection, name).get(name)
            if before is None:
                raise _nobody(name)
            grant = to(before.grant)
            connection.execute(update(members).where(members.c.name == name).values(_columns(grant)))
            shape, old = ({"role": each.role.value, **limits_shape(each)} for each in (grant, before.grant))
            names = [key for key, value in shape.items() if value != old[key]]
            if names:
                self._note(connection, by, Fact("audit.token_changed", name=name, names=names))
            return Member(name, before.mark, before.digest, grant, before.made_at, before.used_at)

        return await self.tables.run(work, write=True)

    async def revoke(self, name: str, by: Author) -> None:
        """End somebody's token; their conversations stay.

        Raises:
            InvalidQuery: there is nobody of that name.
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> None:
            next_change(connection)
            if not connection.execute(delete(members).where(members.c.name == name)).rowcount:
                raise _nobody(name)
            self._note(connection, by, Fact("audit.token_revoked", name=name))

        await self.tables.run(work, write=True)

    # Counting
    async def add_used(self, month: int, spent: Mapping[str, Used], seen: Mapping[str, int]) -> None:
        """Add what people have used in a month, and when their tokens were used last (by their marks).

        Raises:
            SearchError: the database cannot be used.
        """
        # In order: processes that add to the same rows must not wait for one another in a circle.
        rows = [
            {"month": month, "name": storable(name)[:MAX_ID], "searches": each.searches, "tokens": each.tokens}
            for name, each in sorted(spent.items())
        ]

        def work(connection: Connection) -> None:
            if rows:
                connection.execute(_adding(connection, used), rows)
            for mark, at in sorted(seen.items()):
                earlier = or_(members.c.used_at.is_(None), members.c.used_at < at)
                connection.execute(update(members).where(members.c.mark == mark, earlier).values(used_at=at))

        await self.tables.run(work, write=True)

    async def tidy(self, month: int) -> None:
        """Forget what was used more than a year before a month.

        Raises:
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> None:
            connection.execute(delete(used).where(used.c.month < month - _MONTHS_KEPT))

        await self.tables.run(work, write=True)

    def _note(self, connection: Connection, by: Author, fact: Fact) -> None:
        note(connection, by, fact, self._clock())


def note(connection: Connection, by: Author, fact: Fact, now: float) -> None:
    """Write a line into the audit log, where it is kept, in the same step as what it tells of."""
    if by.noted:
        connection.execute(insert(audit), row_of(Noted(int(now), by.name, by.address, fact)))


def _nobody(name: str) -> InvalidQuery:
    return InvalidQuery(Fact("people.nobody", name=name[:60]))


def _everybody(connection: Connection, name: str | None = None) -> dict[str, Member]:
    wanted = select(members) if name is None else select(members).where(members.c.name == name)
    return {row.name: _member(row) for row in connection.execute(wanted.order_by(members.c.name))}


def _member(row: Row[Any]) -> Member:
    allowance = Allowance(
        row.per_minute,
        row.searches,
        row.tokens,
        None if row.engines is None else frozenset(row.engines),
        None if row.models is None else frozenset(row.models),
    )
    # One that a later version has brought is no operator to us.
    role = Role(row.role) if row.role in set(Role) else Role.USER
    return Member(row.name, row.mark, row.digest, Grant(role, row.ends_at, allowance), row.made_at, row.used_at)


def _columns(grant: Grant) -> dict[str, Any]:
    allowance = grant.allowance
    return {
        "role": grant.role.value,
        "ends_at": grant.ends_at,
        "per_minute": allowance.per_minute,
        "searches": allowance.searches,
        "tokens": allowance.tokens,
        "engines": None if allowance.engines is None else sorted(allowance.engines),
        "models": None if allowance.models is None else sorted(allowance.models),
    }


def _insert(connection: Connection, table: Table) -> Any:
    # Only the one that is used: the other would take 50 ms to load.
    return import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)


def next_change(connection: Connection) -> None:
    """Let all servers know that something changes; who changes something else meanwhile waits here."""
    first = _insert(connection, changes).values(id=_ROW, number=1)
    connection.execute(first.on_conflict_do_update(index_elements=["id"], set_={"number": changes.c.number + 1}))


def _adding(connection: Connection, table: Table) -> Any:
    new = _insert(connection, table)
    sums = {name: table.c[name] + new.excluded[name] for name in ("searches", "tokens")}
    return new.on_conflict_do_update(index_elements=["month", "name"], set_=sums)
