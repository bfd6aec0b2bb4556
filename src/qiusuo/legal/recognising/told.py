"""Whether a question reads like those that people bring to lawyers, by the weights of its characters and their pairs.

Whole sentences tell trouble in words that no list has (楼上天天半夜拖椅子，有谁能管管他). The weights are a logistic
regression over questions of lay people and everyday ones (``python -m eval.legal --fit-told`` makes them anew).
"""

from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path
from typing import Any, Final

WEIGHTS: Final = Path(__file__).parent.parent / "data" / "told.json"
LEGAL_FROM: Final = 2.5
"""Chosen on the questions that the weights were fitted on, by folds; those that are counted in the docs are others."""
SHORTEST: Final = 12
"""Characters of a whole sentence. A few words (份子钱要还吗) say too little for weights; the lists are for these."""
_CLAUSE: Final = re.compile(r"[^\s,.;:!?，。；：！？、]{7}")
"""Of a sentence; key words (肖申克的救赎 安迪 判刑) are shorter."""
_NUMBER: Final = re.compile(r"[0-9]+")
_WORDS: Final = re.compile(r"[\u4e00-\u9fffa-z0]+")


def features(text: str) -> set[str]:
    """Return the characters of a simplified, folded text, the pairs of neighbours, and what each clause begins with."""
    found: set[str] = set()
    for clause in _WORDS.findall(_NUMBER.sub("0", text.lower())):
        found.update(clause)
        found.update(clause[start : start + 2] for start in range(len(clause) - 1))
        found.add(f"^{clause[0]}")
    return found


def tells_as_clients_do(text: str) -> bool:
    """Tell whether a question reads like one for a lawyer."""
    if len(text) < SHORTEST or not _CLAUSE.search(text):
        return False
    weights = _weights()
    known = [weights["features"][feature] for feature in features(text) if feature in weights["features"]]
    return bool(known) and sum(known) / math.sqrt(len(known)) + weights["bias"] > LEGAL_FROM


@functools.cache
def _weights() -> dict[str, Any]:
    weights: dict[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return weights
