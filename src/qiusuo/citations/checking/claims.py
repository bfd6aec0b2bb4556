"""What each citation of an answer stands for: the sentence, or the part of it, that the marker follows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from qiusuo.citations.linking.markers import Marker
from qiusuo.citations.meaning.sentences import Sentence, split_sentences

_BETWEEN_MARKERS = re.compile(r"(?:[\s,，、;；和与及&]|and)*")
_ATTRIBUTION = re.compile(
    r"\s*(?:根据|依据|按照|参照|基于|据|正如"
    r"|(?:according to|based on|per|as (?:reported|noted|stated|shown|described) (?:by|in))\b)",
    re.IGNORECASE,
)
_AT_EDGES = " \t\n,，、;；:：。.!！?？*_|"
_UNIT = re.compile(r"[\u3400-\u9fff]|[A-Za-z]+|\d+")
_STATEMENT = 5  # 塔高三百米; less is a lead-in like 报告 or "He says"
_LEAST = 3


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A statement and the numbers cited for it. ``start`` and ``end`` are those of its sentence in the answer."""

    text: str
    numbers: tuple[int, ...]
    start: int
    end: int


class _Group(NamedTuple):
    """Markers that stand together, as in ``[1][2]``."""

    numbers: tuple[int, ...]
    start: int
    end: int


def cited_claims(answer: str, markers: Iterable[Marker]) -> list[CitedClaim]:
    """Return the claims of an answer that carry citations.

    Of a sentence with several citations each stands for the part before it ("A[1], and B[2]"); behind "according to"
    it stands for what follows. A marker behind the full stop belongs to the sentence before.
    """
    groups = _groups(answer, sorted(markers, key=lambda marker: marker.start))
    masked = list(answer)
    for group in groups:
        masked[group.start : group.end] = " " * (group.end - group.start)
    plain = "".join(masked)
    sentences = split_sentences(plain)
    claims: list[CitedClaim] = []
    for index, members in groupby(groups, key=lambda group: _sentence_of(group, sentences, plain)):
        if index is not None:
            claims += _claims_of(sentences[index], list(members), plain)
    return claims


def _groups(answer: str, markers: list[Marker]) -> list[_Group]:
    groups: list[_Group] = []
    for marker in markers:
        last = groups[-1] if groups else None
        if last and _BETWEEN_MARKERS.fullmatch(answer, last.end, marker.start):
            groups[-1] = _Group(tuple(dict.fromkeys(last.numbers + marker.numbers)), last.start, marker.end)
        else:
            groups.append(_Group(marker.numbers, marker.start, marker.end))
    return groups


def _sentence_of(group: _Group, sentences: list[Sentence], plain: str) -> int | None:
    """Return the index of the sentence that a group of markers belongs to."""
    after = bisect_right(sentences, group.start, key=lambda sentence: sentence.end)
    if after < len(sentences) and sentences[after].start <= group.start:
        return after
    # Between two sentences: it belongs to the one before, if that is in the same line.
    if after > 0 and "\n" not in plain[sentences[after - 1].end : group.start]:
        return after - 1
    return after if after < len(sentences) else None


def _claims_of(sentence: Sentence, groups: list[_Group], plain: str) -> list[CitedClaim]:
    claims: list[CitedClaim] = []
    position = sentence.start
    for index, group in enumerate(groups):
        end = groups[index + 1].start if index + 1 < len(groups) else max(sentence.end, group.end)
        lead, following = plain[position : group.start], plain[group.end : end]
        if _ATTRIBUTION.match(lead) and _says(following, _STATEMENT):
            text = lead + following
        elif _says(lead, _STATEMENT):
            text = lead
        elif claims:
            text = claims[-1].text
        else:
            text = lead + following
        position = group.end
        text = " ".join(text.split()).strip(_AT_EDGES)
        if _says(text, _LEAST):
            claims.append(CitedClaim(text, group.numbers, sentence.start, sentence.end))
    return claims


def _says(text: str, least: int) -> bool:
    """Tell whether a text says at least so much: a Chinese character or a number counts one, a word two."""
    size = 0
    for unit in _UNIT.finditer(text):
        size += 2 if unit[0].isascii() and unit[0].isalpha() else 1
        if size >= least:
            return True
    return False
