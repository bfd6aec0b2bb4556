"""Decompression in small pieces, so that a limit on the size comes in time whatever the HTTP client does."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

ENCODINGS: Final = ("gzip", "deflate")
"""What :class:`Unpacker` can read, for ``Accept-Encoding``."""

_PIECE_BYTES: Final = 64 * 1024
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_RAW_DEFLATE: Final = -zlib.MAX_WBITS
_ZLIB_METHOD: Final = 8


class Unpacker:
    """Undoes one ``Content-Encoding``. ``ValueError`` where the name is unknown or the data is not of that kind."""

    def __init__(self, encoding: str) -> None:
        encoding = encoding.strip().lower().removeprefix("x-")
        if encoding not in {"", "identity", *ENCODINGS}:
            raise ValueError(f"unknown encoding {encoding}")
        self._packed = encoding in ENCODINGS
        self._stream: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what ``data`` unpacks to, in pieces of limited size."""
        if not self._packed:
            yield data
            return
        while data:
            if self._stream is None:
                # "deflate" should have a zlib header, but some servers send it bare.
                has_header = data[:1] == b"\x1f" or data[0] & 0x0F == _ZLIB_METHOD
                self._stream = zlib.decompressobj(_GZIP_OR_ZLIB if has_header else _RAW_DEFLATE)
            try:
                yield self._stream.decompress(data, _PIECE_BYTES)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                data, self._stream = self._stream.unused_data, None
                if not data.startswith(b"\x1f\x8b"):
                    return  # padding; a further member would begin so

    @property
    def complete(self) -> bool:
        """Whether the data ended where it should."""
        return self._stream is None
