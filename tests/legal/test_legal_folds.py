"""The folds by which legal search is measured, and the descent that fits the lens."""

from __future__ import annotations

import pytest
from eval.legal.data import Question
from eval.legal.folds import by_article, by_chance


def question(*articles: int) -> Question:
    return Question(f"问题{articles}", frozenset(articles), frozenset())


def test_every_question_is_measured_once_and_never_chosen_on() -> None:
    folds = by_chance(23)
    assert sorted(place for _, measured_on in folds for place in measured_on) == list(range(23))
    assert all(not set(chosen_on) & set(measured_on) for chosen_on, measured_on in folds)
    assert all(len(chosen_on) + len(measured_on) == 23 for chosen_on, measured_on in folds)


def test_no_article_answers_questions_of_two_folds() -> None:
    # A chain: 1-2, 2-3, 3-4 belong together although the first and the last share nothing.
    questions = [question(1, 2), question(2, 3), question(3, 4), *(question(number) for number in range(10, 30))]
    for chosen_on, measured_on in by_article(questions):
        there = {article for place in chosen_on for article in questions[place].gold}
        assert not there & {article for place in measured_on for article in questions[place].gold}


def test_the_descent_finds_the_lowest_place() -> None:
    np = pytest.importorskip("numpy", reason="comes with the extra semantic")
    from eval.legal.lens import descend

    goal, steep = np.array([[3.0, -2.0], [0.5, 8.0]]), np.array([[1.0, 30.0], [4.0, 0.3]])

    def loss(place: object) -> tuple[float, object]:
        away = place - goal
        return float((steep * away**2).sum()), 2 * steep * away

    assert np.allclose(descend(loss, np.zeros((2, 2)), steps=60), goal, atol=1e-3)
