"""Fits the weights by which a question is known for one that people bring to lawyers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qiusuo.legal.index.asked import asked_articles
from qiusuo.legal.reading.numbers import folded
from qiusuo.legal.recognising.script import simplified
from qiusuo.legal.recognising.told import LEGAL_FROM, WEIGHTS, features

QUESTIONS = Path(__file__).parent / "questions"
PENALTY = 0.03
STEPS = 200
RATE = 0.3
FOLDS = 5
LEAST_OFTEN = 2
LEAST_WEIGHT = 0.2


@dataclass(frozen=True)
class Weights:
    """What each feature says for a legal question, and what all of them start from."""

    features: dict[str, float]
    bias: float

    def score(self, question: str) -> float:
        known = [self.features[one] for one in _features(question) if one in self.features]
        return sum(known) / float(np.sqrt(max(len(known), 1))) + self.bias


def told_legal(stard: Sequence[str]) -> list[str]:
    """Return the legal questions to learn from: STARD's training part, our own, and those written for articles."""
    return [*stard, *_lines("told_legal.txt"), *(question for _, question in asked_articles())]


def told_everyday() -> list[str]:
    """Return the everyday ones: our own, and the odd ids of the other set."""
    rows = [json.loads(line) for line in _lines("everyday.jsonl")]
    odd = [row["question"] for row in rows if row["language"] == "zh" and int(row["id"].split("-")[1]) % 2]
    return [*_lines("told_everyday.txt"), *odd]


def fit(legal: Sequence[str], everyday: Sequence[str]) -> Weights:
    """Fit a logistic regression in which both kinds weigh the same."""
    found = [_features(question) for question in (*legal, *everyday)]
    often = Counter(one for each in found for one in each)
    places = {one: place for place, one in enumerate(one for one in sorted(often) if often[one] >= LEAST_OFTEN)}
    known = [[places[one] for one in each if one in places] for each in found]
    wanted = np.concatenate([np.ones(len(legal)), np.zeros(len(everyday))])
    share = np.where(wanted == 1, len(wanted) / (2 * len(legal)), len(wanted) / (2 * len(everyday)))
    weights, bias = _descend(known, len(places), wanted, share)
    kept = {one: round(float(weights[place]), 2) for one, place in places.items()}
    return Weights({one: weight for one, weight in kept.items() if abs(weight) >= LEAST_WEIGHT}, round(bias, 3))


def _descend(
    known: Sequence[Sequence[int]], count: int, wanted: NDArray[np.float64], share: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return weights and bias by Adam, for questions by the places of their features; the problem is convex."""
    rows = np.repeat(np.arange(len(known)), [len(each) for each in known])
    columns = np.array([place for each in known for place in each])
    sizes = 1 / np.sqrt(np.array([max(len(each), 1) for each in known]))
    values = np.zeros(count + 1)
    first, second = np.zeros_like(values), np.zeros_like(values)
    for step in range(1, STEPS + 1):
        scores = sizes * np.bincount(rows, values[columns], len(known)) + values[-1]
        error = share * (1 / (1 + np.exp(-scores)) - wanted)
        slope = np.append(np.bincount(columns, (error * sizes)[rows], count) + PENALTY * values[:-1], error.sum())
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        pace = RATE * (1 - step / (1.1 * STEPS))
        values -= pace * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-6)
    return values[:-1], float(values[-1])


def by_folds(legal: Sequence[str], everyday: Sequence[str]) -> tuple[float, float]:
    """Return which share of either kind is taken for legal by weights that were fitted on the other folds."""
    taken = {True: 0, False: 0}
    for fold in range(FOLDS):
        weights = fit(_without(legal, fold), _without(everyday, fold))
        for kind, questions in ((True, legal), (False, everyday)):
            taken[kind] += sum(weights.score(question) > LEGAL_FROM for question in questions[fold::FOLDS])
    return taken[True] / len(legal), taken[False] / len(everyday)


def write(weights: Weights) -> None:
    lines = json.dumps({"bias": weights.bias, "features": weights.features}, ensure_ascii=False, separators=(",", ":"))
    WEIGHTS.write_text(lines + "\n", "utf-8")


def _without(questions: Sequence[str], fold: int) -> list[str]:
    return [question for place, question in enumerate(questions) if place % FOLDS != fold]


def _features(question: str) -> set[str]:
    return features(simplified(folded(question)))


def _lines(name: str) -> list[str]:
    return [line for line in (QUESTIONS / name).read_text("utf-8").splitlines() if line.strip()]
