"""The text of a DOCX: paragraphs, headings and tables in their order. Runs in a process of its own (``worker.py``)."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from docx import Document
from docx.document import Document as WordDocument
from docx.table import Table
from docx.text.paragraph import Paragraph

from qiusuo.errors import FileError
from qiusuo.words import Fact

MAX_UNPACKED: Final = 100 * 1024**2
_MAX_PARTS: Final = 5000
# Text of a document packs some ten times; what packs far better is made to fill the memory.
_MAX_RATIO: Final = 150
_SMALL: Final = 5 * 1024**2
_MAIN: Final = "word/document.xml"
_HEADING_STYLE: Final = re.compile(r"(?:heading|标题)\s*(\d)|(title)\Z", re.IGNORECASE)
_DEEPEST: Final = 6


def read_word(name: str, data: bytes) -> Iterator[str]:
    """Yield the lines of a document; headings are marked with #, cells of a row with bars.

    Raises:
        FileError: it is no DOCX, is broken, or would grow too large.
    """
    _check_package(name, data)
    try:
        document: WordDocument = Document(io.BytesIO(data))
        yield from _lines(document)
    except FileError:
        raise
    except (MemoryError, RecursionError):
        raise FileError(Fact("file.too_complex", name=name)) from None
    except Exception as error:  # the package raises whatever its XML library does
        raise FileError(Fact("file.broken", name=name, kind="DOCX")) from error


def _check_package(name: str, data: bytes) -> None:
    """Look at what a package says of its sizes before anything of it is unpacked; zipfile reads no more than that."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = packed.infolist()
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError):
        raise FileError(Fact("file.broken", name=name, kind="DOCX")) from None
    if all(part.filename != _MAIN for part in parts):
        raise FileError(Fact("file.wrong_kind", name=name))
    if any(part.flag_bits & 1 for part in parts):
        raise FileError(Fact("file.encrypted", name=name))
    whole = sum(part.file_size for part in parts)
    if len(parts) > _MAX_PARTS or whole > MAX_UNPACKED or (whole > _SMALL and whole > _MAX_RATIO * len(data)):
        raise FileError(Fact("file.bomb", name=name))
    if any(part.file_size > _SMALL and part.file_size > _MAX_RATIO * max(part.compress_size, 1) for part in parts):
        raise FileError(Fact("file.bomb", name=name))


def _lines(document: WordDocument) -> Iterator[str]:
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            yield from _rows(block)
            yield ""
        else:
            yield from _paragraph(block)


def _paragraph(paragraph: Paragraph) -> Iterator[str]:
    text = " ".join(paragraph.text.split())
    if not text:
        return
    style = paragraph.style.name if paragraph.style is not None else None
    found = _HEADING_STYLE.match(style or "")
    if found:
        yield ""
        yield f"{'#' * min(int(found[1] or 1), _DEEPEST)} {text}"
    else:
        # What looks like a mark of a heading is none: the style says so.
        yield f"\\{text}" if text.startswith("#") else text


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        # A cell that spans several columns comes once for each.
        cells = [" ".join(cell.text.split()) for cell, _ in groupby(row.cells)]
        if any(cells):
            yield " | ".join(cells)
