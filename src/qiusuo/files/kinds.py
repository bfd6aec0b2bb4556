"""What kind of file it is, by its content; its name decides only between kinds of plain text."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.errors import FileError
from qiusuo.files.models import FileKind
from qiusuo.files.names import ending
from qiusuo.words import Fact

_PDF: Final = b"%PDF-"
# Other programs accept a PDF that begins a little later.
_PDF_BEGINS: Final = 1024
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = bytes.fromhex("D0CF11E0A1B11AE1")
# An encrypted DOCX is an old container with the new one inside.
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
_HTML: Final = re.compile(rb"<!doctype\s+html|<html[\s>]|<body[\s>]", re.IGNORECASE)
_TAG: Final = re.compile(rb"</[a-z][a-z0-9]*\s*>", re.IGNORECASE)
_BEGINNING: Final = 4096
# What other kinds begin with, however much of the rest looks like text.
# RTF is text, but nobody wants to read its commands.
_OTHERS: Final = (
    b"\x89PNG",
    b"\xff\xd8\xff",  # JPEG
    b"GIF87a",
    b"GIF89a",
    b"PK\x05\x06",  # a ZIP of nothing
    b"PK\x07\x08",
    b"\x7fELF",
    b"MZ\x90",
    b"\x1f\x8b",  # gzip
    b"BZh91AY",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",  # zstd
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a",
    b"{\\rtf",
)
_NOT_TEXT: Final = bytes({*range(9), 11, *range(14, 27), *range(28, 32), 127})
_MOST_NOT_TEXT: Final = 0.02
_OF_HTML: Final = frozenset({"html", "htm", "xhtml"})
_OF_MARKDOWN: Final = frozenset({"md", "markdown", "mdown"})


def kind_of(name: str, data: bytes) -> FileKind:
    """Return the kind of a file.

    Raises:
        FileError: it is none that is read, or not what its name says.
    """
    if not data.strip():
        raise FileError(Fact("file.empty", name=name))
    says = ending(name)
    if _PDF in data[:_PDF_BEGINS]:
        return FileKind.PDF
    if data.startswith(_ZIP):
        return FileKind.DOCX  # whether it is one is seen when it is opened
    if data.startswith(_OLE):
        raise FileError(Fact("file.encrypted" if _ENCRYPTED in data else "file.old_word", name=name))
    if says in {FileKind.PDF, FileKind.DOCX}:
        raise FileError(Fact("file.broken", name=name, kind=says.upper()))
    if not _is_text(data):
        raise FileError(Fact("file.wrong_kind", name=name))
    if _HTML.search(data[:_BEGINNING]) or (says in _OF_HTML and _TAG.search(data)):
        return FileKind.HTML
    return FileKind.MARKDOWN if says in _OF_MARKDOWN else FileKind.TEXT


def _is_text(data: bytes) -> bool:
    if data.startswith(_BOMS):
        return True
    if data.startswith(_OTHERS):
        return False
    beginning = data[: 16 * _BEGINNING]
    strange = len(beginning) - len(beginning.translate(None, _NOT_TEXT))
    return b"\0" not in beginning and strange <= _MOST_NOT_TEXT * len(beginning)
