"""Words that turn a statement round: where the claim has one side and the source only the other, they disagree."""

from __future__ import annotations

import re
from pathlib import Path

from qiusuo.citations.meaning.wording import stem
from qiusuo.tables import read_table

_TABLE = Path(__file__).parent.parent / "data" / "opposites.tsv"

Side = tuple[str, int]


def _sides(language: str) -> dict[str, set[Side]]:
    table: dict[str, set[Side]] = {}
    for row in read_table(_TABLE):
        if row["language"] == language:
            for side, words in enumerate((row["one"], row["other"])):
                for word in words.split():
                    table.setdefault(word, set()).add((row["one"] + row["other"], side))
    return table


_CHINESE_SIDES, _ENGLISH_SIDES = _sides("zh"), _sides("en")
_CHINESE_WORD = re.compile("|".join(sorted(_CHINESE_SIDES, key=len, reverse=True)))
_ENGLISH_WORD = re.compile("[a-z]+(?:-[a-z]+)*")


def sides(text: str) -> set[Side]:
    """Return which sides of which pairs of opposites the words of a folded text are on."""
    found: set[Side] = set()
    if not text.isascii():
        for word in _CHINESE_WORD.findall(text):
            found |= _CHINESE_SIDES[word]
    for word in _ENGLISH_WORD.findall(text.lower()):
        if side := _ENGLISH_SIDES.get(word) or _ENGLISH_SIDES.get(stem(word)):
            found |= side
    return found


def opposed(claim: set[Side], source: set[Side]) -> bool:
    """Tell whether the claim is on a side on which the source is not, while the source is on the other."""
    return any(
        (pair, 1 - side) in source and (pair, side) not in source and (pair, 1 - side) not in claim
        for pair, side in claim
    )
