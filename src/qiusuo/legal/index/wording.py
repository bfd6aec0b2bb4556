"""What the law calls it: a lay question and the article that answers it are put in different words.

Tables add the law's words to a question, with smaller weights than its own. Two are written by hand: ``everyday.txt``
has words (房东: 出租人), ``phrases.txt`` what is said over part of a sentence (楼上…掉: 从建筑物上坠落的物品).
``wording.json`` is fitted on questions with known answers (``eval/legal/wording.py``): pairs of
characters of questions, with those that the articles answering such questions have more often than others.
"""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from qiusuo.legal.index.ranking import question_tokens, tokens

EVERYDAY = Path(__file__).parent.parent / "data" / "everyday.txt"
PHRASES = Path(__file__).parent.parent / "data" / "phrases.txt"
TABLE = Path(__file__).parent.parent / "data" / "wording.json"
# How much a word that is added counts against one of the question, and how many are added at most.
EVERYDAY_WEIGHT = 0.6
MOST_EVERYDAY = 40
PHRASE_WEIGHT = 0.4
MOST_PHRASES = 60
GAP = 12
"""How many characters may stand at a … of a phrase."""
FITTED_WEIGHT = 0.4
MOST_FITTED = 20
HEAVIEST_FITTED = 0.8
Table = Mapping[str, Mapping[str, float]]
"""Of a pair of characters in questions those in articles, with how much more often they are there than in others."""


@functools.cache
def everyday() -> Mapping[str, tuple[str, ...]]:
    """Return what people say, with the pairs of characters of what the law calls it."""
    return {words: _pairs(legal) for words, legal in _lines(EVERYDAY)}


@dataclass(frozen=True, slots=True)
class Phrase:
    """What people say over part of a sentence, what the law calls it, and which document it is the words of.

    ``document`` is named where no statute answers such a question.
    """

    said: re.Pattern[str]
    legal: str
    pairs: tuple[str, ...]
    document: str


@functools.cache
def phrases() -> tuple[Phrase, ...]:
    """Return the list of phrases."""
    return tuple(_phrase(said, *legal.partition("@")[::2]) for said, legal in _lines(PHRASES))


def _phrase(said: str, legal: str, document: str) -> Phrase:
    gap = f"[^。？?！!\\n]{{0,{GAP}}}?"
    ways = "|".join(gap.join(map(re.escape, way.split("…"))) for way in said.split("|"))
    return Phrase(re.compile(ways), legal.strip(), _pairs(legal), document.strip())


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
    return list(_legal_words(question))


def _legal_words(question: str) -> dict[str, float]:
    """Return the same with their weights."""
    meant = dict.fromkeys(pair for phrase in _phrases_in(question) for pair in phrase.pairs)
    words = dict.fromkeys(pair for said in _said().findall(question) for pair in everyday()[said])
    return dict.fromkeys(islice(meant, MOST_PHRASES), PHRASE_WEIGHT) | dict.fromkeys(
        islice(words, MOST_EVERYDAY), EVERYDAY_WEIGHT
    )


def legal_phrases(question: str) -> tuple[str, ...]:
    """Return the law's words for what a question says over parts of its sentences, each as a text."""
    return tuple(phrase.legal for phrase in _phrases_in(question))


def documents_for(question: str) -> tuple[str, ...]:
    """Return the documents below the statutes that answer what a question says over parts of its sentences."""
    return tuple(dict.fromkeys(phrase.document for phrase in _phrases_in(question) if phrase.document))


def _phrases_in(question: str) -> list[Phrase]:
    return [phrase for phrase in phrases() if phrase.said.search(question)]


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
    return learnt | _legal_words(question) | own


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what is said and what the law calls it, of a list written by hand."""
    for line in path.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            said, _, legal = line.partition(":")
            yield said.strip(), legal


def _pairs(legal: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pair for pair in tokens(legal) if len(pair) > 1))
