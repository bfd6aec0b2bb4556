"""款 and 项 of an article: paragraphs are its lines, items the lines that begin with （一）."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qiusuo.legal.reading.numbers import NUMBER, folded, number_of
from qiusuo.words import Fact

_ITEM = re.compile(rf"^\s*\(\s*({NUMBER})\s*\)")


@dataclass(frozen=True, slots=True)
class Piece:
    """What of an article was asked for; ``notes`` says what it does not have."""

    text: str = ""
    notes: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One 款 with its 项 by number."""

    text: str
    items: dict[int, str]


def item_number(line: str) -> int | None:
    """Return the number of the item that a line is, None if it is none."""
    match = _ITEM.match(folded(line))
    return number_of(match[1]) if match else None


def paragraph_lines(text: str) -> list[list[str]]:
    """Split an article into its paragraphs, each with the lines of its items."""
    found: list[list[str]] = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        if found and item_number(line) is not None:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def paragraphs_of(text: str) -> list[Paragraph]:
    """Split an article into its paragraphs."""
    found: list[Paragraph] = []
    for lines in paragraph_lines(text):
        items = {number: line for line in lines if (number := item_number(line)) is not None}
        found.append(Paragraph("\n".join(lines), items))
    return found


def pieces_of(text: str, paragraphs: tuple[int, ...], items: tuple[int, ...]) -> Piece:
    """Return the paragraphs and items that were asked for."""
    if not paragraphs and not items:
        return Piece()
    all_paragraphs = paragraphs_of(text)
    chosen: list[str] = []
    notes: list[Fact] = []
    with_items = [place for place, paragraph in enumerate(all_paragraphs, 1) if paragraph.items]
    for place in paragraphs or tuple(with_items[:1]) or (1,):
        if place > len(all_paragraphs):
            notes.append(Fact("law.no_paragraph", count=len(all_paragraphs), place=place))
            continue
        paragraph = all_paragraphs[place - 1]
        if not items:
            chosen.append(paragraph.text)
        for item in items:
            if item in paragraph.items:
                chosen.append(paragraph.items[item])
            else:
                notes.append(Fact("law.no_item", place=place, item=item))
    return Piece("\n".join(chosen), tuple(notes))
