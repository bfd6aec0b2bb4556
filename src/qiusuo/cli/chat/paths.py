"""Files of this machine, as a terminal names them."""

from __future__ import annotations

from pathlib import Path

from qiusuo.errors import FileError
from qiusuo.files import MAX_BYTES
from qiusuo.words import Fact


def file_at(path: str) -> tuple[str, bytes]:
    """Return the name and the content of a file.

    Raises:
        FileError: there is none, it may not be read, or is too large.
    """
    given = path.strip()
    if given[:1] in {'"', "'"} and given[-1:] == given[:1]:  # as terminals write what is dropped on them
        given = given[1:-1]
    try:
        found = Path(given).expanduser()
        there = found.is_file()  # no folder, nor a pipe that never ends
        size = found.stat().st_size if there else 0
        data = found.read_bytes() if there and size <= MAX_BYTES else b""
    except (OSError, ValueError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise FileError(Fact("file.unreadable", path=given, said=said)) from None
    if not there:
        raise FileError(Fact("file.not_there", path=given))
    if size > MAX_BYTES:
        raise FileError(Fact("file.too_large", limit=MAX_BYTES // 1024**2))
    return found.name, data
