"""Crimes by their names: 帮信罪 is 第二百八十七条之二 of 《刑法》, whose own words do not say so.

The names are given by the courts and not by the law, so that no search for words finds them. ``crimes.txt`` has them
all (but 骗购外汇罪, which stands in no article of 《刑法》), with common short forms.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.numbers import folded

CRIMES: Final = Path(__file__).parent.parent / "data" / "crimes.txt"
CRIMINAL_LAW: Final = "刑法"
MAX_CHARS: Final = 400
_MARKS: Final = re.compile(r"[、,\s()“”\"]+")
# A crime without 罪 may as well be a tort or an offence: it counts only where the sentence is asked for (盗窃判几年).
_SENTENCE: Final = re.compile(
    r"判(?:几|多|刑|死|缓|无期|重|轻|处|什么)|怎么判(?![断定别])|会判(?!断)|量刑|坐[几多]?少?年?牢|刑期|刑罚|立案标准"
)


@functools.cache
def crimes() -> Mapping[str, tuple[ArticleNumber, ...]]:
    """Return the articles by the names of crimes, without marks; names end in 罪."""
    lines = (line.rsplit(maxsplit=1) for line in CRIMES.read_text("utf-8").splitlines() if line and line[0] != "#")
    return {
        _bare(name): tuple(_number(number) for number in numbers.split(","))
        for names, numbers in lines
        for name in names.split("|")
    }


def crime_articles(question: str) -> list[ArticleNumber]:
    """Return the articles of the crimes that a question names, in its order; of names within names the longest."""
    text = _bare(question[:MAX_CHARS])
    found = [crimes()[name] for _, name in _named(text)]
    if not found and _SENTENCE.search(text):
        found = [crimes()[name] for name in _deeds(text)]
    return list(dict.fromkeys(number for numbers in found for number in numbers))


def crimes_named(text: str) -> Iterator[str]:
    """Yield the crimes that a text names with their 罪, as they are listed: without marks."""
    yield from (name for _, name in _named(_bare(text[:MAX_CHARS])))


def names_crime(question: str) -> bool:
    """Tell whether a question names a crime with its 罪: not 犯罪, 得罪 or 抢劫罪犯."""
    return any(True for _ in _named(_bare(question[:MAX_CHARS])))


def _named(text: str) -> Iterator[tuple[int, str]]:
    """Yield the longest name that ends at each 罪, and where it starts."""
    known = crimes()
    for match in re.finditer("罪(?!犯)", text):
        end = match.end()
        for start in range(max(0, end - _longest()), end - 1):
            if text[start:end] in known:
                yield start, text[start:end]
                break


def _deeds(text: str) -> Iterator[str]:
    """Yield the names whose deeds a text holds, from left to right, the longest first."""
    known = crimes()
    start = 0
    while start < len(text):
        for end in range(min(len(text), start + _longest()), start + 1, -1):
            if (name := f"{text[start:end]}罪") in known:
                yield name
                start = end - 1
                break
        start += 1


@functools.cache
def _longest() -> int:
    return max(map(len, crimes()))


def _bare(text: str) -> str:
    return _MARKS.sub("", folded(text))


def _number(written: str) -> ArticleNumber:
    number, _, suffix = written.partition("-")
    return ArticleNumber(int(number), int(suffix or 0))
