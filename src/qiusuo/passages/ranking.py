"""Ranks the sentences of pages by how well they answer a question.

BM25 over sentences: rare words of the question count most. Words that stand in neighbouring sentences, in the heading
or in the title count in part, and signs of an answer weigh the sum. The weights were fitted on half of a data set;
around them the figures hardly change (docs/passages.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qiusuo.passages.matching import COUNTED, Match
from qiusuo.passages.question import Question
from qiusuo.passages.reading import Page
from qiusuo.passages.signs import Signs, signs

_K1: Final = 0.8
_B: Final = 0.2
_RARITY_OF_ALL: Final = 0.3  # also a word that every sentence has says something
_RELATED: Final = 0.8
_ASKED: Final = 1.25  # on a page about its subject, what is asked of it tells more
_RANK_WEIGHT: Final = 0.02
_HEADING_ALONE: Final = 0.7
SHORTEST: Final = 6
# Signs are looked for in the best sentences by words alone: that takes longer than to count words.
_MOST_WEIGHED: Final = 80


@dataclass(slots=True)
class Candidate:
    """A sentence with its score."""

    page: Page
    index: int
    score: float


def rank(question: Question, pages: Sequence[Page], *, ordered: bool = True) -> list[Candidate]:
    """Return the sentences that have words of the question or stand near some, the best one first.

    ``ordered``: what comes first is likelier to answer, as with results of a search.
    """
    wanted = question.words | question.related
    matches = [Match(page, question, wanted) for page in pages]
    total = sum(len(page.spans) for page in pages)
    frequency = Counter(word for match in matches for words in match.hits.values() for word in words)
    rarity = {
        word: (math.log(1 + (total - frequency[word] + 0.5) / (frequency[word] + 0.5)) + _RARITY_OF_ALL)
        * (_RELATED if word in question.related else _ASKED if word in question.asking else 1)
        for word in (*wanted, COUNTED)
    }
    average = sum(page.length for page in pages) / total if total else 1.0
    found = [
        Candidate(
            match.page, index, _score(match, index, rarity, average) / (1 + _RANK_WEIGHT * match.page.place * ordered)
        )
        for match in matches
        for index in match.places()
        if match.page.spans[index][1] - match.page.spans[index][0] >= SHORTEST
    ]
    found.sort(key=_best_first)
    for candidate in found[:_MOST_WEIGHED]:
        candidate.score *= _weight(signs(question, candidate.page, candidate.index))
    return sorted(found, key=_best_first)


def _best_first(candidate: Candidate) -> tuple[float, int, int]:
    return -candidate.score, candidate.page.place, candidate.index


def _score(match: Match, index: int, rarity: dict[str, float], average: float) -> float:
    start, end = match.page.spans[index]
    length = 1 - _B + _B * (end - start) / (average or 1.0)
    own = sum(rarity[word] for word in match.hits.get(index, ()))
    score = own * (_K1 + 1) / (1 + _K1 * length)
    score += sum(weight * sum(rarity[word] for word in words) for weight, words in match.surroundings(index))
    return score * _HEADING_ALONE if index in match.page.headings else score


def _weight(seen: Signs) -> float:
    weight = 1.0
    if seen.kind is not None:
        weight *= 1.6 if seen.near else 1.0 if seen.kind else 0.5
    if seen.counted:
        weight *= 1.5
    if seen.valued:
        weight *= 1.4
    elif seen.named:
        weight *= 1.2
    if seen.other_year:
        weight *= 0.75
    if seen.asks:
        weight *= 0.7
    if seen.furniture:
        weight *= 0.7
    return weight
