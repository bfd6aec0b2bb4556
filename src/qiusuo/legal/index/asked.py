"""Questions as lay people ask them, each written for an article: who asks like one of them is led to its article.

``asked.txt`` has the questions, ``asked_articles.txt`` of each article the marks by which it is known: the rarest pairs
of characters of the text that the questions were written from. Laws are amended and numbered anew; where most of the
marks are missing, the article of that number is another one and gets no questions.
"""

from __future__ import annotations

import functools
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from qiusuo.legal.index.ranking import Fields, RankedDocument, RankingBackend, TantivyBackend, question_tokens
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.names import NameTable

ASKED: Final = Path(__file__).parent.parent / "data" / "asked.txt"
MARKS: Final = Path(__file__).parent.parent / "data" / "asked_articles.txt"
ASKED_FIELDS: Final = Fields(ranked=("asked",))
ENOUGH_MARKS: Final = 0.5
NEAREST: Final = 300
"""So many written questions are looked at for a reader's one."""
SECOND: Final = 0.3
DOUBT: Final = 80.0
"""A few words are soon said by some question: as if so much more were asked, of what none says anything."""
LEAST_SHARE: Final = 1e-4


class AskedArticle(NamedTuple):
    """An article by the usual name of its law and its number."""

    law: str
    number: ArticleNumber


def asked_articles(path: Path | None = None) -> Iterator[tuple[AskedArticle, str]]:
    """Yield the third column of each line of a table with the article that the first two name."""
    for line in (path or ASKED).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            law, number, told = line.split("\t")
            yield AskedArticle(law, ArticleNumber(*map(int, number.split("-")))), told


@functools.cache
def asked_questions() -> Mapping[AskedArticle, tuple[str, ...]]:
    """Return the questions that were written for each article."""
    found: defaultdict[AskedArticle, list[str]] = defaultdict(list)
    for article, question in asked_articles():
        found[article].append(question)
    return {article: tuple(questions) for article, questions in found.items()}


@functools.cache
def known_marks() -> Mapping[AskedArticle, tuple[str, ...]]:
    """Return the marks of the articles that have some."""
    return {article: tuple(marks.split()) for article, marks in asked_articles(MARKS)}


def asked_rows(database: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    """Yield the questions whose article a store holds, with its id: in every version that says what they ask for."""
    names = NameTable.build((int(row[0]), str(row[1])) for row in database.execute("SELECT id, name FROM laws"))
    for article, questions in asked_questions().items():
        marks = known_marks().get(article, ())
        for law_id in names.find(article.law):
            rows = database.execute(
                "SELECT a.id, a.text FROM articles a JOIN versions v ON v.id = a.version_id"
                " WHERE v.law_id = ? AND a.number = ? AND a.suffix = ? AND a.occurrence = 0 ORDER BY a.id",
                (law_id, *article.number),
            )
            for article_id, text in rows.fetchall():
                if sum(mark in text for mark in marks) >= ENOUGH_MARKS * len(marks):
                    yield from ((article_id, question) for question in questions)


def asked_documents(database: sqlite3.Connection) -> Iterator[RankedDocument]:
    """Yield the questions for ranking, each under the id of its article."""
    for article_id, question in asked_rows(database):
        yield RankedDocument(article_id, {"asked": question}, {})


def together(best: Any, second: Any = 0.0) -> Any:
    """Return how like the questions of an article are: the likest counts most, the next a little."""
    return (best + SECOND * second) / (1 + SECOND)


class AskedIndex:
    """The written questions of a generation, searched by words."""

    def __init__(self, folder: Path) -> None:
        self._backend: RankingBackend = TantivyBackend(folder, ASKED_FIELDS)

    def likeness(self, question: str) -> dict[int, float]:
        """Return the articles that like questions were written for, with how like they are.

        Of a written question that is how much of the reader's it says, rare words counting more: up to 1 of a long one.
        """
        words = question_tokens(question)
        told = DOUBT + sum(self._rarity(word) for word in words)
        found: defaultdict[int, list[float]] = defaultdict(list)
        for hit in self._backend.search(dict.fromkeys(words, 1.0), {"asked": 1.0}, NEAREST):  # the best first
            found[hit.id].append(hit.score / told)
        return {article: together(*likes[:2]) for article, likes in found.items()}

    def _rarity(self, word: str) -> float:
        """Return what the ranking gives for a word that a question of usual length has once."""
        share = self._backend.share(word, "asked")
        return 1.0 if share is None else math.log(1 + (1 - share) / (share + LEAST_SHARE))
