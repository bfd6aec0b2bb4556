"""The text of a PDF, page by page, by PDFium. Runs in a process of its own (``worker.py``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pypdfium2  # type: ignore[import-untyped] # it has no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped] # the same

from qiusuo.errors import FileError
from qiusuo.files.models import Part
from qiusuo.files.sections import pieces
from qiusuo.words import Fact

MOST_PAGES: Final = 2000
_PAGE_PART: Final = 20_000
_ENDS: Final = re.compile(r"[。！？；：.!?;:…”」』）)]\s*\Z")
_BEGINS: Final = re.compile(
    r"\s*(?:[-•·●○◆■▪*]|\(?\d{1,3}[.)、．]|[（(]?[一二三四五六七八九十]{1,3}[)）、.]|第[一二三四五六七八九十百零〇\d]{1,6}[条章节编款])"
)
# A line that reaches so far to the right as the longest ones was broken there, not ended.
_FULL: Final = 0.75
_HYPHEN: Final = re.compile("[\ufffe\x02]\\s*")
_WIDE: Final = frozenset("WF")


def read_pdf(name: str, data: bytes, most: int, progress: Callable[[int, int], None]) -> tuple[list[Part], int, bool]:
    """Return the pages that have text, how many pages there are, and whether it was cut.

    Raises:
        FileError: it has a password, is broken, or has no text.
    """
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        secret = pdfium.FPDF_GetLastError() in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}
        fact = Fact("file.encrypted", name=name) if secret else Fact("file.broken", name=name, kind="PDF")
        raise FileError(fact) from None
    total, parts, left, broken = len(document), list[Part](), most, 0
    for index in range(min(total, MOST_PAGES)):
        progress(index, total)
        try:
            text = _page_text(document, index)
        except pypdfium2.PdfiumError:
            broken += 1
            continue
        cut = text[:left]
        left -= len(cut)
        parts += [Part(piece, page=index + 1) for piece in pieces(cut, _PAGE_PART) if piece.strip()]
        if left <= 0:
            break
    if not parts and (broken or not total):
        raise FileError(Fact("file.broken", name=name, kind="PDF"))
    if not parts:
        raise FileError(Fact("file.scanned", name=name, pages=total))
    return parts, total, left <= 0 or total > MOST_PAGES


def _page_text(document: pypdfium2.PdfDocument, index: int) -> str:
    page = document[index]
    try:
        text = page.get_textpage()
        try:
            found: str = text.get_text_bounded()
        finally:
            text.close()
    finally:
        page.close()
    # PDFium puts a mark in the place of a hyphen at the end of a line, and joins the lines.
    lines = _HYPHEN.sub("-\n", found).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(joined([" ".join(line.split()) for line in lines]))


def joined(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with those that were broken at the right edge put together again."""
    full = _FULL * max(map(_width, lines), default=0)
    held = ""
    for line in lines:
        if not line:
            continue
        if held and _width(held.rpartition("\n")[2]) >= full and not _ENDS.search(held) and not _BEGINS.match(line):
            held = _together(held, line)
            continue
        yield from [held] if held else []
        held = line
    yield from [held] if held else []


def _together(before: str, line: str) -> str:
    if before.endswith("-") and before[-2:-1].isalpha() and line[:1].islower():
        return before[:-1] + line
    wide = unicodedata.east_asian_width(before[-1]) in _WIDE or unicodedata.east_asian_width(line[0]) in _WIDE
    return f"{before}{'' if wide else ' '}{line}"


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in _WIDE else 1 for each in line)
