"""All tables of one database copied into another, of the same kind or not.

The rows go over in batches. Until the last one is there and was compared, the target has a mark; a copy that was broken
off is seen by it, and begun anew with the next try. The source is only read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, String, Table, delete, func, inspect, literal, select, tuple_

from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.history import unfinished
from qiusuo.chat.stores.database.parts import all_tables
from qiusuo.chat.stores.database.schema import holders, versions
from qiusuo.data.backup import Tell
from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.words import Fact

BATCH: Final = 200
_BATCH_CHARS: Final = 4_000_000
"""A batch is over sooner where its rows are so large."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Copied:
    """How many rows of each table were copied."""

    rows: Mapping[str, int]


async def copy_all(source: Database, target: Database, *, replace: bool, tell: Tell) -> Copied:
    """Copy all rows. The target must be empty, unless what is in it is to be replaced.

    Raises:
        InvalidQuery: the target has something in it.
        ConfigurationError: the copy is not what the source was; somebody has written meanwhile.
        SearchError: one of the databases cannot be used.
    """
    tables = _tables()
    if source.address == target.address:
        raise InvalidQuery(Fact("data.same_database"))
    target.takes_copy = True
    counts = await source.run(lambda to: _counts(to, tables))
    whole, done = sum(counts.values()), 0

    def begin(connection: Connection) -> None:
        broken_off = inspect(connection).has_table(unfinished.name)
        if not replace and not broken_off and any(_counts(connection, tables).values()):
            raise InvalidQuery(Fact("data.target_not_empty"), place=target.address.shown)
        unfinished.create(connection, checkfirst=True)
        for table in reversed(tables):
            connection.execute(delete(table))

    await target.run(begin, write=True)
    digests = {}
    for table in tables:
        digest, last = sha256(), None
        while rows := await source.run(lambda to, table=table, last=last: _batch(to, table, last)):  # type: ignore[misc]
            await target.run(lambda to, table=table, rows=rows: _insert(to, table, rows), write=True)  # type: ignore[misc]
            _note(digest, rows)
            last = _key(table, rows[-1])
            done += len(rows)
            tell(Fact("data.copying"), done, max(whole, done))
        digests[table.name] = digest.hexdigest()
    found = await target.run(lambda to: _digests(to, tables, tell))
    now = await source.run(lambda to: _digests(to, tables, tell))
    if found != digests or now != digests:
        raise ConfigurationError(Fact("data.copy_differs"), place=source.address.shown)
    copied = Copied(await target.run(lambda to: _counts(to, tables)))

    def finish(connection: Connection) -> None:
        _count_on(connection, tables)
        unfinished.drop(connection)

    await target.run(finish, write=True)
    return copied


def _tables() -> list[Table]:
    """Return what is copied: all but what belongs to a database itself, and the signs of life of its servers."""
    aside = {versions.name, holders.name}
    return [table for table in all_tables() if table.name not in aside]


def _counts(connection: Connection, tables: list[Table]) -> dict[str, int]:
    return {str(table.name): connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


def _wanted(connection: Connection, table: Table, last: tuple[Any, ...] | None) -> Select[Any]:
    # Both kinds of database must sort alike: by the bytes.
    bytewise = "C" if connection.dialect.name == "postgresql" else "BINARY"
    columns = list(table.primary_key)
    keys = [column.collate(bytewise) if isinstance(column.type, String) else column for column in columns]
    wanted = select(table).order_by(*keys).limit(BATCH)
    if last is None:
        return wanted
    values = [literal(value, column.type) for column, value in zip(columns, last, strict=True)]
    return wanted.where(tuple_(*keys) > tuple_(*values))


def _batch(connection: Connection, table: Table, last: tuple[Any, ...] | None) -> list[Row]:
    wanted = _wanted(connection, table, last)
    found: list[Row] = []
    size = 0
    for row in connection.execute(wanted).mappings():
        found.append(dict(row))
        size += sum(len(str(value)) for value in row.values())
        if size > _BATCH_CHARS:
            break
    return found


def _insert(connection: Connection, table: Table, rows: list[Row]) -> None:
    connection.execute(table.insert(), rows)


def _count_on(connection: Connection, tables: list[Table]) -> None:
    """Let PostgreSQL give numbers behind those that were copied: rows with a number of their own do not move it on.

    SQLite looks at the rows themselves.
    """
    if connection.dialect.name != "postgresql":
        return
    for table in tables:
        for column in table.primary_key:
            sequence = (
                connection.scalar(select(func.pg_get_serial_sequence(table.name, column.name)))
                if isinstance(column.type, Integer)
                else None
            )
            if sequence is not None:
                highest = connection.scalar(select(func.max(column)))
                connection.execute(select(func.setval(sequence, highest or 1, highest is not None)))


def _key(table: Table, row: Row) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in table.primary_key)


def _note(digest: Any, rows: list[Row]) -> None:
    for row in rows:
        digest.update(json.dumps(list(row.values()), ensure_ascii=False, sort_keys=True).encode("utf-8", "replace"))


def _digests(connection: Connection, tables: list[Table], tell: Tell) -> dict[str, str]:
    found = {}
    for place, table in enumerate(tables):
        digest = sha256()
        for rows in _batches(connection, table):
            _note(digest, rows)
        found[str(table.name)] = digest.hexdigest()
        tell(Fact("data.comparing"), place + 1, len(tables))
    return found


def _batches(connection: Connection, table: Table) -> Iterator[list[Row]]:
    last = None
    while rows := _batch(connection, table, last):
        yield rows
        last = _key(table, rows[-1])
