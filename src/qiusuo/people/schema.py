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

from qiusuo.chat.sessions.store_database import Database, Work
from qiusuo.chat.sessions.store_schema import MAX_ID
from qiusuo.errors import Unavailable

T = TypeVar("T")

# Any number, as long as it stays the same: who creates the tables holds it.
_CREATION_LOCK: Final = 7_117_051_971
MAX_ADDRESS: Final = 64
MAX_CODE: Final = 80

metadata: Final = MetaData()

audit: Final = Table(
    "qiusuo_audit",
    metadata,
    # SQLite counts by itself only what it calls an integer.
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    # Seconds since 1970.
    Column("at", BigInteger, nullable=False),
    Column("who", String(MAX_ID), nullable=False),
    Column("address", String(MAX_ADDRESS), nullable=False),
    Column("code", String(MAX_CODE), nullable=False),
    Column("told", JSON, nullable=False),
    Index("qiusuo_audit_in_time", "at"),
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
