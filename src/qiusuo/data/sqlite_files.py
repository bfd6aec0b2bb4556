"""SQLite files as a whole: what is in them, and whether they are sound."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from qiusuo.chat.stores.database.history import REVISIONS_TABLE
from qiusuo.chat.stores.database.schema import versions
from qiusuo.errors import ConfigurationError, Unavailable
from qiusuo.words import Fact

BUSY_SECONDS: Final = 10.0
CHUNK: Final = 1024 * 1024
_PREFIX: Final = "qiusuo_"


@contextmanager
def opened(path: Path, *, seconds: float = BUSY_SECONDS) -> Iterator[sqlite3.Connection]:
    """Open a file that must be there; errors of SQLite become ours.

    Raises:
        Unavailable: it cannot be used at the moment.
        ConfigurationError: it is no database, or damaged.
    """
    try:
        address = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=seconds, isolation_level=None)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise explained(error, path) from None


def explained(error: sqlite3.Error, path: Path) -> ConfigurationError | Unavailable:
    """Put an error of SQLite into words that help."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return ConfigurationError(Fact("data.damaged"), place=str(path))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Unavailable(Fact("store.locked"), place=str(path))
    if name.startswith("SQLITE_FULL"):
        return Unavailable(Fact("store.disk_full"), place=str(path))
    return Unavailable(Fact("store.unusable"), place=str(path))


def check_sound(connection: sqlite3.Connection, path: Path) -> None:
    """See that a database is whole.

    Raises:
        ConfigurationError: it is not.
    """
    told = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if told != "ok" or connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise ConfigurationError(Fact("data.damaged"), place=str(path))


def tables_in(connection: sqlite3.Connection) -> list[str]:
    """Return the names of our tables."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in found if name.startswith(_PREFIX)]


def counts_in(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many rows each of our tables has."""
    counted = {}
    for name in tables_in(connection):
        counted[name] = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - ours
    return counted


def schema_of(connection: sqlite3.Connection) -> str:
    """Return the state of the tables: the last step of their history, or the version before there was one."""
    names = tables_in(connection)
    for table, column in ((REVISIONS_TABLE, "version_num"), (versions.name, "version")):
        if table in names:
            found = connection.execute(f'SELECT max("{column}") FROM "{table}"').fetchone()[0]  # noqa: S608 - ours
            if found is not None:
                return f"{int(found):04}" if str(found).isdecimal() else str(found)
    return ""


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()
