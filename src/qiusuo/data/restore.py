"""A backup brought back: looked at from all sides first, then put in the place of the database in one step."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final

from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.opening import Address, servers_folder
from qiusuo.chat.stores.presence import living
from qiusuo.data.backup import Tell
from qiusuo.data.manifest import DATABASE, LARGEST, MANIFEST, Manifest
from qiusuo.data.sqlite_files import CHUNK, check_sound, counts_in, opened
from qiusuo.data.writing import sync_folder
from qiusuo.errors import ConfigurationError, InvalidQuery, SessionBusy
from qiusuo.words import Fact

_LOGS: Final = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back, and where the former database is now (None: there was none)."""

    manifest: Manifest
    former: Path | None


def restore(address: Address, source: Path, *, tell: Tell) -> Restored:
    """Put a backup in the place of a SQLite database; the former one stays beside it.

    Raises:
        SessionBusy: a server uses the database.
        SearchError: the file is no sound backup, or of a newer version; or it cannot be put there.
    """
    database, folder = address.path, servers_folder(address)
    if database is None:
        raise ConfigurationError(Fact("data.in_memory"))
    _refuse_in_use(folder, database)
    source = source.expanduser()
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{database.name}-", dir=database.parent) as place:
            copy = Path(place) / DATABASE
            manifest = _unpack(source, copy, tell)
            _check(copy, manifest)
            asyncio.run(_migrate(copy))
            _refuse_in_use(folder, database)
            return Restored(manifest, _swap(copy, database))
    except OSError as error:
        raise ConfigurationError(Fact("data.cannot_write", why=error.strerror or ""), place=str(database)) from None


def read_manifest(source: Path) -> Manifest:
    """Return what a backup says about itself.

    Raises:
        ConfigurationError: it is no backup.
    """
    try:
        with zipfile.ZipFile(source) as archive, archive.open(MANIFEST) as file:
            return Manifest.from_json(file.read(LARGEST))
    except FileNotFoundError:
        raise InvalidQuery(Fact("data.no_such_file"), place=str(source)) from None
    except (OSError, zipfile.BadZipFile, KeyError, zlib.error, NotImplementedError):
        raise ConfigurationError(Fact("data.no_backup"), place=str(source)) from None


def _refuse_in_use(folder: Path | None, database: Path) -> None:
    if folder is not None and living(folder):
        raise SessionBusy(Fact("data.in_use"), place=str(database))


def _unpack(source: Path, copy: Path, tell: Tell) -> Manifest:
    manifest, digest, done = read_manifest(source), sha256(), 0
    file = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with (
            os.fdopen(file, "wb") as out,
            zipfile.ZipFile(source) as archive,
            archive.open(DATABASE) as inside,
        ):
            # No more than it should be: a file that swells must not fill the disk.
            while (piece := inside.read(CHUNK)) and done <= manifest.size:
                out.write(piece)
                digest.update(piece)
                done += len(piece)
                tell(Fact("data.unpacking"), done, manifest.size)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, KeyError, zlib.error, EOFError):
        raise ConfigurationError(Fact("data.damaged_backup"), place=str(source)) from None
    if done != manifest.size or digest.hexdigest() != manifest.sha256:
        raise ConfigurationError(Fact("data.damaged_backup"), place=str(source))
    return manifest


def _check(copy: Path, manifest: Manifest) -> None:
    with opened(copy) as connection:
        check_sound(connection, copy)
        if counts_in(connection) != manifest.counts:
            raise ConfigurationError(Fact("data.damaged_backup"), place=str(copy))


async def _migrate(copy: Path) -> None:
    """Bring the tables of an older version up to date; a newer one is refused."""
    database = Database(Address("sqlite", str(copy), path=copy))
    try:
        await database.run(lambda _: None)
    finally:
        await database.aclose()
    _settle(copy)


def _settle(path: Path) -> None:
    """Bring what stands in SQLite's log into the file itself; it can be done only where nobody else has it open."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()


def _swap(copy: Path, database: Path) -> Path | None:
    former = _free_name(database) if database.exists() else None
    if former is not None:
        try:
            _settle(database)
        except sqlite3.Error as error:
            if (getattr(error, "sqlite_errorname", "") or "").startswith("SQLITE_BUSY"):
                raise SessionBusy(Fact("data.in_use"), place=str(database)) from None
            # Damaged: perhaps the very reason for this. Its log goes with it.
        # It keeps its name until the other one takes it: there is a database at each moment.
        try:
            os.link(database, former)
        except OSError:
            shutil.copy2(database, former)
    for ending in _LOGS:  # of the former one; SQLite would write it into the new one
        log = database.with_name(database.name + ending)
        if log.exists():
            log.replace(former.with_name(former.name + ending) if former else copy.with_name(f"old{ending}"))
    copy.replace(database)
    sync_folder(database.parent)
    return former


def _free_name(database: Path) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    names = (f"{database.name}.before-{moment}{f'-{number}' if number else ''}" for number in count())
    return next(path for name in names if not (path := database.with_name(name)).exists())
