"""Questions of lay people in whole sentences, over installed laws: is the right article among the first two?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.recognising.recognise import looks_legal

FOLDER = Path(__file__).parent / "questions"
FIRST = 2
_NUMBER = re.compile(r"(\d+)(?:之([一二三四五六七八九]))?")


@dataclass(frozen=True)
class Counted:
    """How many questions have their article in the index at all, first, among the first two, among the first five."""

    questions: int
    known: int
    first: int
    first_two: int
    first_five: int


def lay_questions() -> list[dict[str, object]]:
    """Return the questions with their articles and the part they belong to."""
    return [json.loads(line) for line in (FOLDER / "lay.jsonl").read_text("utf-8").splitlines()]


def count(index: LegalIndex, rows: list[dict[str, object]]) -> Counted:
    """Rank the laws in force for each question."""
    versions = index.versions_in_force(date.today().isoformat())  # noqa: DTZ011 - the law of this place's day
    found = []
    for row in rows:
        right = set(_articles(index, row, versions))
        hits = [hit.id for hit in index.rank_articles(str(row["question"]), 5, versions)]
        place = next((place for place, article in enumerate(hits) if article in right), len(hits))
        found.append((bool(right), place))
    places = [place for _, place in found]
    return Counted(
        len(rows),
        sum(known for known, _ in found),
        *(sum(place < depth for place in places) for depth in (1, FIRST, 5)),
    )


def recognised(rows: list[dict[str, object]]) -> int:
    """Return how many of the questions are taken for legal ones."""
    return sum(looks_legal(str(row["question"])) for row in rows)


def everyday_questions() -> list[dict[str, object]]:
    """Return the questions that no law answers; those with odd ids were for tuning."""
    return [json.loads(line) for line in (FOLDER / "everyday.jsonl").read_text("utf-8").splitlines()]


def _articles(index: LegalIndex, row: dict[str, object], versions: frozenset[int]) -> Iterator[int]:
    named = row["articles"]
    for one in named if isinstance(named, list) else ():
        match = _NUMBER.fullmatch(one["num"])
        if match is None:
            raise ValueError(one["num"])
        number = ArticleNumber(int(match[1]), "一二三四五六七八九".index(match[2]) + 1 if match[2] else 0)
        for law_id in index.names.find(one["law"]):
            for version in index.store.versions_of(law_id):
                if version.id in versions:
                    yield from (article.id for article in index.store.articles(version, number))
