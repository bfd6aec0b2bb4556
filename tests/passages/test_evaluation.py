"""What picking, coverage and differences must reach on real searches, where the data is at hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eval.passages import evaluate
from eval.passages.data import MISSING, Row, available, load

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)


@pytest.fixture(scope="module")
def rows() -> Callable[[str], list[Row]]:
    loaded: dict[str, list[Row]] = {}

    def of_set(name: str) -> list[Row]:
        if name not in loaded:
            loaded[name] = load(name)
        return loaded[name]

    return of_set


def test_the_answer_is_in_the_best_characters_of_a_page(rows: Callable[[str], list[Row]]) -> None:
    """Measured when this was written, over three draws: 0.90 and 0.96."""
    assert evaluate.in_page(rows("zh_refine"), 600, draws=1) >= 0.86
    assert evaluate.in_page(rows("zh_refine"), 1500, draws=1) >= 0.94


@pytest.mark.parametrize(
    ("name", "right", "wrong", "floor"),
    [("zh_refine", 3, 2, 0.77), ("zh_refine", 1, 4, 0.57), ("zh_fact", 1, 4, 0.27), ("en_fact", 1, 4, 0.36)],
)
def test_the_first_sentence_answers(
    rows: Callable[[str], list[Row]], name: str, right: int, wrong: int, floor: float
) -> None:
    found = evaluate.quotes(rows(name), right, wrong, draws=4 if len(rows(name)) < 100 else 1)
    assert found.first_sentence >= floor
    assert found.all_of_it >= 0.96


def test_what_does_not_answer_is_refused(rows: Callable[[str], list[Row]]) -> None:
    found = evaluate.refusals(rows("zh_refine"), draws=1)
    assert found.answered <= 0.05
    assert found.answered_by_one <= 0.15
    assert found.other_question >= 0.97
    assert found.same_topic >= 0.2


def test_contradictions_are_told(rows: Callable[[str], list[Row]]) -> None:
    found = evaluate.told(rows("zh_fact") + rows("en_fact"), draws=1)
    assert found.other_text >= 0.52
    assert found.same_text >= 0.75
    assert found.clean <= 0.12
    assert found.unanswered <= 0.27
