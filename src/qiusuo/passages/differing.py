"""Finds where passages of different sources contradict one another on what a question asks for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Final

from qiusuo.passages.covering import sentences_covering
from qiusuo.passages.picking import Passage
from qiusuo.passages.question import Question, read_question
from qiusuo.passages.reading import plain_forms
from qiusuo.passages.values import Value, agree, rival, values

# Sentences that cover less of the question than this, or than this share of what the best one does, are left aside.
_LEAST: Final = 0.1
_SHARE: Final = 0.4
# In a sentence that covers the question well any value of the kind may be meant; else one near the words asked.
_WELL: Final = 0.5
_NEAR: Final = 40
_MOST_SOURCES: Final = 6
_MOST_SENTENCES: Final = 3
_MOST_TOLD: Final = 3
# Two sentences are the same but for a value where they are so alike and what differs is so short.
_ALIKE: Final = 0.75
_LONGEST_GAP: Final = 12
_TOKEN: Final = re.compile(r"\d[\d.,]*\d|\d|[A-Za-z\u00c0-\u024f][\w'-]*|[\u3400-\u9fff]")
_FIGURES: Final = frozenset({"number", "money", "percent", "span", "date"})
_JOINTS: Final = frozenset({"年", "月", "日", "the", "of", "a", "de"})


@dataclass(frozen=True, slots=True)
class Statement:
    """What one source says: the value, and the sentence of the source that has it."""

    number: int
    value: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Two sources that say different things of the same."""

    first: Statement
    second: Statement


@dataclass(frozen=True, slots=True)
class _Source:
    """The sentences of a source that matter, the values in them, and all that it says in small letters."""

    number: int
    sentences: list[str]
    values: list[tuple[Value, str]]
    text: str
    all_values: list[Value]

    def knows(self, value: Value) -> bool:
        return any(agree(value, known) for known in self.all_values) or value.stands_in(self.text)

    def says(self, sentence: str, start: int, end: int) -> Statement:
        return Statement(self.number, sentence[start:end], sentence)


def differences(question: str, passages: Iterable[Passage]) -> list[Difference]:
    """Return contradictions between sources on what is asked, at most three, those of the best sources first.

    Two sources differ on the number, date, amount or name that is asked for if neither has what the other says, or if
    two of their sentences are the same but for it. Passages of the same source are taken together.
    """
    asked = read_question(question)
    pairs = combinations(_sources(asked, passages), 2)
    found = (_in_values(asked, one, other) or _in_wording(asked, one, other) for one, other in pairs)
    return [difference for difference in found if difference][:_MOST_TOLD]


def _sources(question: Question, passages: Iterable[Passage]) -> list[_Source]:
    texts: dict[int, list[str]] = {}
    covering: dict[int, list[tuple[float, str]]] = {}
    for passage in passages:
        texts.setdefault(passage.number, []).append(passage.text)
        covering.setdefault(passage.number, []).extend(sentences_covering(question, passage))
    best = max((share for found in covering.values() for share, _ in found), default=0.0)
    sources = []
    for number, found in covering.items():
        found.sort(key=lambda pair: -pair[0])
        good = [pair for pair in found[:_MOST_SENTENCES] if pair[0] >= max(_LEAST, _SHARE * best)]
        told = [
            (value, sentence)
            for share, sentence in good
            for value in values(question, plain_forms(sentence), near=math.inf if share >= _WELL else _NEAR)
        ]
        text = plain_forms("\n".join(texts[number]))
        if good:
            sentences = [sentence for _, sentence in good]
            sources.append(_Source(number, sentences, told, text.lower(), values(question, text)))
    return sources[:_MOST_SOURCES]


def _in_values(question: Question, one: _Source, other: _Source) -> Difference | None:
    """Compare what most likely is the answer of each source: it must be unknown to the other, on both sides."""
    if not one.values or not other.values:
        return None
    (mine, my_sentence), (theirs, their_sentence) = one.values[0], other.values[0]
    if not rival(mine, theirs) or other.knows(mine) or one.knows(theirs):
        return None
    if question.several and any(other.knows(value) for value, _ in one.values):
        return None
    return Difference(
        one.says(my_sentence, mine.start, mine.end),
        other.says(their_sentence, theirs.start, theirs.end),
    )


def _in_wording(question: Question, one: _Source, other: _Source) -> Difference | None:
    """Look for two sentences that are the same but for one part, which may be what is asked for."""
    for mine in one.sentences:
        for theirs in other.sentences:
            gap = _gap(plain_forms(mine), plain_forms(theirs))
            if gap is None:
                continue
            first, second = one.says(mine, *gap[0]), other.says(theirs, *gap[1])
            known = plain_forms(first.value).lower() in other.text or plain_forms(second.value).lower() in one.text
            if not known and _may_be_asked(question, (one, first, gap[0]), (other, second, gap[1])):
                return Difference(first, second)
    return None


def _may_be_asked(question: Question, *sides: tuple[_Source, Statement, tuple[int, int]]) -> bool:
    """Tell whether what differs may be the answer: rival figures where figures are asked for, else words."""
    figures = any(map(str.isdigit, sides[0][1].value + sides[1][1].value))
    if not question.kinds:
        # Where no figure is asked for, one that differs most often counts or dates the sources themselves.
        return not figures and any(word in sides[0][1].sentence.lower() for word in question.asking)
    if question.kinds.isdisjoint(_FIGURES):
        return not figures
    mine, theirs = (
        [value for value in values(question, plain_forms(said.sentence)) if start < value.end and value.start < end]
        for _, said, (start, end) in sides
    )
    known = any(map(sides[1][0].knows, mine)) or any(map(sides[0][0].knows, theirs))
    return not known and any(rival(value, other) for value in mine for other in theirs)


def _gap(one: str, other: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the places of what differs between two sentences that are the same otherwise."""
    mine, theirs = list(_TOKEN.finditer(one)), list(_TOKEN.finditer(other))
    first, second = [token[0].lower() for token in mine], [token[0].lower() for token in theirs]
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE or matcher.ratio() < _ALIKE:
        return None
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if not changes:
        return None
    start, end = changes[0][1], changes[-1][2]
    start_there, end_there = changes[0][3], changes[-1][4]
    if not 0 < end - start <= _LONGEST_GAP or not 0 < end_there - start_there <= _LONGEST_GAP:
        return None
    # What is only put in other words has words in common.
    if set(first[start:end]) & set(second[start_there:end_there]) - _JOINTS:
        return None
    return (
        (mine[start].start(), mine[end - 1].end()),
        (theirs[start_there].start(), theirs[end_there - 1].end()),
    )
