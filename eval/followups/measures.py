"""Reads collections of follow-up questions and counts how much of the question that was meant a query carries.

Two of them are no part of the project: where they are absent, only our own conversations are measured.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from qiusuo.chat.followups import Exchange, resolve
from qiusuo.citations.meaning.wording import STOP_WORDS
from qiusuo.tables import read_table

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "followups"
ENGLISH = FOLDER / "en_cast2019.jsonl"
CHINESE = FOLDER / "zh_rewrites.jsonl.gz"
ABSENT = f"the collections of follow-up questions are not in {FOLDER.parent.name}/{FOLDER.name} beside the project"
OWN = Path(__file__).parent / "data"
# Rules were made by looking at even topics and at these first rows only.
CHINESE_ROWS_LOOKED_AT = 9000

_WORD = re.compile("[a-z0-9]+")
_NEITHER_HAN_NOR_LATIN = re.compile(r"[^\u3400-\u9fffa-z0-9]")


@dataclass(frozen=True)
class Row:
    """A question, what was said before it, and what it meant by itself."""

    before: tuple[Exchange, ...]
    question: str
    meant: str
    looked_at: bool


@dataclass(frozen=True)
class Share:
    """Over the questions that need their context: how much of what was meant is there, and how much is not alien."""

    rows: int
    recall: float
    precision: float
    whole: float


def content_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower().replace("'s", ""))) - STOP_WORDS


def character_pairs(text: str) -> set[str]:
    letters = _NEITHER_HAN_NOR_LATIN.sub("", text.lower())
    return {letters[at : at + 2] for at in range(len(letters) - 1)}


Parts = Callable[[str], set[str]]


def english_rows() -> list[Row]:
    rows = []
    for line in ENGLISH.read_text("utf-8").splitlines():
        row = json.loads(line)
        before = tuple(Exchange(question) for question in row["before"])
        even = int(row["id"].split("_")[0]) % 2 == 0
        rows.append(Row(before, row["question"], row["standalone"], looked_at=even))
    return rows


def chinese_rows() -> list[Row]:
    rows = []
    with gzip.open(CHINESE, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            before = (Exchange(row["question_before"], row["answer_before"]),)
            rows.append(Row(before, row["question"], row["standalone"], looked_at=number < CHINESE_ROWS_LOOKED_AT))
    return rows


def own_rows(language: str) -> list[Row]:
    """Return the later questions of our own conversations; odd ones were looked at, even ones set aside."""
    rows: list[Row] = []
    before: list[Exchange] = []
    conversation = ""
    for line in read_table(OWN / f"{language}.tsv"):
        if line["conversation"] != conversation:
            conversation, before = line["conversation"], []
        else:
            rows.append(Row(tuple(before), line["asked"], line["meant"], looked_at=int(conversation) % 2 == 1))
        before.append(Exchange(line["asked"], line["answered"]))
    return rows


def needs_context(row: Row, parts: Parts) -> bool:
    return bool(parts(row.meant) - parts(row.question))


def measure(rows: Sequence[Row], query: Callable[[Row], str], parts: Parts) -> Share:
    """Measure the queries of those rows that need their context."""
    recall = precision = whole = 0.0
    needing = [row for row in rows if needs_context(row, parts)]
    for row in needing:
        given, meant = parts(query(row)), parts(row.meant)
        recall += len(given & meant) / len(meant)
        precision += len(given & meant) / max(1, len(given))
        whole += meant <= given
    count = max(1, len(needing))
    return Share(len(needing), recall / count, precision / count, whole / count)


def resolved_query(row: Row) -> str:
    return resolve(row.question, row.before).query


def resolved_in_turn(row: Row) -> str:
    """Return the query where each earlier question is remembered as it was understood, as conversations do."""
    before: list[Exchange] = []
    for each in row.before:
        before.append(replace(each, question=resolve(each.question, before).query))
    return resolve(row.question, before).query


def unchanged(rows: Sequence[Row]) -> tuple[int, float]:
    """Of later questions that people left as they were: how many, and the share that is left as it is here too."""
    alone = [row for row in rows if row.before and row.question.split() == row.meant.split()]
    kept = sum(not resolve(row.question, row.before).changed for row in alone)
    return len(alone), kept / max(1, len(alone))


def unchanged_after_others(rows: Sequence[Row]) -> tuple[int, float]:
    """The same for a new beginning: the first question of a conversation, asked at the end of another one."""
    kept = count = 0
    for earlier, later in pairwise(rows):
        first = later.before[0].question if later.before else later.question
        if (earlier.before[0].question if earlier.before else earlier.question) != first and _is_beginning(first):
            count += 1
            kept += not resolve(first, (*earlier.before, Exchange(earlier.question))).changed
    return count, kept / max(1, count)


def _is_beginning(question: str) -> bool:
    """Chat is full of first lines that are none; only those of some length with a question in them count."""
    return bool(re.search(r"[A-Za-z]{3}", question)) or bool(
        re.search("什么|怎么|谁|哪|吗|多少|几|如何|介绍", question) and len(question) >= 6
    )
