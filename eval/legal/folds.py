"""Folds of the questions: by chance, or so that no article answers questions of two folds."""

from __future__ import annotations

import random
from collections.abc import Sequence

from eval.legal.data import Question

FOLDS = 5
Folds = list[tuple[list[int], list[int]]]
"""Of each fold the places of the questions outside it (to choose on) and inside it (to measure on)."""


def by_chance(count: int) -> Folds:
    """Return folds of questions drawn by chance."""
    return _folds([[place] for place in range(count)])


def by_article(questions: Sequence[Question]) -> Folds:
    """Return folds such that questions with an article in common are in the same one."""
    leader = list(range(len(questions)))

    def find(place: int) -> int:
        while leader[place] != place:
            place = leader[place]
        return place

    first: dict[int, int] = {}
    for place, question in enumerate(questions):
        for article in question.gold:
            leader[find(place)] = find(first.setdefault(article, place))
    groups: dict[int, list[int]] = {}
    for place in range(len(questions)):
        groups.setdefault(find(place), []).append(place)
    return _folds(list(groups.values()))


def _folds(groups: list[list[int]]) -> Folds:
    random.Random(9).shuffle(groups)
    fold_of = {place: number % FOLDS for number, group in enumerate(groups) for place in group}
    every = sorted(fold_of)
    return [
        ([place for place in every if fold_of[place] != fold], [place for place in every if fold_of[place] == fold])
        for fold in range(FOLDS)
    ]
