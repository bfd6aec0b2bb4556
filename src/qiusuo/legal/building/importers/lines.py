"""Bounded, tolerant reading of text files: any line length, UTF-8, GB18030, or both in one file."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from qiusuo.errors import InvalidQuery
from qiusuo.words import Fact

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
# What is packed may unpack to so many bytes, or to so many times its size: text packs to a third, not to a hundredth.
MAX_UNPACKED_BYTES: Final = 8 * 1024**3
MAX_RATIO: Final = 50
EXCERPT_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Line:
    """One line. ``text`` is None where it cannot be used, and ``problem`` says why.

    ``place`` is how many bytes of the file had been read with it, as they lie on the disk.
    """

    text: str | None
    problem: str = ""
    excerpt: str = ""
    place: int = 0


def read_lines(path: Path, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines of a file, plain or ``.gz``, without their ends.

    Raises:
        InvalidQuery: the file cannot be opened, or unpacks to more than any collection of laws would.
    """
    seen = 0
    try:
        most = max(MAX_UNPACKED_BYTES, MAX_RATIO * path.stat().st_size)
        with _open(path) as file:
            packed = getattr(file, "fileobj", None)
            for raw, length in _bounded(file, max_bytes):
                seen += length
                if seen > most:
                    raise InvalidQuery(Fact("legal.unpacks_to_more", path=path, size=most >> 30))
                yield _line(raw, length, max_bytes, seen if packed is None else packed.tell())
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidQuery(Fact("legal.unreadable_file", path=path, words=reason)) from None


def decode(raw: bytes) -> str | None:
    """Decode text that is UTF-8 or GB18030; None if it is neither."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _open(path: Path) -> BinaryIO:
    # Closed by read_lines, whose with-statement takes what is returned here.
    file = cast("BinaryIO", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115 - above
    start = file.read(3)
    file.seek(0)
    if start[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        # Spreadsheets save "Unicode text" so; errors become the mark that _line looks for.
        recoded = codecs.EncodedFile(file, "utf-8", "utf-16", errors="replace")
        return cast("BinaryIO", io.BufferedReader(_Raw(recoded)))
    if start == codecs.BOM_UTF8:
        file.read(3)
    return file


class _Raw(io.RawIOBase):
    """A recoding stream as a raw stream, so that lines can be read from it within limits."""

    def __init__(self, source: codecs.StreamRecoder) -> None:
        self._source = source
        self._rest = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._source.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        data = self._rest or self._source.read(len(view))
        size = min(len(view), len(data))
        view[:size] = data[:size]
        self._rest = data[size:]
        return size


def _bounded(file: BinaryIO, max_bytes: int) -> Iterator[tuple[bytes, int]]:
    """Yield each line, at most ``max_bytes`` of it, with its true length; memory stays within twice that."""
    while True:
        raw = file.readline(max_bytes + 1)
        if not raw:
            return
        length = len(raw)
        if length > max_bytes and not raw.endswith(b"\n"):
            while rest := file.readline(max_bytes):
                length += len(rest)
                if rest.endswith(b"\n"):
                    break
        yield raw, length


def _line(raw: bytes, length: int, max_bytes: int, place: int) -> Line:
    if length > max_bytes:
        excerpt = decode(raw[:EXCERPT_CHARS]) or raw[:EXCERPT_CHARS].decode("utf-8", "replace")
        return Line(None, f"a line of {length:,} bytes; at most {max_bytes:,} are read", excerpt, place)
    text = decode(raw.rstrip(b"\r\n"))
    if text is None:
        return Line(None, "neither UTF-8 nor GB18030", raw[:EXCERPT_CHARS].decode("utf-8", "replace"), place)
    if "\x00" in text:
        return Line(None, "holds binary data", text[:EXCERPT_CHARS].replace("\x00", "·"), place)
    return Line(text, place=place)
