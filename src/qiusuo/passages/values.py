"""The values in a sentence that a question may ask for, so that those of two sources can be compared."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from qiusuo.citations.meaning.gazetteer import chinese_names, is_demonym
from qiusuo.citations.meaning.quantities import quantities
from qiusuo.citations.meaning.quantity import Quantity
from qiusuo.citations.meaning.wording import STOP_WORDS, stem
from qiusuo.passages.kinds import AMOUNTS, asked_for, without_report
from qiusuo.passages.question import Question
from qiusuo.passages.reading import occurrences, same_length_fold

_NAMES: Final = frozenset({"person", "winner", "place"})
_PLACES: Final = frozenset({"city", "country"})
_DATE_PARTS: Final = ("year", "month", "day")
_LATIN_LETTER: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_BEFORE_NAME: Final = re.compile(r"\A(?:(?:in|at|near|located)\b|位于|在)\s*", re.IGNORECASE)
# Teams, countries and companies often have one word. The first word of a sentence has a capital anyway.
_LATIN_NAME: Final = re.compile(r"(?<=[a-z,:;] )[A-Z][\w'-]+(?: (?:[A-Z]\.? ?)*[A-Z][\w'-]+)*")
_CALENDAR: Final = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
# One word with a capital is the answer only where it stands right beside what is asked.
_NEAR_ONE_WORD: Final = 15
_FIGURES_FARTHER: Final = 2
_SHORTEST_PART: Final = 2
# A date that says the day comes before one that says the year.
_PART_OF_DATE: Final = 10


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its place in the sentence: an amount, the parts of a date, or just a name."""

    text: str
    start: int
    kind: str
    amount: Quantity | None = None
    date: tuple[float | None, ...] | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def stands_in(self, text: str) -> bool:
        """Tell whether a text in small letters has this name, or a part of it by which it is known."""
        if self.amount or self.date:
            return False
        name = self.text.lower()
        if _LATIN_LETTER.search(name):
            parts = [part for part in re.split(r"[\s,]+", name) if len(part) > _SHORTEST_PART] or [name]
            return any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts)
        # 诺兰 of 克里斯托弗·诺兰; of 王智饰 the name is 王智.
        return name in text or any(part[:2] in text for part in name.split("·"))


def values(question: Question, sentence: str, *, near: float = math.inf) -> list[Value]:
    """Return what a sentence in plain forms has of the kind asked for, what most likely answers first.

    That is what stands nearest to the words that say what is asked (导演, won), before them rather than behind.
    ``near`` is how many characters at most a name may stand away from them; a figure may stand twice as far.
    """
    amounts = quantities(sentence)
    words = _places(question, sentence)
    counted = re.search(question.counted, sentence) if question.counted else None
    found: dict[str, tuple[float, Value]] = {}
    for start, end, kind in _spots(question, sentence):
        value = _value(sentence, start, end, kind, amounts)
        if value is None or value.text.lower() in question.text:
            continue
        gap: float = min((max(start - after + 0.5, before - end, 0) for before, after in words), default=len(sentence))
        if gap > (_NEAR_ONE_WORD if kind == "name" else near if kind in _NAMES else _FIGURES_FARTHER * near):
            continue
        if counted and counted.start() <= start < counted.end():
            gap = -1.0
        gap -= _PART_OF_DATE * sum(part is not None for part in value.date or ())
        if value.text not in found or found[value.text][0] > gap:
            found[value.text] = gap, value
    return [value for _, value in sorted(found.values(), key=lambda pair: pair[0])]


def agree(one: Value, other: Value) -> bool:
    """Tell whether two values can both be right: rounded numbers, dates of which one says less."""
    if one.amount and other.amount:
        return one.amount.agrees_with(other.amount) or other.amount.agrees_with(one.amount)
    if one.date and other.date:
        parts = zip(one.date, other.date, strict=True)
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in parts)
    return False


def rival(one: Value, other: Value) -> bool:
    """Tell whether two values answer the same question: a year and a day do not, nor do a city and a country."""
    if one.amount and other.amount:
        return one.amount.rivals(other.amount)
    if one.date and other.date:
        parts = zip(one.date, other.date, strict=True)
        return any(mine is not None and theirs is not None for mine, theirs in parts)
    if one.amount or other.amount or one.date or other.date:
        return False
    return one.kind == other.kind or not _PLACES & {one.kind, other.kind}


def _spots(question: Question, sentence: str) -> list[tuple[int, int, str]]:
    """Return where values stand, and of which kind they are."""
    exact = question.kinds & (AMOUNTS.keys() - {"number"})
    found: list[tuple[int, int, str]] = []
    for (start, end), kind in asked_for(question, sentence):
        if kind in _NAMES and _LATIN_LETTER.match(sentence, start):
            names = ((*span, kind) for span in _own_names(question, sentence, start, end))
            found += (name for name in names if kind == "place" or " " in sentence[name[0] : name[1]])
        elif kind == "place" or (kind == "winner" and sentence[end - 1] == "队"):
            continue  # where the name begins cannot be told
        elif kind != "number" or not exact:
            found.append((start, end, kind))
    if question.kinds.isdisjoint(_NAMES) or any(kind in _NAMES for _, _, kind in found):
        return found
    return [*found, *_known_names(question, sentence)]


def _known_names(question: Question, sentence: str) -> Iterator[tuple[int, int, str]]:
    """Yield single words with a capital, and well-known places in Chinese."""
    for match in _LATIN_NAME.finditer(sentence):
        if not _CALENDAR.fullmatch(match[0]):
            yield from ((*span, "name") for span in _own_names(question, sentence, *match.span()))
    told = without_report(sentence)
    for name, kind in chinese_names(told).items():
        if kind in _PLACES:
            start = told.find(name)
            yield start, start + len(name), kind


def _own_names(question: Question, sentence: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what is left of a Latin name without words of the question: Justin Kurzel of Director Justin Kurzel."""
    spans = [(start + word.start(), start + word.end()) for word in re.finditer(r"\S+", sentence[start:end])]
    known = [_is_known(question, sentence[first:last].lower().removesuffix("'s")) for first, last in spans]
    for is_known, group in groupby(zip(known, spans, strict=True), key=lambda pair: pair[0]):
        if not is_known:
            words = [span for _, span in group]
            yield words[0][0], words[-1][1]


def _is_known(question: Question, word: str) -> bool:
    return word in STOP_WORDS or is_demonym(word) or stem(word) in question.words or stem(word) in question.related


def _value(sentence: str, start: int, end: int, kind: str, amounts: list[Quantity]) -> Value | None:
    text = sentence[start:end]
    inside = [amount for amount in amounts if amount.start < end and start < amount.end]
    if kind == "date":
        parts = {amount.kind: amount.value for amount in inside if amount.kind in _DATE_PARTS}
        return Value(text, start, kind, date=tuple(parts.get(part) for part in _DATE_PARTS)) if parts else None
    if kind in AMOUNTS:
        if not inside or inside[0].kind in _DATE_PARTS or inside[0].kind == "ordinal":
            return None
        amount = inside[0]
        return Value(sentence[amount.start : amount.end], amount.start, kind, amount=amount)
    name = _BEFORE_NAME.sub("", text)
    return Value(name, end - len(name), kind) if len(name) >= _SHORTEST_PART else None


def _places(question: Question, sentence: str) -> list[tuple[int, int]]:
    folded = same_length_fold(sentence)
    return [
        (position, position + len(word))
        for word in question.asking or question.words
        if word[0] != "#"
        for position in occurrences(folded, word)
    ]
