"""What the law calls it: a lay question and the article that answers it are put in different words.

Two tables add the law's words to a question, with smaller weights than its own. ``everyday.txt`` is written by hand
(房东: 出租人). ``wording.json`` is fitted on questions with known answers (``eval/legal/wording.py``): pairs of
characters of questions, with those that the articles answering such questions have more often than others.
"""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from qiusuo.legal.index.ranking import question_tokens, tokens

EVERYDAY = Path(__file__).parent.parent / "data" / "everyday.txt"
TABLE = Path(__file__).parent.parent / "data" / "wording.json"
# How much a word that is added counts against one of the question, and how many are added at most.
EVERYDAY_WEIGHT = 0.6
MOST_EVERYDAY = 40
FITTED_WEIGHT = 0.4
MOST_FITTED = 20
HEAVIEST_FITTED = 0.8
Table = Mapping[str, Mapping[str, float]]
"""Of a pair of characters in questions those in articles, with how much more often they are there than in others."""


@functools.cache
def everyday() -> Mapping[str, tuple[str, ...]]:
    """Return what people say, with the pairs of characters of what the law calls it."""
    lines = (line.strip() for line in EVERYDAY.read_text("utf-8").splitlines())
    said = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {words.strip(): tuple(pair for pair in tokens(legal) if len(pair) > 1) for words, _, legal in said}


@functools.cache
def _said() -> re.Pattern[str]:
    """Return what finds everyday words, the longest first: 养老金 is a pension, not the duty to 养老."""
    return re.compile("|".join(map(re.escape, sorted(everyday(), key=len, reverse=True))))


@functools.cache
def fitted() -> Table:
    """Return the fitted table of the package."""
    table: Table = json.loads(TABLE.read_text("utf-8"))
    return table


def legal_pairs(question: str) -> list[str]:
    """Return the pairs of characters of the law's words for what a question says in everyday ones."""
    found = dict.fromkeys(pair for said in _said().findall(question) for pair in everyday()[said])
    return list(islice(found, MOST_EVERYDAY))


def widened(question: str, table: Table, weight: float = FITTED_WEIGHT) -> dict[str, float]:
    """Return the tokens of a question with weight 1, and what both tables add, with less."""
    own = dict.fromkeys(question_tokens(question), 1.0)
    added: defaultdict[str, float] = defaultdict(float)
    for word in own:
        for other, strength in table.get(word, {}).items():
            if other not in own:
                added[other] += strength
    strongest = sorted(added.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_FITTED]
    learnt = {other: min(weight * strength, HEAVIEST_FITTED) for other, strength in strongest}
    return learnt | dict.fromkeys(legal_pairs(question), EVERYDAY_WEIGHT) | own
