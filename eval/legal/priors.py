"""Cross-validation of the law prior: three weights, chosen on four fifths of the questions, used on the fifth."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

from eval.legal.data import Question
from qiusuo.legal.index import ARTICLE_WEIGHTS, CANDIDATES, SIZE_CAP, LegalIndex
from qiusuo.legal.models import LawKind
from qiusuo.legal.ranking import question_tokens

FOLDS = 5
LEVELS = (0.0, 0.1, 0.2, 0.3)
CITED = (0.0, 0.025, 0.05, 0.075)
SIZES = (0.0, 0.15, 0.3, 0.45)
_CORE = {LawKind.CONSTITUTION, LawKind.STATUTE, LawKind.JUDICIAL_INTERPRETATION}
Weights = tuple[float, float, float]


def cross_validated(index: LegalIndex, questions: Sequence[Question]) -> list[list[int]]:
    """Return each question's ranking by the weights that were best (R@10) for the other folds."""
    features = _features(index)
    found = [_candidates(index, question.text, features) for question in questions]
    order = list(range(len(questions)))
    random.Random(9).shuffle(order)
    fold_of = {place: rank % FOLDS for rank, place in enumerate(order)}
    recall = {
        weights: [
            _recall(_ranked(rows, weights)[:10], question) for rows, question in zip(found, questions, strict=True)
        ]
        for weights in itertools.product(LEVELS, CITED, SIZES)
    }
    rankings: list[list[int]] = [[] for _ in questions]
    for fold in range(FOLDS):
        best = max(recall, key=lambda weights: sum(recall[weights][p] for p in order if fold_of[p] != fold))
        print(f"  fold {fold}: level {best[0]}, cited {best[1]}, size {best[2]}", flush=True)
        for place in order:
            if fold_of[place] == fold:
                rankings[place] = _ranked(found[place], best)[:100]
    return rankings


def _features(index: LegalIndex) -> dict[int, Weights]:
    """Return level, citations and size of each version's law."""
    return {
        version.id: (
            float(version.law.kind in _CORE),
            math.log1p(index.store.cited_by[version.law.id]),
            math.log(max(1, min(version.article_count, SIZE_CAP))) / math.log(SIZE_CAP),
        )
        for version in index.store.versions.values()
    }


def _candidates(index: LegalIndex, text: str, features: dict[int, Weights]) -> list[tuple[int, float, Weights]]:
    hits = index._articles.search(question_tokens(text), ARTICLE_WEIGHTS, CANDIDATES)  # noqa: SLF001 - the raw scores
    best = hits[0].score if hits else 1.0
    return [(hit.id, hit.score / best, features[index._version_of[hit.id]]) for hit in hits]  # noqa: SLF001 - as above


def _ranked(rows: list[tuple[int, float, Weights]], weights: Weights) -> list[int]:
    level, cited, size = weights
    scored = [(-(words + level * f[0] + cited * f[1] + size * f[2]), article) for article, words, f in rows]
    return [article for _, article in sorted(scored)]


def _recall(found: list[int], question: Question) -> float:
    return len(question.gold.intersection(found)) / len(question.gold)
