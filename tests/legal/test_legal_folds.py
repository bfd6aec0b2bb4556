"""The folds by which legal search is measured, and the descent that fits the lens."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def evaluation(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what imports a module of the evaluation, which is no part of the package."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
    return lambda name: importlib.import_module(f"eval.legal.{name}")


def test_every_question_is_measured_once_and_never_chosen_on(evaluation: Any) -> None:
    folds = evaluation("folds").by_chance(23)
    assert sorted(place for _, measured_on in folds for place in measured_on) == list(range(23))
    assert all(not set(chosen_on) & set(measured_on) for chosen_on, measured_on in folds)
    assert all(len(chosen_on) + len(measured_on) == 23 for chosen_on, measured_on in folds)


def test_no_article_answers_questions_of_two_folds(evaluation: Any) -> None:
    question = evaluation("data").Question
    # A chain: 1-2, 2-3, 3-4 belong together although the first and the last share nothing.
    gold = [{1, 2}, {2, 3}, {3, 4}, *({number} for number in range(10, 30))]
    questions = [question("问题", frozenset(articles), frozenset()) for articles in gold]
    for chosen_on, measured_on in evaluation("folds").by_article(questions):
        there = {article for place in chosen_on for article in gold[place]}
        assert not there & {article for place in measured_on for article in gold[place]}


def test_the_descent_finds_the_lowest_place(evaluation: Any) -> None:
    np = pytest.importorskip("numpy", reason="comes with the extra semantic")
    goal, steep = np.array([[3.0, -2.0], [0.5, 8.0]]), np.array([[1.0, 30.0], [4.0, 0.3]])

    def loss(place: Any) -> tuple[float, Any]:
        away = place - goal
        return float((steep * away**2).sum()), 2 * steep * away

    assert np.allclose(evaluation("lens").descend(loss, np.zeros((2, 2)), steps=60), goal, atol=1e-3)
