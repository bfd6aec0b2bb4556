"""Cross-validation of ranking by words: all that is tuned is chosen on four fifths of the questions, for the fifth.

The table of wording is fitted, and five numbers are chosen: the weights of headings against the text, of the words
that the table adds, and three of the law prior. To choose for a fold, each other fold is ranked with a table that knows
neither of the two. The words of asking, the list of everyday words and its weight were set by hand.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from eval.legal import wording
from eval.legal.data import Question
from eval.legal.folds import Folds
from qiusuo.legal.index.handle import ARTICLE_WEIGHTS, CANDIDATES, LegalIndex, law_features
from qiusuo.legal.index.wording import Table, widened

HEADINGS = (0.3, 0.5)
FITTED = (0.2, 0.4)
LEVELS = (0.05, 0.1, 0.2)
CITED = (0.025, 0.05, 0.075)
SIZES = (0.15, 0.3, 0.45)
_PRIORS = tuple(itertools.product(LEVELS, CITED, SIZES))


class Fields(NamedTuple):
    """What is chosen of a search by words."""

    headings: float
    fitted: float


class CrossValidation:
    """The questions in folds, and the tables that leave folds out."""

    def __init__(self, index: LegalIndex, questions: Sequence[Question], folds: Folds) -> None:
        self._index, self._questions, self.folds = index, questions, folds
        self.fold_of = {place: fold for fold, (_, inside) in enumerate(folds) for place in inside}
        self._prior = _features(index)
        self._asked = [index.asked_counts(question.text) for question in questions]
        articles = wording.article_pairs(index, questions)
        numbers = range(len(folds))
        self._tables = {
            frozenset(left_out): wording.fit(
                [question for place, question in enumerate(questions) if self.fold_of[place] not in left_out], articles
            )
            for left_out in (*itertools.combinations(numbers, 1), *itertools.combinations(numbers, 2))
        }

    def table(self, fold: int) -> Table:
        """Return the table that does not know a fold."""
        return self._tables[frozenset({fold})]

    def words(self, place: int, fold: int) -> dict[str, float]:
        """Return the words of a question for use in fitting for a fold: widened by what knows neither of its folds."""
        return widened(self._questions[place].text, self._tables[frozenset({fold, self.fold_of[place]})])

    def rankings(self, depth: int) -> list[list[int]]:
        """Return each question's ranking by what was best (R@10) for the other folds."""
        choices = [Fields(*choice) for choice in itertools.product(HEADINGS, FITTED)]
        recall = np.zeros((len(self.folds), len(choices), len(_PRIORS)))
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for number, fields in enumerate(choices):
                print(f"\r  weights {number + 1} of {len(choices)}", end="", flush=True)
                found = threads.map(lambda place: self._recalls(place, fields), range(len(self._questions)))  # noqa: B023 - used up in this round
                recall[:, number] = sum(found)
        print()
        ranked: list[list[int]] = [[] for _ in self._questions]
        for fold, (_, inside) in enumerate(self.folds):
            choice, prior = divmod(int(recall[fold].argmax()), len(_PRIORS))
            level, cited, size = _PRIORS[prior]
            print(f"  fold {fold}: {choices[choice]}, level {level}, cited {cited}, size {size}", flush=True)
            for place in inside:
                articles, scores = self._scores(place, choices[choice], self.table(fold))
                ranked[place] = articles[np.argsort(-scores[prior], kind="stable")][:depth].tolist()
        return ranked

    def _recalls(self, place: int, fields: Fields) -> Any:
        """Return a question's part in choosing for each fold: its recall by each prior, nothing for its own fold."""
        found = np.zeros((len(self.folds), len(_PRIORS)))
        gold, own = list(self._questions[place].gold), self.fold_of[place]
        for fold in range(len(self.folds)):
            if fold != own:
                articles, scores = self._scores(place, fields, self._tables[frozenset({fold, own})])
                best = np.argpartition(-scores, min(10, len(articles)) - 1, axis=1)[:, :10]
                found[fold] = np.isin(articles[best], gold).sum(axis=1) / len(gold)
        return found

    def _scores(self, place: int, fields: Fields, table: Table) -> tuple[Any, Any]:
        """Return the articles found, in the order of their ids, and a row of scores for each prior."""
        weights = {**ARTICLE_WEIGHTS, "headings": fields.headings}
        words = widened(self._questions[place].text, table, fields.fitted)
        found = self._index.scores_of(words, CANDIDATES, weights)
        for article, counts in self._asked[place].items():
            found[article] = found.get(article, 0.0) + counts
        articles = np.array(sorted(found))
        return articles, np.array([found[article] for article in sorted(found)]) + np.array(_PRIORS) @ self._prior[
            articles
        ].T


def _features(index: LegalIndex) -> Any:
    """Return level, citations and size of each article's law, a row for each id."""
    of_version = {
        version.id: law_features(version.law.kind, index.store.cited_by[version.law.id], version.article_count)
        for version in index.store.versions.values()
    }
    return np.array([of_version.get(version, (0.0, 0.0, 0.0)) for version in index.store.version_ids()])
