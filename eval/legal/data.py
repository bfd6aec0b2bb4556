"""The labelled collections beside the repository, and indexes over them."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path

from qiusuo.legal.building.imports import Importer, ImportReport
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.numbers import read_label

SHARED = Path(__file__).resolve().parents[3] / "shared" / "legal"
_NAME = re.compile(r"^(.*?)(第[零一二三四五六七八九十百千]+条(?:之[一二三四五六七八九十]+)?)$")


@dataclass(frozen=True)
class Question:
    """A lay question and the ids of the articles that answer it."""

    text: str
    gold: frozenset[int]
    laws: frozenset[str]


@dataclass(frozen=True)
class FactQuery:
    """A description of facts and the grades of its candidates."""

    text: str
    grades: dict[str, int]


def build(folder: Path, source: str, *, with_vectors: bool = False) -> tuple[LegalIndex, ImportReport]:
    """Build an index over one of the shared files; one that is there already is not built again."""
    report = Importer(IndexFolder(folder), with_vectors=with_vectors).run([SHARED / source])
    return IndexHandle(IndexFolder(folder)).get(), report


def stard_texts() -> list[str]:
    """Return the words of the train questions."""
    return [json.loads(line)["query"] for line in (SHARED / "stard_train.jsonl").read_text("utf-8").splitlines()]


def stard_questions(index: LegalIndex) -> list[Question]:
    """Return the train questions with the ids of their articles."""
    questions = []
    for line in (SHARED / "stard_train.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        found = [_article(index, name) for name in row["gold"]]
        laws = frozenset(law for law, _ in found)
        questions.append(Question(row["query"], frozenset(article for _, article in found), laws))
    return questions


def _article(index: LegalIndex, name: str) -> tuple[str, int]:
    match = _NAME.match(name)
    if match is None:
        raise ValueError(name)
    (law_id,) = index.names.find(match[1])
    number = read_label(match[2]) or ArticleNumber(0)
    (version,) = index.store.versions_of(law_id)
    return match[1], index.store.articles(version, number)[0].id


def lecard_queries() -> list[FactQuery]:
    """Return the descriptions of facts."""
    lines = (SHARED / "lecard_queries.jsonl").read_text("utf-8").splitlines()
    return [FactQuery(row["query"], row["relevance"]) for row in map(json.loads, lines)]


def lecard_ids(index: LegalIndex) -> dict[int, list[str]]:
    """Return the collection's ids of each judgment in the index: the import keeps the order and drops repetitions."""
    found: dict[int, list[str]] = {}
    known: dict[str, int] = {}
    with gzip.open(SHARED / "lecard_cases.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            text = "\n".join(row[part].strip() for part in ("head", "facts", "reasoning", "verdict"))
            case_id = known.setdefault(text, len(known) + 1)
            found.setdefault(case_id, []).append(row["id"])
    stats = index.store.stats(index.generation)
    if stats.cases != len(known):
        raise ValueError(f"{stats.cases} judgments in the index, {len(known)} different ones in the file")
    return found
