"""The tables of people, in the database of conversations."""

from __future__ import annotations

from typing import Final, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    func,
    select,
)

from qiusuo.chat.stores.database.connections import Database, Work
from qiusuo.chat.stores.database.schema import MAX_ID
from qiusuo.errors import Unavailable

T = TypeVar("T")

# Any number, as long as it stays the same: who creates the tables holds it.
_CREATION_LOCK: Final = 7_117_051_971
MAX_ADDRESS: Final = 64
MAX_CODE: Final = 80
MAX_MARK: Final = 20

metadata: Final = MetaData()

audit: Final = Table(
    "qiusuo_audit",
    metadata,
    # SQLite counts by itself only what it calls an integer.
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    # Seconds since 1970.
    Column("at", BigInteger, nullable=False),
    Column("who", String(MAX_ID), nullable=False, info={"owner": True}),
    Column("address", String(MAX_ADDRESS), nullable=False),
    Column("code", String(MAX_CODE), nullable=False),
    Column("told", JSON, nullable=False, info={"about": "name"}),
    Index("qiusuo_audit_in_time", "at"),
    # It tells also who had everything about themselves deleted; it has an end of its own.
    info={"outlives": True},
)

members: Final = Table(
    "qiusuo_people_tokens",
    metadata,
    Column("name", String(MAX_ID), primary_key=True, info={"owner": True}),
    # The public beginning of the token, by which it is found and shown.
    Column("mark", String(MAX_MARK), nullable=False, unique=True),
    # SHA-256 of the whole token, which stands nowhere.
    Column("digest", String(64), nullable=False, info={"secret": True}),
    Column("role", String(20), nullable=False),
    # Moments are seconds since 1970.
    Column("ends_at", BigInteger),
    Column("per_minute", BigInteger),
    Column("searches", BigInteger),
    Column("tokens", BigInteger),
    Column("engines", JSON(none_as_null=True)),
    Column("models", JSON(none_as_null=True)),
    Column("made_at", BigInteger, nullable=False),
    Column("used_at", BigInteger),
    info={"operators": True},
)

# One row: with each change of the tokens its number grows, so that servers see by one look whether to read them.
changes: Final = Table(
    "qiusuo_people_changes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
)

# What people have used in each month of UTC (as 202611).
used: Final = Table(
    "qiusuo_people_used",
    metadata,
    Column("month", Integer, primary_key=True, autoincrement=False),
    Column("name", String(MAX_ID), primary_key=True, info={"owner": True}),
    Column("searches", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    info={"operators": True},
)


class PeopleTables:
    """Runs work on these tables, which are made before the first of it. The database may be used by others too."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._ready = False

    async def run(self, work: Work[T], *, write: bool = False) -> T:
        """Run work in a transaction.

        Raises:
            SearchError: the database cannot be used.
        """
        if not self._ready:
            await self.database.run(create_tables, write=True)
            self._ready = True
        try:
            return await self.database.run(work, write=write)
        except Unavailable as error:
            if error.fact.code == "store.tables_gone":  # another database was put in the place
                self._ready = False
            raise


def create_tables(connection: Connection) -> None:
    """Create what is missing; several processes may do so at once. The transaction must be a writing one."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_CREATION_LOCK)))
    metadata.create_all(connection)
