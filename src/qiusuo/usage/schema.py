"""The tables of sums, in the database of conversations."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Connection, Index, Integer, MetaData, String, Table, Text, func, select

from qiusuo.chat.stores.database.schema import MAX_ID
from qiusuo.usage.histogram import PARTS

# Any number, as long as it stays the same: who folds sums holds it.
_FOLDING_LOCK: Final = 7_117_051_970

metadata: Final = MetaData()

SUMS: Final = ("n", "saved", "tokens_in", "tokens_out", *(f"h{part:02}" for part in range(PARTS)))
"""What is added up, in the order in which the recorder has it: the last ones are the histogram."""
KEYS: Final = ("span", "bucket", "kind", "name", "outcome", "owner")

usage: Final = Table(
    "qiusuo_usage",
    metadata,
    # How many seconds a row stands for: an hour, or the day of UTC into which old hours are folded.
    Column("span", Integer, primary_key=True, autoincrement=False),
    # When they began, in seconds since 1970.
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), primary_key=True),
    Column("name", String(MAX_ID), primary_key=True),
    Column("outcome", String(40), primary_key=True),
    Column("owner", String(MAX_ID), primary_key=True),
    *(Column(name, BigInteger, nullable=False) for name in SUMS),
    Index("qiusuo_usage_in_time", "bucket"),
)

# Only where the operator wants it: words of searches, without whose they were.
queries: Final = Table(
    "qiusuo_usage_queries",
    metadata,
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), primary_key=True),
    Column("query", Text, primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("ms", BigInteger, nullable=False),
    Column("outcome", String(40), nullable=False),
)

# The last batch of each process: one that is sent again, since nobody heard of its success, is not added twice.
writers: Final = Table(
    "qiusuo_usage_writers",
    metadata,
    Column("id", String(MAX_ID), primary_key=True),
    Column("batch", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
)


def lock_for_adding(connection: Connection) -> None:
    """Keep others from folding until the transaction ends; SQLite has one writer at a time anyway."""
    _lock(connection, "pg_advisory_xact_lock_shared", _FOLDING_LOCK)


def lock_for_folding(connection: Connection) -> None:
    """Keep others from adding and folding until the transaction ends."""
    _lock(connection, "pg_advisory_xact_lock", _FOLDING_LOCK)


def _lock(connection: Connection, kind: str, number: int) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(select(getattr(func, kind)(number)))
