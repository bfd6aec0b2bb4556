"""A backup of the database in one file, made while servers write."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from qiusuo import __version__
from qiusuo.data.manifest import DATABASE, MANIFEST, Manifest
from qiusuo.data.sqlite_files import (
    BUSY_SECONDS,
    CHUNK,
    check_sound,
    counts_in,
    digest_of,
    explained,
    opened,
    schema_of,
    tables_in,
)
from qiusuo.data.writing import written
from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.words import Fact

Tell = Callable[[Fact, int, int], None]
"""Is told what is being done, how much of it is done, and how much there is."""
LOOK_SECONDS: Final = 0.1


def back_up(database: Path, target: Path, *, force: bool = False, tell: Tell) -> Manifest:
    """Write a backup of a SQLite database; under its name there is the whole backup, or what was there before.

    Raises:
        InvalidQuery: there is such a file, and it is not to be replaced.
        SearchError: there is no database, it is damaged, or the file cannot be written.
    """
    if not database.exists():
        raise ConfigurationError(Fact("data.no_database"), place=str(database))
    if target.exists() and target.samefile(database):
        raise InvalidQuery(Fact("data.there_already"), place=str(target))
    with written(target, force=force) as packed:
        copy = packed.with_name(DATABASE)
        _copy(database, copy, tell)
        manifest = _described(copy)
        _pack(copy, manifest, packed, tell)
    return manifest


def _copy(database: Path, copy: Path, tell: Tell) -> None:
    """Copy the state of one moment; writers go on. What was deleted before does not come along."""
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL, 0o600))
    with opened(database) as source:
        if not tables_in(source):
            raise ConfigurationError(Fact("data.no_database"), place=str(database))
        pages, size, free = (
            source.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size", "freelist_count")
        )
    whole, errors = (pages - free) * size, list[sqlite3.Error]()

    def vacuum() -> None:
        try:
            with closing(sqlite3.connect(database, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
                connection.execute("VACUUM INTO ?", (str(copy),))
        except sqlite3.Error as error:
            errors.append(error)

    work = threading.Thread(target=vacuum, daemon=True)
    work.start()
    while work.is_alive():
        work.join(LOOK_SECONDS)
        tell(Fact("data.copying"), min(copy.stat().st_size, whole), whole)
    if errors:
        raise explained(errors[0], database)


def _described(copy: Path) -> Manifest:
    with opened(copy) as connection:
        check_sound(connection, copy)
        counts, schema = counts_in(connection), schema_of(connection)
    moment = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
    return Manifest(moment, __version__, schema, digest_of(copy), copy.stat().st_size, counts)


def _pack(copy: Path, manifest: Manifest, packed: Path, tell: Tell) -> None:
    with packed.open("wb") as out:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            archive.writestr(MANIFEST, manifest.to_json())
            done = 0
            with copy.open("rb") as source, archive.open(DATABASE, "w", force_zip64=True) as inside:
                while piece := source.read(CHUNK):
                    inside.write(piece)
                    done += len(piece)
                    tell(Fact("data.packing"), done, manifest.size)
        out.flush()
        os.fsync(out.fileno())
