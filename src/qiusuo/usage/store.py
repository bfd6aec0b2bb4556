"""Sums of searches and answers in SQLite or PostgreSQL, exact however many processes add to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Row, Table, case, delete, func, literal, select

from qiusuo.chat.sessions.session import new_id
from qiusuo.chat.stores.database.connections import Database, Work
from qiusuo.usage.recorder import FAILING, HOUR, OTHERS, SEARCH, SLOW, Batch
from qiusuo.usage.schema import (
    KEYS,
    SUMS,
    lock_for_adding,
    lock_for_folding,
    queries,
    usage,
    writers,
)

T = TypeVar("T")

DAY: Final = 24 * HOUR
HOURLY_DAYS: Final = 7
"""Older hours are folded into days."""
MAX_ROWS: Final = 500_000
MAX_QUERIES_A_DAY: Final = 50
MAX_OWNERS_TOLD: Final = 200
_WRITERS_KEPT: Final = 30 * DAY


@dataclass(frozen=True, slots=True)
class Sums:
    """What was counted under one slot of time, kind, name and outcome (``slot`` 0: in all of the time)."""

    slot: int
    kind: str
    name: str
    outcome: str
    owner: str
    n: int
    saved: int
    tokens_in: int
    tokens_out: int
    histogram: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptQuery:
    """Words that were searched for."""

    kind: str
    query: str
    n: int
    ms: int
    outcome: str


class UsageStore:
    """Adds up and reads. May be used from several event loops, as the database may."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, most_rows: int = MAX_ROWS
    ) -> None:
        self.database = database
        self._clock = clock
        self._most_rows = most_rows
        self._id = new_id()

    async def add(self, batch: Batch) -> None:
        """Add counts to those that are there; a batch that was added before is left alone.

        Raises:
            SearchError: the database cannot be used; the same batch may be sent again.
        """
        span = {"span": HOUR}
        # In the order of the keys: processes that add to the same rows must not wait for one another in a circle.
        sums = [
            {**span, **key._asdict(), **dict(zip(SUMS, counts, strict=True))}
            for key, counts in sorted(batch.counts.items())
        ]
        words = [
            {**key._asdict(), "n": count.n, "ms": count.ms, "outcome": count.outcome}
            for key, count in sorted(batch.queries.items(), key=lambda entry: entry[0])
        ]
        mine = {"id": self._id, "batch": batch.number, "at": int(self._clock())}

        def work(connection: Connection) -> None:
            lock_for_adding(connection)
            # First of all: the same batch may still be on its way over another connection, and is waited for here.
            if connection.execute(_claiming(connection), mine).first() is None:
                return
            if sums:
                connection.execute(adding(connection), sums)
            if words:
                connection.execute(_adding_queries(connection), words)

        await self._run(work, write=True)

    async def tidy(self, days: int, *, keep_queries: bool = False) -> None:
        """Fold old hours into days, and delete what is older than ``days``; none of them keeps nothing.

        Raises:
            SearchError: the database cannot be used.
        """
        today = int(self._clock()) // DAY * DAY

        def work(connection: Connection) -> None:
            lock_for_folding(connection)
            oldest = today - days * DAY if days else today + DAY
            connection.execute(delete(usage).where(usage.c.bucket < oldest))
            connection.execute(delete(queries).where(queries.c.bucket < (oldest if keep_queries else today + DAY)))
            connection.execute(delete(writers).where(writers.c.at < self._clock() - _WRITERS_KEPT))
            _fold(connection, today - HOURLY_DAYS * DAY)
            _keep_queries_few(connection)
            self._keep_rows_few(connection)

        await self._run(work, write=True)

    async def sums(self, since: int, *, slot: int = 0, owner: str | None = None) -> list[Sums]:
        """Return what was counted since a moment, by slots of so many seconds; of one owner, or of all together.

        Raises:
            SearchError: the database cannot be used.
        """
        at = usage.c.bucket - usage.c.bucket % slot if slot else literal(0)
        by = (at.label("slot"), usage.c.kind, usage.c.name, usage.c.outcome)
        wanted = select(*by, *(func.sum(usage.c[name]).label(name) for name in SUMS)).where(usage.c.bucket >= since)
        if owner is not None:
            wanted = wanted.where(usage.c.owner == owner)
        wanted = wanted.group_by(*(("slot",) if slot else ()), usage.c.kind, usage.c.name, usage.c.outcome)

        def work(connection: Connection) -> list[Sums]:
            return [_sums(row, row.slot, row.name, owner or "") for row in connection.execute(wanted)]

        return await self._run(work)

    async def by_owner(self, since: int) -> list[Sums]:
        """Return what was counted of each owner, those with most searches first, and no more than can be read.

        Raises:
            SearchError: the database cannot be used.
        """
        mine = (usage.c.bucket >= since, usage.c.owner != "")
        searches = func.sum(case((usage.c.kind == SEARCH, usage.c.n), else_=0))
        first = select(usage.c.owner).where(*mine).group_by(usage.c.owner)
        first = first.order_by(searches.desc(), usage.c.owner).limit(MAX_OWNERS_TOLD)
        wanted = select(
            usage.c.owner, usage.c.kind, usage.c.outcome, *(func.sum(usage.c[name]).label(name) for name in SUMS)
        )
        wanted = wanted.where(*mine, usage.c.owner.in_(first))
        wanted = wanted.group_by(usage.c.owner, usage.c.kind, usage.c.outcome)

        def work(connection: Connection) -> list[Sums]:
            return [_sums(row, 0, "", row.owner) for row in connection.execute(wanted)]

        return await self._run(work)

    async def queries(self, since: int, limit: int = 10) -> list[KeptQuery]:
        """Return the words of the slowest searches, and of those that found nothing.

        Raises:
            SearchError: the database cannot be used.
        """

        def work(connection: Connection) -> list[KeptQuery]:
            found = []
            n, ms = func.sum(queries.c.n), func.max(queries.c.ms)
            for kind in (SLOW, FAILING):
                wanted = select(queries.c.query, n.label("n"), ms.label("ms"), func.max(queries.c.outcome).label("end"))
                wanted = wanted.where(queries.c.bucket >= since - since % DAY, queries.c.kind == kind)
                order = ms if kind == SLOW else n
                wanted = wanted.group_by(queries.c.query).order_by(order.desc(), queries.c.query).limit(limit)
                found += [
                    KeptQuery(kind, row.query, int(row.n), int(row.ms), row.end) for row in connection.execute(wanted)
                ]
            return found

        return await self._run(work)

    async def _run(self, work: Work[T], *, write: bool = False) -> T:
        return await self.database.run(work, write=write)

    def _keep_rows_few(self, connection: Connection) -> None:
        """Count the people of the oldest days together where there are too many rows."""
        rows = connection.scalar(select(func.count()).select_from(usage)) or 0
        if rows > self._most_rows:
            middle = select(usage.c.bucket).order_by(usage.c.bucket).offset(rows // 2).limit(1)
            _fold(connection, int(connection.scalar(middle) or 0) // DAY * DAY + DAY, owners=False)


def _sums(row: Row[Any], slot: int, name: str, owner: str) -> Sums:
    n, saved, tokens_in, tokens_out, *histogram = (int(getattr(row, each)) for each in SUMS)
    return Sums(
        int(slot), row.kind, name, row.outcome, owner, n, saved, tokens_in, tokens_out, histogram=tuple(histogram)
    )


def _insert(connection: Connection, table: Table) -> Any:
    # Only the one that is used: the other would take 50 ms to load.
    return import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)


def _claiming(connection: Connection) -> Any:
    """Return the statement that notes the number of a batch; it returns a row unless the batch was added before."""
    insert = _insert(connection, writers)
    new, news = writers.c.batch < insert.excluded.batch, {"batch": insert.excluded.batch, "at": insert.excluded.at}
    return insert.on_conflict_do_update(index_elements=["id"], set_=news, where=new).returning(writers.c.id)


def adding(connection: Connection) -> Any:
    """Return the statement that adds to rows which are there, and makes those that are not."""
    insert = _insert(connection, usage)
    added = {name: usage.c[name] + insert.excluded[name] for name in SUMS}
    return insert.on_conflict_do_update(index_elements=list(KEYS), set_=added)


def _adding_queries(connection: Connection) -> Any:
    insert = _insert(connection, queries)
    longer = case((insert.excluded.ms > queries.c.ms, insert.excluded.ms), else_=queries.c.ms)
    changed = {"n": queries.c.n + insert.excluded.n, "ms": longer, "outcome": insert.excluded.outcome}
    return insert.on_conflict_do_update(index_elements=["bucket", "kind", "query"], set_=changed)


def _fold(connection: Connection, before: int, *, owners: bool = True) -> None:
    """Make days of the hours before a moment, the beginning of a day; without ``owners`` of all people together."""
    # Nobody's rows stay nobody's.
    owner = usage.c.owner if owners else case((usage.c.owner == "", ""), else_=OTHERS)
    old = usage.c.bucket < before
    if owners:
        old &= usage.c.span == HOUR
    day = usage.c.bucket - usage.c.bucket % DAY
    by = (day, usage.c.kind, usage.c.name, usage.c.outcome, owner)
    sums = [func.sum(usage.c[name]) for name in SUMS]
    found = connection.execute(select(*by, *sums).where(old).group_by(*by)).all()
    if not found:
        return
    connection.execute(delete(usage).where(old))
    rows = [dict(zip((*KEYS, *SUMS), (DAY, *row[: len(by)], *map(int, row[len(by) :])), strict=True)) for row in found]
    connection.execute(adding(connection), rows)


def _keep_queries_few(connection: Connection) -> None:
    weight = case((queries.c.kind == SLOW, queries.c.ms), else_=queries.c.n)
    place = func.row_number().over(
        partition_by=(queries.c.bucket, queries.c.kind), order_by=(weight.desc(), queries.c.query)
    )
    ranked = select(queries.c.bucket, queries.c.kind, queries.c.query, place.label("place")).subquery()
    surplus = select(ranked.c.bucket, ranked.c.kind, ranked.c.query).where(ranked.c.place > MAX_QUERIES_A_DAY)
    for bucket, kind, query in connection.execute(surplus).all():
        connection.execute(
            delete(queries).where(queries.c.bucket == bucket, queries.c.kind == kind, queries.c.query == query)
        )
