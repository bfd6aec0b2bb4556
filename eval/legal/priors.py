"""Cross-validation of the numbers in ranking by words: chosen on four fifths of the questions, used on the fifth.

The weights of headings and law name against the text, and the three weights of the law prior. The words of asking that
are left out of questions are a list, not numbers: it was written by hand.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from eval.legal.data import Question
from eval.legal.folds import Folds
from qiusuo.legal.index import CANDIDATES, SIZE_CAP, LegalIndex
from qiusuo.legal.models import LawKind

HEADINGS = (0.3, 0.5, 0.7)
NAMES = (0.0, 0.1, 0.2)
LEVELS = (0.1, 0.2, 0.3)
CITED = (0.025, 0.05, 0.075)
SIZES = (0.15, 0.3, 0.45)
_CORE = {LawKind.CONSTITUTION, LawKind.STATUTE, LawKind.JUDICIAL_INTERPRETATION}
Weights = tuple[float, float, float]
Fields = tuple[float, float]
Row = tuple[int, float, Weights]


def cross_validated(index: LegalIndex, questions: Sequence[Question], folds: Folds) -> list[list[int]]:
    """Return each question's ranking by the weights that were best (R@10) for the other folds."""
    features, versions = _features(index), index.store.version_ids()
    prior = {article: features[version] for article, version in enumerate(versions) if version}
    found: dict[Fields, list[list[Row]]] = {
        fields: [_candidates(index, question.text, fields, prior) for question in questions]
        for fields in itertools.product(HEADINGS, NAMES)
    }
    recall = {
        (fields, weights): [
            _recall(_ranked(rows, weights, 10), question)
            for rows, question in zip(found[fields], questions, strict=True)
        ]
        for fields in found
        for weights in itertools.product(LEVELS, CITED, SIZES)
    }
    rankings: list[list[int]] = [[] for _ in questions]
    for number, (chosen_on, measured_on) in enumerate(folds):
        fields, weights = max(recall, key=lambda choice: sum(recall[choice][place] for place in chosen_on))
        print(
            f"  fold {number}: headings {fields[0]}, name {fields[1]}, "
            f"level {weights[0]}, cited {weights[1]}, size {weights[2]}",
            flush=True,
        )
        for place in measured_on:
            rankings[place] = _ranked(found[fields][place], weights, 100)
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


def _candidates(index: LegalIndex, text: str, fields: Fields, prior: dict[int, Weights]) -> list[Row]:
    weights = {"text": 1.0, "headings": fields[0], **({"law": fields[1]} if fields[1] else {})}
    scores = index.word_scores(text, CANDIDATES, weights)
    return [(article, score, prior[article]) for article, score in scores.items()]


def _ranked(rows: list[Row], weights: Weights, depth: int) -> list[int]:
    level, cited, size = weights
    scored = [(-(words + level * f[0] + cited * f[1] + size * f[2]), article) for article, words, f in rows]
    return [article for _, article in sorted(scored)[:depth]]


def _recall(found: list[int], question: Question) -> float:
    return len(question.gold.intersection(found)) / len(question.gold)
