"""The questions with their right and wrong passages, read from a folder beside the project."""

from __future__ import annotations

import gzip
import json
import os
import random
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("RGB_FOLDER") or Path(__file__).parents[3] / "shared" / "passages")
SETS = ("zh_refine", "zh_fact", "en_fact")
MISSING = "the RGB data (rgb_*.jsonl.gz) is not there; RGB_FOLDER names its folder"


@dataclass(frozen=True)
class Row:
    """A question; each of ``answers`` is a list of spellings, one of which must occur."""

    place: int
    query: str
    answers: list[list[str]]
    positive: list[str]
    negative: list[str]
    wrong: list[str]
    fake: str

    @property
    def even(self) -> bool:
        return self.place % 2 == 0

    def answered_by(self, text: str) -> bool:
        """Tell whether a text has every part of the answer, whatever its blanks and capitals."""
        plain = _plain(text)
        return all(any(_plain(spelling) in plain for spelling in spellings) for spellings in self.answers)

    def contradiction(self, draw: int = 0, *, same_text: bool) -> list[str]:
        """Return a right passage and one with a wrong answer: the same text with it, or another where there is one."""
        chance = random.Random(1000 * draw + self.place)
        place = chance.randrange(min(len(self.positive), len(self.wrong)))
        others = [other for other in range(len(self.wrong)) if other != place]
        texts = [self.positive[place], self.wrong[place if same_text or not others else chance.choice(others)]]
        chance.shuffle(texts)
        return texts

    def is_answer(self, value: str) -> bool:
        """Tell whether a value is the right answer or the wrong one that was put in, or a part of one of them."""
        plain = _plain(value)
        known = [_plain(self.fake), *(_plain(spelling) for spellings in self.answers for spelling in spellings)]
        return bool(plain) and any(plain in answer or answer in plain for answer in known)

    def sample(self, right: int, wrong: int, draw: int = 0) -> list[str]:
        """Return so many passages with the answer and so many without, in some order; the same for the same draw."""
        chance = random.Random(1000 * draw + self.place)
        texts = [
            *chance.sample(self.positive, min(right, len(self.positive))),
            *chance.sample(self.negative, min(wrong, len(self.negative))),
        ]
        chance.shuffle(texts)
        return texts


def available() -> bool:
    return all((FOLDER / f"rgb_{name}.jsonl.gz").is_file() for name in SETS)


def load(name: str) -> list[Row]:
    """Return the rows of ``zh_refine``, ``zh_fact`` or ``en_fact``."""
    with gzip.open(FOLDER / f"rgb_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [_row(place, json.loads(line)) for place, line in enumerate(lines)]


def _row(place: int, row: dict[str, Any]) -> Row:
    answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    return Row(
        place,
        row["query"],
        [[answer] if isinstance(answer, str) else answer for answer in answers],
        row["positive"],
        row["negative"],
        row.get("positive_wrong", []),
        row.get("fakeanswer", ""),
    )


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
