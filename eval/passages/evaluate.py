"""Measures picking, coverage and differences on rows of the data, through the public functions alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from eval.passages.data import Row
from qiusuo.passages import ANSWERS_FROM, Passage, Text, coverage, differences, pick

QUOTED = 900
READ = 1500
FALSE_REFUSALS = 0.05


@dataclass(frozen=True)
class Quotes:
    """Shares of questions answered by the first sentence, by the first passage, and by all of 900 characters."""

    first_sentence: float
    first_passage: float
    all_of_it: float


@dataclass(frozen=True)
class Refusals:
    """Shares of questions that are refused at a threshold: with the answer at hand, and without."""

    threshold: float
    answered: float
    answered_by_one: float
    other_question: float
    same_topic: float


@dataclass(frozen=True)
class Told:
    """Shares of questions for which a difference is told.

    ``rightly``: with the right or the wrong answer as a value. ``clean``: of up to five right passages.
    ``unanswered``: of a right passage and one on the same topic that has no answer.
    """

    other_text: float
    rightly: float
    same_text: float
    clean: float
    unanswered: float


def picked(query: str, texts: Sequence[str], budget: int) -> list[Passage]:
    return pick(query, [Text(number, "", text) for number, text in enumerate(texts, 1)], budget)


def in_page(rows: Sequence[Row], budget: int, draws: int = 3) -> float:
    """Return how often the answer is in the best characters of a page of one right and 14 wrong passages."""

    def right(row: Row, draw: int) -> bool:
        passages = picked(row.query, ["\n\n".join(row.sample(1, 14, draw))], budget)
        return row.answered_by("\n".join(passage.text for passage in passages))

    return _share(rows, draws, right)


def quotes(rows: Sequence[Row], right: int, wrong: int, draws: int = 4) -> Quotes:
    found = [(row, picked(row.query, row.sample(right, wrong, draw), QUOTED)) for row in rows for draw in range(draws)]
    return Quotes(
        _mean(row.answered_by(passages[0].sentence) for row, passages in found),
        _mean(row.answered_by(passages[0].text) for row, passages in found),
        _mean(row.answered_by("\n".join(passage.text for passage in passages)) for row, passages in found),
    )


def refusals(rows: Sequence[Row], threshold: float | None = ANSWERS_FROM, draws: int = 3) -> Refusals:
    """Count refusals; without a threshold at the one that refuses 5 % of what three passages of five answer."""

    def covered(row: Row, texts: Sequence[str]) -> float:
        return coverage(row.query, picked(row.query, texts, READ))

    cases = [(row, draw) for row in rows for draw in range(draws)]
    answered = [covered(row, row.sample(3, 2, draw)) for row, draw in cases]
    by_one = [covered(row, row.sample(1, 4, draw)) for row, draw in cases]
    other = [covered(row, _far_from(row, rows, draw).sample(3, 2, draw)) for row, draw in cases]
    wrong = [(row, row.sample(0, 5, draw)) for row, draw in cases]
    same = [covered(row, texts) for row, texts in wrong if texts and not row.answered_by("\n".join(texts))]
    if threshold is None:
        threshold = sorted(answered)[int(FALSE_REFUSALS * len(answered))]
    return Refusals(
        threshold, *(_mean(value < threshold for value in values) for values in (answered, by_one, other, same))
    )


def _far_from(row: Row, rows: Sequence[Row], draw: int) -> Row:
    """Return another question in the same language: neighbours in the data are often about the same event."""
    alike = [other for other in rows if other.query.isascii() == row.query.isascii()]
    return alike[(alike.index(row) + len(alike) // 2 + 7 * draw) % len(alike)]


def told(rows: Sequence[Row], draws: int = 3) -> Told:
    def difference(row: Row, texts: Sequence[str]) -> bool:
        return bool(differences(row.query, picked(row.query, texts, READ)))

    def rightly(row: Row, draw: int) -> bool:
        found = differences(row.query, picked(row.query, row.contradiction(draw, same_text=False), READ))
        return any(row.is_answer(one.first.value) or row.is_answer(one.second.value) for one in found)

    unanswered = [(row, row.sample(1, 1, draw)) for row in rows for draw in range(draws)]
    return Told(
        _share(rows, draws, lambda row, draw: difference(row, row.contradiction(draw, same_text=False))),
        _share(rows, draws, rightly),
        _share(rows, draws, lambda row, draw: difference(row, row.contradiction(draw, same_text=True))),
        _share(rows, draws, lambda row, draw: difference(row, row.sample(5, 0, draw))),
        _mean(
            difference(row, texts)
            for row, texts in unanswered
            if sum(row.answered_by(text) for text in texts) == 1 < len(texts)
        ),
    )


def clean(rows: Sequence[Row]) -> float:
    """Return how often a difference is told of right passages alone."""
    return _mean(bool(differences(row.query, picked(row.query, row.sample(5, 0), READ))) for row in rows)


def seconds(query: str, texts: Sequence[str], budget: int = READ, runs: int = 5) -> float:
    """Return the shortest of some runs: what picking takes on a machine that does nothing else."""
    taken = []
    for _ in range(runs):
        started = time.process_time()
        picked(query, texts, budget)
        taken.append(time.process_time() - started)
    return min(taken)


def _share(rows: Sequence[Row], draws: int, right: Callable[[Row, int], bool]) -> float:
    return _mean(right(row, draw) for row in rows for draw in range(draws))


def _mean(values: Iterable[bool]) -> float:
    found = [float(value) for value in values]
    return statistics.fmean(found) if found else 0.0
