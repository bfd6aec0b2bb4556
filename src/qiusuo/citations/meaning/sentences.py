"""Sentences of Chinese and English text, with their place in it."""

from __future__ import annotations

import re
from typing import NamedTuple

_CLOSERS = "”’」』）)\"'】》*_"
_ENDS = "。！？!?…"
_AFTER_FIRST = rf"(?<=[{_ENDS}])[{_ENDS}]*[{_CLOSERS}]*|(?<=\.)\.*[{_CLOSERS}]*(?=\s|\Z)|(?<=\n)\n*"
# Patterns that begin with one set of characters are searched for several times faster.
_END = re.compile(rf"[{_ENDS}.\n](?:{_AFTER_FIRST})")
_CLAUSE_END = re.compile(rf"[{_ENDS}.\n；;](?:{_AFTER_FIRST}|(?<=[；;]))")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Sen|Rep|Gov|Lt|Col|No|Nos|Fig|Eq|Sec|Vol|Ch|Inc|Ltd|Corp|Co|vs|etc|al|cf|ca|"
    r"approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)|\b(?:e\.g|i\.e)|(?<![A-Za-z])[A-Z](?:\.[A-Z])*)\Z"
)
_LONGEST_ABBREVIATION = len("approx")
_LIST_NUMBER = re.compile(r"(?:\A|\n)[\s>]*\d{1,3}\Z")
_LINE_MARKS = re.compile(r"(?:\s|>|#{1,6}\s|[-*+•]\s|\d{1,3}[.)、]\s|\|)*")
_LOOK_BACK = 12


class Sentence(NamedTuple):
    """A sentence and where it stands: ``text`` is ``whole[start:end]``."""

    text: str
    start: int
    end: int


def split_sentences(text: str, *, clauses: bool = False) -> list[Sentence]:
    """Split text into sentences; with ``clauses`` also at semicolons.

    List marks, headings' signs and table bars at the beginning of a line do not belong to a sentence.
    """
    sentences: list[Sentence] = []
    start = 0
    for match in (_CLAUSE_END if clauses else _END).finditer(text):
        if match[0][0] == "." and _goes_on(text, match):
            continue
        _add(sentences, text, start, match.end())
        start = match.end()
    _add(sentences, text, start, len(text))
    return sentences


def _goes_on(text: str, stop: re.Match[str]) -> bool:
    """Tell whether a full stop ends no sentence: behind a list number or an abbreviation, before a small letter."""
    start, last = stop.start(), text[stop.start() - 1 : stop.start()]
    if last.isdecimal():
        if _LIST_NUMBER.search(text, max(0, start - _LOOK_BACK), start):
            return True
    elif last.isalpha() and _is_abbreviation(text, start):
        return text[stop.end() : stop.end() + 3].lstrip(" ")[:1] not in {"", "\n"}
    following = text[stop.end() : stop.end() + 2].lstrip(" ")
    return following[:1].islower()


def _is_abbreviation(text: str, end: int) -> bool:
    word = text[max(0, end - _LOOK_BACK) : end].rpartition(" ")[2]
    if len(word) > _LONGEST_ABBREVIATION and word.isascii() and word.isalpha():
        return False  # most words end here
    return _ABBREVIATION.search(text, end - len(word), end) is not None


def _add(sentences: list[Sentence], text: str, start: int, end: int) -> None:
    marks = _LINE_MARKS.match(text, start, end)
    start = marks.end() if marks else start
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        sentences.append(Sentence(text[start:end], start, end))
