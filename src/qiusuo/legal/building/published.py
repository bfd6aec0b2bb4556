"""A generation outside of its index folder: on a shared disk or in an object store, for servers elsewhere to take.

::

    current.json                  names a generation and the hash of its list; written last, in one step
    generations/<name>/list.json  every file with its size and hash
    generations/<name>/...        the files; a name belongs to one content, so none is ever changed

Whoever takes a generation checks every file. What is broken or not all there is refused, and the old one stays.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import orjson

from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.http.guard import DEFAULT_PORTS, FetchPolicy
from qiusuo.http.pages import PageClient
from qiusuo.legal.building.staging import left_over
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.schema import RANKING_VERSION, STORE_VERSION
from qiusuo.words import Fact

POINTER: Final = "current.json"
LIST: Final = "list.json"
TAKEN: Final = "taken.json"
_MAX_LIST_BYTES: Final = 16 * 1024**2
_MAX_FILE_BYTES: Final = 64 * 1024**3
_TIMEOUT: Final = 6 * 3600.0
_CHUNK: Final = 1024 * 1024
_NAME: Final = re.compile(r"[0-9a-f]{16}")
# Object stores give what they do not know as bytes, and lists as what they are.
_KINDS: Final = frozenset(
    {"application/octet-stream", "binary/octet-stream", "application/json", "text/plain", "application/x-sqlite3",
     "application/vnd.sqlite3", ""}
)  # fmt: skip
Share = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of a generation."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of publishing or taking; ``new`` is false where it was there already."""

    name: str
    size: int
    new: bool


class Place(Protocol):
    """Where generations are published: gives files by their path."""

    def bring(self, path: str, target: Path, most: int) -> None:
        """Copy a file, of at most so many bytes.

        Raises:
            ConfigurationError: it is not there, or cannot be read.
        """


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder: a shared disk, or a copy that rsync or a tool of an object store has made."""

    root: Path

    def bring(self, path: str, target: Path, most: int) -> None:
        source = self.root / path
        try:
            if source.stat().st_size > most:
                raise _broken(path)
            shutil.copyfile(source, target)
        except OSError as error:
            raise ConfigurationError(
                Fact("legal_places.unreadable", path=str(source), words=error.strerror or str(error))
            ) from None


@dataclass(frozen=True, slots=True)
class AddressPlace:
    """An address below which the files lie: an object store, or any web server."""

    address: str

    def bring(self, path: str, target: Path, most: int) -> None:
        parts = urlsplit(self.address)
        policy = FetchPolicy(
            allowed_ports=frozenset({80, 443, parts.port or DEFAULT_PORTS.get(parts.scheme, 443)}),
            allow_private=(parts.hostname,) if parts.hostname else (),
            max_bytes=most,
            timeout=_TIMEOUT,
            content_types=_KINDS,
            use_env_proxy=True,
        )
        address = f"{self.address.rstrip('/')}/{path}"
        with target.open("wb") as file:

            def keep(piece: bytes, _whole: int | None) -> None:
                file.write(piece)

            try:
                asyncio.run(PageClient(policy).download(address, keep))
            except SearchError as error:
                raise ConfigurationError(Fact("legal_places.unreadable", path=address, words=error.message)) from None


def place_of(named: str) -> Place:
    """Return the place that a path or an address names."""
    return AddressPlace(named) if "://" in named else FolderPlace(Path(named).expanduser())


def publish(folder: IndexFolder, target: Path, share: Share = lambda _share: None) -> Taken:
    """Copy the current generation to a folder; who reads there sees the former one until all of it is there.

    Raises:
        ConfigurationError: there is no index, or the folder cannot be written.
    """
    generation = folder.current()
    if generation is None:
        raise ConfigurationError(Fact("legal.none", path=folder.root), commands=("qiusuo legal install",))
    LegalIndex(generation).close()  # what cannot be used is not handed on
    files = _listed(generation)
    content = orjson.dumps(
        {"store": STORE_VERSION, "ranking": RANKING_VERSION, "files": [asdict(file) for file in files]}
    )
    digest = hashlib.sha256(content).hexdigest()
    name, total = digest[:16], sum(file.size for file in files)
    before = _pointer(target / POINTER)
    try:
        home = target / "generations" / name
        done = 0
        for file in files:
            _copy_checked(generation / file.path, home / file.path, file)
            done += file.size
            share(done / max(1, total))
        _write(home / LIST, content)
        _write(target / POINTER, orjson.dumps({"generation": name, "list_sha256": digest}))
        _discard(target / "generations", {name, before})
    except OSError as error:
        raise ConfigurationError(
            Fact("legal.unwritable_folder", path=target, words=error.strerror or str(error))
        ) from None
    return Taken(name, total, before != name)


def take(folder: IndexFolder, place: Place, share: Share = lambda _share: None) -> Taken:
    """Bring the generation that is published at a place, check it, and make it the current one.

    Killed in the middle, the next run goes on: files that are whole are not brought again.

    Raises:
        ConfigurationError: it cannot be had, is broken, or is of another version. The old one stays then.
    """
    with folder.writing():
        if left_over(folder) is not None:
            raise ConfigurationError(
                Fact("legal_places.unfinished", path=folder.root), commands=("qiusuo legal rebuild",)
            )
        folder.incoming.mkdir(exist_ok=True)
        name, digest = _named(place, folder.incoming)
        current = folder.current()
        if current is not None and _pointer(current / TAKEN) == name:
            return Taken(name, 0, new=False)
        for other in folder.incoming.iterdir():  # of a generation that is no longer published
            if other.is_dir() and other.name != name:
                shutil.rmtree(other)
        arriving = folder.incoming / name
        files = _list_of(place, name, digest, folder.incoming)
        _bring_all(place, files, arriving, current, share)
        LegalIndex(arriving).close()
        _write(arriving / TAKEN, orjson.dumps({"generation": name, "files": [asdict(file) for file in files]}))
        folder.publish(arriving)
    return Taken(name, sum(file.size for file in files), new=True)


def _bring_all(place: Place, files: list[Listed], target: Path, current: Path | None, share: Share) -> None:
    """Bring the files of a generation; what the current one has too is not brought again."""
    held = {(file.size, file.sha256): current / file.path for file in _held(current)} if current else {}
    total, done = max(1, sum(file.size for file in files)), 0
    for file in files:
        here = target / file.path
        here.parent.mkdir(parents=True, exist_ok=True)
        same = held.get((file.size, file.sha256))
        if not here.exists():
            partial = here.with_name(here.name + ".part")
            if same is not None and same.is_file():
                shutil.copyfile(same, partial)
            else:
                place.bring(f"generations/{target.name}/{file.path}", partial, file.size)
            if not _is(partial, file):
                partial.unlink()
                raise _broken(file.path)
            partial.replace(here)
        elif not _is(here, file):
            here.unlink()
            raise _broken(file.path)
        done += file.size
        share(done / total)
    known = {file.path for file in files}
    for path in list(target.rglob("*")):  # what an earlier try may have left
        if path.is_file() and path.relative_to(target).as_posix() not in known:
            path.unlink()


def _named(place: Place, work: Path) -> tuple[str, str]:
    """Return the name of the generation that is published, and the hash of its list."""
    said = _read(place, POINTER, work)
    name, digest = said.get("generation"), said.get("list_sha256")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(digest, str):
        raise _broken(POINTER)
    return name, digest


def _list_of(place: Place, name: str, digest: str, work: Path) -> list[Listed]:
    said = _read(place, f"generations/{name}/{LIST}", work, digest)
    if (said.get("store"), said.get("ranking")) != (STORE_VERSION, RANKING_VERSION):
        raise ConfigurationError(Fact("legal_places.other_version"))
    try:
        files = [Listed(str(row["path"]), int(row["size"]), str(row["sha256"])) for row in said["files"]]
    except (KeyError, TypeError, ValueError):
        raise _broken(LIST) from None
    for file in files:
        parts = PurePosixPath(file.path).parts
        if not parts or PurePosixPath(file.path).is_absolute() or ".." in parts or "\\" in file.path:
            raise _broken(LIST)
        if not 0 <= file.size <= _MAX_FILE_BYTES:
            raise _broken(LIST)
    return files


def _read(place: Place, path: str, work: Path, digest: str = "") -> dict[str, Any]:
    arrived = work / "read.part"
    place.bring(path, arrived, _MAX_LIST_BYTES)
    content = arrived.read_bytes()
    arrived.unlink()
    if digest and hashlib.sha256(content).hexdigest() != digest:
        raise _broken(path)
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise _broken(path) from None
    if not isinstance(said, dict):
        raise _broken(path)
    return said


def _held(generation: Path) -> list[Listed]:
    """Return the files that a generation has taken; those of one that was built here are not known by their hash."""
    try:
        rows = orjson.loads((generation / TAKEN).read_bytes())["files"]
    except (OSError, orjson.JSONDecodeError, KeyError):
        return []
    return [Listed(**row) for row in rows]


def _listed(generation: Path) -> list[Listed]:
    """Return the files of a generation, without locks and notes of its own."""
    paths = sorted(path for path in generation.rglob("*") if path.is_file())
    wanted = [path for path in paths if path.suffix not in {".lock", ".part"} and path.name != TAKEN]
    return [Listed(path.relative_to(generation).as_posix(), path.stat().st_size, _hash(path)) for path in wanted]


def _pointer(path: Path) -> str:
    try:
        return str(orjson.loads(path.read_bytes())["generation"])
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return ""


def _copy_checked(source: Path, target: Path, file: Listed) -> None:
    if target.exists() and _is(target, file):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    shutil.copyfile(source, partial)
    partial.replace(target)


def _write(path: Path, content: bytes) -> None:
    """Write a small file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _discard(generations: Path, kept: set[str]) -> None:
    """Remove generations but these: whoever takes the former one may be in the middle of it."""
    for path in generations.iterdir():
        if path.is_dir() and path.name not in kept and _NAME.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _is(path: Path, file: Listed) -> bool:
    return path.stat().st_size == file.size and _hash(path) == file.sha256


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _broken(path: str) -> ConfigurationError:
    return ConfigurationError(Fact("legal_places.broken", path=path))
