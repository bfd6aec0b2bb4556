"""Signs that a sentence answers a question, or that it does not: the kind of thing asked for, another year ..."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from qiusuo.passages.kinds import AMOUNTS, asked_for, has_form
from qiusuo.passages.question import YEAR, Question
from qiusuo.passages.reading import Page, occurrences
from qiusuo.tables import read_table

_FURNITURE: Final = Path(__file__).parent / "data" / "furniture.tsv"
# What is asked for stands so many characters at most from a word of the question.
_NEAR: Final = 25
_BEHIND: Final = 8
_TO_THE_VALUE: Final = re.compile(r"[^。！？，,；;、\n的]*")
_ASKS: Final = re.compile(r"[?？]\s*[”」\"]?\Z|什么|哪[个位里支]|多少|是谁|吗|是否|怎么")
_IS: Final = r"[^。！？，,\n]{0,4}?(?:是|为|：|:|达|“|共|有|至)"


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for a sentence and against it.

    ``kind`` is whether it has the kind of thing asked for; None where that cannot be told by its form. ``near``: that
    stands near words of the question. ``named``: the last word of the question is followed by "is" (主题是, 处理器：).
    ``valued``: it is followed by the amount that is asked for (租金人民币2800元).
    """

    kind: bool | None
    near: bool
    counted: bool
    named: bool
    valued: bool
    other_year: bool
    asks: bool
    furniture: bool


def signs(question: Question, page: Page, index: int) -> Signs:
    """Look at one sentence."""
    sentence = page.sentence(index)
    spots = [span for span, _ in asked_for(question, sentence)]
    years = set(YEAR.findall(sentence)) if question.years else set()
    return Signs(
        kind=bool(spots) if has_form(question) else None,
        near=bool(spots) and distance(question, page, index, spots) <= _NEAR,
        counted=bool(question.counted) and re.search(question.counted, sentence) is not None,
        named=bool(question.attribute) and re.search(re.escape(question.attribute) + _IS, sentence) is not None,
        valued=_valued(question, sentence, spots),
        other_year=bool(years) and not years & question.years,
        asks=_ASKS.search(sentence) is not None,
        furniture=_furniture().search(sentence) is not None,
    )


def _valued(question: Question, sentence: str, spots: list[tuple[int, int]]) -> bool:
    """Tell whether an amount stands right behind the last word of the question; 租金的1% is another amount."""
    if not question.attribute or question.kinds.isdisjoint(AMOUNTS):
        return False
    ends = [match.end() for match in re.finditer(re.escape(question.attribute), sentence)]
    gaps = (sentence[end:start] for end in ends for start, _ in spots if 0 <= start - end <= _BEHIND)
    return any(_TO_THE_VALUE.fullmatch(gap) for gap in gaps)


def distance(question: Question, page: Page, index: int, spots: list[tuple[int, int]]) -> int:
    """Return how far the nearest word of the question stands from any of the places in a sentence."""
    start, end = page.spans[index]
    folded = page.folded[start:end]
    words = [
        (position, position + len(word))
        for word in question.words
        if word[0] != "#"
        for position in occurrences(folded, word)
    ]
    gaps = [max(first - after, before - last, 0) for first, last in spots for before, after in words]
    return min(gaps, default=end - start + _NEAR)


@cache
def _furniture() -> re.Pattern[str]:
    return re.compile("|".join(row["words"] for row in read_table(_FURNITURE)), re.IGNORECASE)
