"""References of an article to its surroundings: 前款, 前两款, 前条第一款, 前项, 本条第二款, 第一款, 本章, 本节."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from qiusuo.legal.reading.numbers import NUMBER, folded, number_of
from qiusuo.legal.reading.paragraphs import item_number, paragraph_lines
from qiusuo.legal.reading.references import find_references, values_of

_COUNT = r"[一二两三四五六七八九十]?"
_ONE_ITEM = rf"\(?\s*{NUMBER}\s*\)?"
_ITEMS = rf"{_ONE_ITEM}(?:\s*项?\s*[、和至]\s*第?\s*{_ONE_ITEM})*"
_PARAGRAPHS = rf"{NUMBER}(?:\s*款?\s*[、和至]\s*第?\s*{NUMBER})*"
_RELATIVE = re.compile(
    # 前款项 is a payment, 前条件 a condition, 目前 another word.
    rf"(?<!目)前(?P<count>{_COUNT})(?P<unit>条(?![件例约])|款(?!项)|项(?!目))"
    rf"(?:\s*第\s*(?P<of>{_PARAGRAPHS})\s*款)?(?:\s*第\s*(?P<items>{_ITEMS})\s*项)?"
    rf"|(?:本条\s*)?第\s*(?P<here>{_PARAGRAPHS})\s*款(?:\s*第\s*(?P<own_items>{_ITEMS})\s*项)?"
    r"|本(?P<part>[编章节])"
)


class RelativeTarget(StrEnum):
    """What a relative reference points to."""

    PARAGRAPHS = "paragraphs"  # of this article
    ITEMS = "items"  # of the same paragraph
    ARTICLES = "articles"  # before this one
    PART = "part"  # the part, chapter or section in which the article stands


@dataclass(frozen=True, slots=True)
class RelativeReference:
    """One reference. ``words`` is how the text says it, ``paragraph`` where it stands.

    ``numbers`` are paragraphs or items of this article, or how many articles back.
    """

    words: str
    target: RelativeTarget
    numbers: tuple[int, ...] = ()
    paragraph: int = 0
    paragraphs: tuple[int, ...] = ()
    items: tuple[int, ...] = ()


def relative_references(text: str) -> list[RelativeReference]:
    """Return the references of an article's text to its surroundings, each once, in their order.

    One that leads nowhere (前款 in the first paragraph) is left out.
    """
    found: dict[tuple[str, int], RelativeReference] = {}
    for place, lines in enumerate(paragraph_lines(text), 1):
        for line in lines:
            for reference in _in_line(folded(line), place):
                found.setdefault((reference.words, reference.paragraph), reference)
    return list(found.values())


def _in_line(line: str, place: int) -> Iterator[RelativeReference]:
    taken = [(found.start, found.end) for found in find_references(line, lambda _name: (), inside_law=True)]
    for match in _RELATIVE.finditer(line):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue  # 第十条第二款 names its article
        reference = _read(match, place, item_number(line))
        if reference is not None:
            yield reference


def _read(match: re.Match[str], place: int, item: int | None) -> RelativeReference | None:
    words = "".join(match[0].split())
    if match["part"]:
        return RelativeReference(words, RelativeTarget.PART, paragraph=place)
    if match["here"]:
        numbers = values_of(match["here"])
        items = values_of(match["own_items"] or "")
        return RelativeReference(words, RelativeTarget.PARAGRAPHS, numbers, place, items=items) if numbers else None
    count = number_of(match["count"]) if match["count"] else 1
    if not count:
        return None
    items = values_of(match["items"] or "")
    if match["unit"] == "条":
        paragraphs = values_of(match["of"] or "")
        return RelativeReference(words, RelativeTarget.ARTICLES, (count,), place, paragraphs, items)
    own = place if match["unit"] == "款" else item
    if own is None or own <= count:
        return None
    target = RelativeTarget.PARAGRAPHS if match["unit"] == "款" else RelativeTarget.ITEMS
    return RelativeReference(words, target, tuple(range(own - count, own)), place, items=items)
