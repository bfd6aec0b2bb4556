"""Sentences of Chinese and English text, with their place in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOSERS = "”’」』）)\"'】》*_"
_END = re.compile(rf"[。！？!?…]+[{_CLOSERS}]*|\.+[{_CLOSERS}]*(?=\s|\Z)|\n+")
_CLAUSE_END = re.compile(rf"{_END.pattern}|[；;]")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Sen|Rep|Gov|Lt|Col|No|Nos|Fig|Eq|Sec|Vol|Ch|Inc|Ltd|Corp|Co|vs|etc|al|cf|ca|"
    r"approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)|\b(?:e\.g|i\.e)|(?<![A-Za-z])[A-Z](?:\.[A-Z])*)\Z"
)
_LIST_NUMBER = re.compile(r"(?:\A|\n)[\s>]*\d{1,3}\Z")
_LINE_MARKS = re.compile(r"(?:\s|>|#{1,6}\s|[-*+•]\s|\d{1,3}[.)、]\s|\|)*")
_LOOK_BACK = 12


@dataclass(frozen=True, slots=True)
class Sentence:
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
    if _LIST_NUMBER.search(text, max(0, stop.start() - _LOOK_BACK), stop.start()):
        return True
    if _ABBREVIATION.search(text, max(0, stop.start() - _LOOK_BACK), stop.start()):
        return text[stop.end() : stop.end() + 3].lstrip(" ")[:1] not in {"", "\n"}
    following = text[stop.end() : stop.end() + 2].lstrip(" ")
    return following[:1].islower()


def _add(sentences: list[Sentence], text: str, start: int, end: int) -> None:
    marks = _LINE_MARKS.match(text, start, end)
    start = marks.end() if marks else start
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        sentences.append(Sentence(text[start:end], start, end))
