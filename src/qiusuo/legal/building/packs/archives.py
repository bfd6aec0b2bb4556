"""Unpacking of archives that come from elsewhere: nothing is written outside, no links, within limits."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

MAX_ENTRIES: Final = 100_000
MAX_FILE_BYTES: Final = 32 * 1024**2
MAX_WHOLE_BYTES: Final = 1024**3
_CHUNK: Final = 256 * 1024
_REGULAR: Final = (0, stat.S_IFREG)

Wanted = Callable[[PurePosixPath], bool]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in an archive, by its name there."""

    name: str
    size: int
    is_file: bool
    open: Callable[[], IO[bytes] | None]


def is_archive(path: Path) -> bool:
    """Tell whether a file is an archive of a kind that can be unpacked."""
    return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)


def unpack(archive: Path, target: Path, wanted: Wanted) -> int:
    """Write the wanted files of an archive below ``target``, and return how many; its single top folder is dropped.

    Links and devices are left out: nothing of them is written or followed.

    Raises:
        ConfigurationError: it is no archive, is damaged, leads outside, or unpacks to more than a collection would.
    """
    written = whole = 0
    with _opened(archive) as entries:
        listed = list(_bounded(entries, archive))
        top = _common_top(listed)
        for entry in listed:
            path = _inside(entry.name, archive)
            below = PurePosixPath(*path.parts[1:]) if top else path
            if not entry.is_file or not below.parts or not wanted(below):
                continue
            whole += _copy(entry, target.joinpath(*below.parts), archive, MAX_WHOLE_BYTES - whole)
            written += 1
    return written


def _bounded(entries: Iterator[_Entry], archive: Path) -> Iterator[_Entry]:
    """Yield the entries; to go through them unpacks a tar, so what they say of their sizes counts already here."""
    whole = 0
    for count, entry in enumerate(entries, 1):
        whole += entry.size
        if count > MAX_ENTRIES:
            raise _refused("too_many_entries", archive, limit=MAX_ENTRIES)
        if whole > MAX_WHOLE_BYTES:
            raise _refused("unpacks_to_more", archive, limit=MAX_WHOLE_BYTES >> 20)
        yield entry


def _inside(name: str, archive: Path) -> PurePosixPath:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\x00" in name or any(":" in part for part in path.parts[:1]):
        raise _refused("leads_outside", archive, name=name[:200])
    return path


def _common_top(entries: list[_Entry]) -> bool:
    tops = {PurePosixPath(entry.name).parts[:1] for entry in entries}
    return len(tops) == 1 and all(len(PurePosixPath(entry.name).parts) > 1 for entry in entries if entry.is_file)


def _copy(entry: _Entry, place: Path, archive: Path, left: int) -> int:
    """Copy one file; what an entry says of its size is not believed."""
    source = entry.open()
    if source is None or entry.size > MAX_FILE_BYTES:
        raise _refused("entry_too_large", archive, name=entry.name[:200], limit=MAX_FILE_BYTES >> 20)
    place.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with source, place.open("wb") as copy:
        while piece := source.read(_CHUNK):
            size += len(piece)
            if size > MAX_FILE_BYTES:
                raise _refused("entry_too_large", archive, name=entry.name[:200], limit=MAX_FILE_BYTES >> 20)
            if size > left:
                raise _refused("unpacks_to_more", archive, limit=MAX_WHOLE_BYTES >> 20)
            copy.write(piece)
    return size


@contextmanager
def _opened(archive: Path) -> Iterator[Iterator[_Entry]]:
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                yield (_of_zip(packed, info) for info in packed.infolist())
        else:
            with tarfile.open(archive) as packed_tar:
                yield (_of_tar(packed_tar, member) for member in packed_tar)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise _refused("damaged_archive", archive, words=str(error)[:200]) from None


def _of_zip(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Entry:
    kind = stat.S_IFMT(info.external_attr >> 16)
    return _Entry(info.filename, info.file_size, not info.is_dir() and kind in _REGULAR, lambda: packed.open(info))


def _of_tar(packed: tarfile.TarFile, member: tarfile.TarInfo) -> _Entry:
    return _Entry(member.name, member.size, member.isreg(), lambda: packed.extractfile(member))


def copy_folder(source: Path, target: Path, wanted: Wanted) -> int:
    """Copy the wanted files of a folder under the same limits; links are left out."""
    written = whole = 0
    for file in sorted(source.rglob("*")):
        below = PurePosixPath(file.relative_to(source).as_posix())
        if file.is_symlink() or not file.is_file() or not wanted(below):
            continue
        if any(parent.is_symlink() for parent in file.relative_to(source).parents if parent.parts):
            continue
        size = file.stat().st_size
        whole += size
        written += 1
        if written > MAX_ENTRIES:
            raise _refused("too_many_entries", source, limit=MAX_ENTRIES)
        if size > MAX_FILE_BYTES:
            raise _refused("entry_too_large", source, name=str(below), limit=MAX_FILE_BYTES >> 20)
        if whole > MAX_WHOLE_BYTES:
            raise _refused("unpacks_to_more", source, limit=MAX_WHOLE_BYTES >> 20)
        place = target.joinpath(*below.parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    return written


def _refused(code: str, archive: Path, **known: object) -> ConfigurationError:
    return ConfigurationError(Fact(f"legal_packs.{code}", archive=archive.name, **known))
