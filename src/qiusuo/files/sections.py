"""Cuts text without pages into the parts that are cited: below each heading, and none too long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from qiusuo.files.models import Part

PART_CHARS: Final = 3000
_LONGEST_HEADING: Final = 120
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*")
_FENCE: Final = re.compile(r"\s{0,3}(```|~~~)")
_PAUSE: Final = re.compile(r"(?<=[。！？!?；;])|(?<=\.)\s|\s|(?<=[，,])")


def sections(lines: Iterable[str], *, marked: bool, numbered: bool) -> Iterator[Part]:
    """Yield the parts of a text; ``marked``: lines that begin with # are headings; ``numbered``: lines are counted."""
    heading, began, held, size, fenced = "", 1, list[str](), 0, False
    for number, line in enumerate(lines, 1):
        fenced ^= bool(_FENCE.match(line))
        found = _HEADING.fullmatch(line) if marked and not fenced else None
        if found or (size and size + len(line) > PART_CHARS):
            yield from _part(held, heading, began if numbered else 0)
            held, size, began = [], 0, number
        if found:
            heading = found[2].strip("*_ ")[:_LONGEST_HEADING]
        for at, piece in enumerate(pieces(line, PART_CHARS)):
            if at:
                yield from _part(held, heading, number if numbered else 0)
                held, size, began = [], 0, number
            held.append(piece)
            size += len(piece) + 1
    yield from _part(held, heading, began if numbered else 0)


def pieces(text: str, most: int) -> Iterator[str]:
    """Yield a text in pieces of so many characters, cut where a sentence or a word ends if there is such a place."""
    start = 0
    while len(text) - start > most:
        ends = [found.end() for found in _PAUSE.finditer(text, start + most // 2, start + most)]
        cut = ends[-1] if ends else start + most
        yield text[start:cut]
        start = cut
    yield text[start:]


def _part(lines: list[str], heading: str, line: int) -> Iterator[Part]:
    text = "\n".join(lines).strip("\n")
    # A heading alone says nothing; what stands below its own headings is cited with those.
    if text.strip() and (len(lines) > 1 or not _HEADING.fullmatch(text)):
        blank = next((at for at, each in enumerate(lines) if each.strip()), 0)
        yield Part(text, heading=heading, line=line + blank if line else 0)
