"""How the tables come to be, and how those of older versions are brought up to date.

Versions 1 to 3 stand in ``qiusuo_schema``. From 3 on the history is one line of steps (``migrations``), of which
``qiusuo_revision`` names the last one that was done. ``qiusuo_schema`` stays at 3 as long as servers that know only
version 3 can use the tables beside newer ones; a step with which they cannot raises it, and they refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, func, inspect, select

from qiusuo.chat.stores.database.parts import all_metadata
from qiusuo.chat.stores.database.schema import MAX_ID, held_sessions, sessions, versions
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

SCHEMA_VERSION: Final = 3
HEAD: Final = "0005"
"""The last step that this program knows."""
REVISIONS_TABLE: Final = "qiusuo_revision"
# Any number, as long as it stays the same: whoever creates or changes the tables holds it.
_CREATION_LOCK: Final = 7_117_051_968

# As Alembic makes it; here, so that Alembic is not needed where there is nothing to do.
revisions: Final = Table(
    REVISIONS_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{REVISIONS_TABLE}_pkc"),
)

# There as long as another database is being copied into this one.
unfinished: Final = Table("qiusuo_copy_unfinished", MetaData(), Column("id", String(1), primary_key=True))


@dataclass(frozen=True, slots=True)
class SchemaState:
    """What a database says of its tables: the version, None where there are none, and the step since version 3."""

    version: int | None
    revision: str | None

    @property
    def is_current(self) -> bool:
        """Whether nothing is to be done."""
        return self.revision == HEAD

    @property
    def shown(self) -> str:
        """As people are told."""
        return self.revision or (f"{self.version:04}" if self.version is not None else "–")


def create_tables(connection: Connection) -> None:
    """Create what is missing, and bring tables of an older version up to date.

    Several processes may do so at once. The transaction must be a writing one.

    Raises:
        ConfigurationError: a newer version made the tables, or the database cannot hold every text.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_CREATION_LOCK)))
    state = check_version(connection)
    if state.version is not None and not state.is_current:
        _lift(connection, state.version)
        from qiusuo.chat.stores.database.migrations import upgrade  # noqa: PLC0415 - Alembic is loaded only when it is needed

        upgrade(connection)
    for metadata in all_metadata():  # also what somebody has taken away
        metadata.create_all(connection)
    if state.version is None:
        revisions.create(connection, checkfirst=True)
        connection.execute(revisions.delete())
        connection.execute(revisions.insert().values(version_num=HEAD))
        connection.execute(versions.insert().values(version=SCHEMA_VERSION))


def check_version(connection: Connection) -> SchemaState:
    """Return the state of the tables.

    Raises:
        ConfigurationError: as :func:`create_tables`.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            raise ConfigurationError(Fact("store.encoding", encoding=encoding))
    look = inspect(connection)
    if not look.has_table(versions.name):
        return SchemaState(None, None)
    version: int | None = connection.scalar(select(func.max(versions.c.version)))
    if version is not None and version > SCHEMA_VERSION:
        raise ConfigurationError(Fact("store.newer", version=version, known=SCHEMA_VERSION))
    revision: str | None = None
    if look.has_table(REVISIONS_TABLE):
        revision = connection.scalar(select(func.max(revisions.c.version_num)))
    if revision is not None and revision > HEAD:
        raise ConfigurationError(Fact("store.newer", version=revision, known=HEAD))
    return SchemaState(version, revision)


def check_whole(connection: Connection) -> None:
    """See that no copy into this database was broken off.

    Raises:
        ConfigurationError: one was, or is under way.
    """
    if inspect(connection).has_table(unfinished.name):
        raise ConfigurationError(Fact("store.unfinished_copy"))


def _lift(connection: Connection, version: int) -> None:
    """Bring tables of versions 1 and 2 to 3, as far as the first step of the history does not do it."""
    if version == 1:
        connection.exec_driver_sql(f"ALTER TABLE {sessions.name} ADD COLUMN holder VARCHAR({MAX_ID})")
        held_sessions.create(connection)
    if version < SCHEMA_VERSION:
        connection.execute(versions.update().values(version=SCHEMA_VERSION))
