"""Fit the lens of ``qiusuo.legal.index.semantic`` on questions with known answers, and measure it on unseen ones.

``python -m eval.legal --fit-lens`` writes it anew from all train questions of STARD. The loss of a question is the
cross-entropy of its articles against hard and chance ones, under the score that ranking uses (words, prior, nearness),
so the lens learns what words do not know.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.legal.data import Question
from eval.legal.folds import by_chance
from eval.legal.priors import CrossValidation
from qiusuo.legal.index.handle import CANDIDATES, SEMANTIC_WEIGHT, LegalIndex
from qiusuo.legal.index.semantic import DIMENSIONS, LENS, Vectors

HARD, CHANCE, MOST = 80, 60, 120
SHARPNESS = 6.0
DECAY = 60.0
STEPS = 25
RANK = 64
_MEMORY = 8
NO_LENS = np.zeros((2, DIMENSIONS, 1), dtype=np.float32)


@dataclass(frozen=True)
class Rivals:
    """A question, its articles (``right`` of them, first) and others."""

    question: Any
    nearest: float
    articles: list[int]
    right: int


@dataclass(frozen=True)
class Lesson:
    """The same, and how each article scores without nearness."""

    rivals: Rivals
    scores: Any


def rivals(index: LegalIndex, questions: Sequence[Question]) -> list[Rivals]:
    """Return of each question what stands against its articles: the best by the plain ranking, and some by chance."""
    vectors, chance = _vectors(index), random.Random(9)
    vectors.lens, index.wording = NO_LENS, {}  # nothing that was fitted takes part
    pool = sorted({article for question in questions for article in question.gold})
    made = []
    for question in questions:
        right = sorted(question.gold)[:20]
        hard = [hit.id for hit in index.rank_articles(question.text, HARD)]
        others = [article for article in (*hard, *chance.sample(pool, min(CHANCE, len(pool)))) if article not in right]
        plain = vectors.question(question.text)[0]
        nearest = max(float(value) for value in vectors.of(hard) @ plain)
        made.append(Rivals(plain, nearest, [*right, *dict.fromkeys(others)][:MOST], len(right)))
    return made


def lesson(index: LegalIndex, against: Rivals, words: Mapping[str, float]) -> Lesson:
    """Return the lesson of a question, put in these words."""
    found = index.scores_of(words, CANDIDATES)
    scores = [found.get(article, 0.0) + index.prior_of(article) for article in against.articles]
    return Lesson(against, np.array(scores, np.float32))


def fit(index: LegalIndex, taught: Sequence[Lesson]) -> Any:
    """Return the lens that fits the lessons: the best matrix, cut down to its strongest directions."""
    most = max(len(lesson.rivals.articles) for lesson in taught)
    documents = np.zeros((len(taught), most, DIMENSIONS), np.float32)
    base = np.full((len(taught), most), -1e3, np.float32)
    target = np.zeros((len(taught), most), np.float32)
    for place, lesson in enumerate(taught):
        count = len(lesson.rivals.articles)
        documents[place, :count] = _vectors(index).of(lesson.rivals.articles)
        base[place, :count] = lesson.scores
        target[place, : lesson.rivals.right] = 1 / lesson.rivals.right
    plain = np.stack([lesson.rivals.question for lesson in taught])
    scale = SEMANTIC_WEIGHT / np.array([[lesson.rivals.nearest] for lesson in taught], np.float32)

    def loss(matrix: Any) -> tuple[float, Any]:
        turned = plain + plain @ matrix
        scores = SHARPNESS * (base + scale * np.matmul(documents, turned[:, :, None])[:, :, 0])
        scores -= scores.max(axis=1, keepdims=True)
        total = np.exp(scores).sum(axis=1, keepdims=True)
        value = float(np.log(total).sum() - (target * scores).sum() + DECAY * (matrix**2).sum())
        slope = (np.exp(scores) / total - target) * SHARPNESS * scale
        return value, plain.T @ np.matmul(slope[:, None, :], documents)[:, 0, :] + 2 * DECAY * matrix

    left, sizes, right = np.linalg.svd(descend(loss, np.zeros((DIMENSIONS, DIMENSIONS), np.float32)))
    return np.stack([left[:, :RANK] * sizes[:RANK], right[:RANK].T]).astype(np.float32)


def descend(loss: Callable[[Any], tuple[float, Any]], start: Any, steps: int = STEPS) -> Any:
    """Return where the loss is low: some steps of L-BFGS with a step size that is halved until it helps."""
    place, (value, slope) = start, loss(start)
    past: list[tuple[Any, Any]] = []
    for _ in range(steps):
        direction = -_times_inverse_curvature(slope, past)
        size = 1.0 if past else 1.0 / max(1.0, float(np.abs(slope).sum()))
        down = float((slope * direction).sum())
        for _halving in range(20):
            there = place + size * direction
            value_there, slope_there = loss(there)
            if value_there <= value + 1e-4 * size * down:
                break
            size /= 2
        else:
            return place
        if float(((there - place) * (slope_there - slope)).sum()) > 0:
            past = [*past[1 - _MEMORY :], (there - place, slope_there - slope)]
        place, value, slope = there, value_there, slope_there
    return place


def _times_inverse_curvature(slope: Any, past: list[tuple[Any, Any]]) -> Any:
    """Return the slope times the inverse of the curvature that the last steps met (the two loops of L-BFGS)."""
    found, shares = slope, []
    for step, change in reversed(past):
        share = float((step * found).sum()) / float((step * change).sum())
        found = found - share * change
        shares.append(share)
    if past:
        step, change = past[-1]
        found = found * (float((step * change).sum()) / float((change * change).sum()))
    for (step, change), share in zip(past, reversed(shares), strict=True):
        found = found + step * (share - float((change * found).sum()) / float((step * change).sum()))
    return found


def held_out(
    index: LegalIndex, questions: Sequence[Question], against: Sequence[Rivals], known: CrossValidation, depth: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return each question's ranking with a lens and a wording fitted on the other folds.

    Once without the questions that were written for articles, once with them.
    """
    vectors, asked = _vectors(index), index.asked
    plain: list[list[int]] = [[] for _ in questions]
    rankings: list[list[int]] = [[] for _ in questions]
    for fold, (fitted_on, measured_on) in enumerate(known.folds):
        taught = [lesson(index, against[place], known.words(place, fold)) for place in fitted_on]
        vectors.lens, index.wording = fit(index, taught), known.table(fold)
        for place in measured_on:
            for ranked, index.asked in ((plain, None), (rankings, asked)):
                ranked[place] = [hit.id for hit in index.rank_articles(questions[place].text, depth)]
    return plain, rankings


def write(index: LegalIndex, questions: Sequence[Question], path: Path = LENS) -> None:
    """Fit the lens on all questions, each in words widened by what does not know it, and put it into the package."""
    known = CrossValidation(index, questions, by_chance(len(questions)))
    against = rivals(index, questions)
    taught = [
        lesson(index, against[place], known.words(place, known.fold_of[place])) for place in range(len(questions))
    ]
    np.save(path, fit(index, taught).astype(np.float16))


def _vectors(index: LegalIndex) -> Vectors:
    if index.vectors is None:
        raise ValueError("the index has no vectors")
    return index.vectors
