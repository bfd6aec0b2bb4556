"""What speaks against a claim: numbers, names and statements that the source gives otherwise.

A check finds that a detail contradicts the source (``CONFLICT``), that the source does not have it (``MISSING``), or
nothing (None).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from qiusuo.citations.checking.evidence import Evidence, Passage
from qiusuo.citations.meaning.names import Names
from qiusuo.citations.meaning.opposites import opposed, sides
from qiusuo.citations.meaning.quantity import Quantity
from qiusuo.citations.meaning.wording import stem, terms, words_of


class Conflict(StrEnum):
    """How bad it is."""

    CONFLICT = "conflict"
    MISSING = "missing"


_CLAUSE_END = re.compile(r"[,，;；、]|\b(?:and|but|while|whereas)\b|其中|并且|而且")
_FEW_TERMS = 3
_LITTLE = 0.3
_CONTEXT_CHARS = 14
_WORD_BEFORE = re.compile(r"([\u3400-\u9fff]{2}|\b[a-z]{3,})\W?\Z")
_WORD_AFTER = re.compile(r"\W?([\u3400-\u9fff]{2}|[a-z]{3,})")
_BY = re.compile(r"\bby\b")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:[-'.&][A-Za-z0-9]++)*")


class Comparison(NamedTuple):
    """A claim beside the passage of a source that comes nearest to it; ``given`` is what passage and title say."""

    claim: str
    quantities: Sequence[Quantity]
    passage: Passage
    given: set[str]
    evidence: Evidence

    def covers(self, text: str, least: float, few: int) -> bool:
        """Tell whether the passage has a good share of what ``text`` is about (short text always passes)."""
        # No text has more terms than characters.
        return len(text) < few or self.covers_words(words_of(terms(text)), least, few)

    def covers_words(self, wanted: set[str], least: float, few: int) -> bool:
        """Tell the same of a text with these words."""
        return len(wanted) < few or len(wanted & self.given) >= least * len(wanted)


def check_quantities(both: Comparison) -> tuple[Conflict | None, list[Quantity]]:
    """Compare the quantities of a claim with those of the source; also return those that agree."""
    given = both.passage.quantities if both.quantities else []
    matches = [[index for index, other in enumerate(given) if mine.agrees_with(other)] for mine in both.quantities]
    matched = {index for indices in matches for index in indices}
    spare = [quantity for index, quantity in enumerate(given) if index not in matched]
    worst: Conflict | None = None
    agreeing: list[Quantity] = []
    for mine, indices in zip(both.quantities, matches, strict=True):
        if indices:
            agreeing.append(mine)
            if len(given) > len(indices) and _bound_otherwise(both, mine, indices):
                return Conflict.CONFLICT, agreeing
            continue
        if mine.kind == "number" and mine.is_telling and _in_title(mine, both.evidence):
            agreeing.append(mine)  # PEP 779 is what the whole page is about
            continue
        rivals = any(mine.rivals(quantity) for quantity in spare)
        if rivals and not mine.soft:
            # A number in a clause that the source does not have at all is no contradiction.
            if both.covers(_clause_around(both.claim, mine), _LITTLE, _FEW_TERMS):
                return Conflict.CONFLICT, agreeing
            worst = Conflict.MISSING
        elif any(mine.agrees_with(quantity) for quantity in both.evidence.quantities):
            agreeing.append(mine)  # a year may stand in another sentence
        elif mine.kind == "period" and rivals:
            return Conflict.CONFLICT, agreeing
        elif not mine.soft:
            worst = Conflict.MISSING
    return worst, agreeing


def moves_otherwise(both: Comparison) -> bool:
    """Tell whether the source has the same number after the opposite word: 上涨0.4% for 下降0.4%."""
    for mine in both.quantities:
        if not (direction := sides(both.claim[max(0, mine.start - _CONTEXT_CHARS) : mine.start])):
            continue
        text = both.passage.folded
        same = [other for other in both.passage.quantities if mine.agrees_with(other)]
        theirs = [sides(text[max(0, other.start - _CONTEXT_CHARS) : other.start]) for other in same]
        if theirs and all(opposed(direction, side) for side in theirs):
            return True
    return False


def _in_title(mine: Quantity, evidence: Evidence) -> bool:
    return any(mine.value == quantity.value and quantity.family == "number" for quantity in evidence.title_quantities)


def _clause_around(text: str, quantity: Quantity) -> str:
    start, end = 0, len(text)
    for match in _CLAUSE_END.finditer(text):
        if match.end() <= quantity.start:
            start = match.end()
        elif match.start() >= quantity.end:
            end = match.start()
            break
    return text[start:end]


def _bound_otherwise(both: Comparison, mine: Quantity, same: Sequence[int]) -> bool:
    """Tell whether the source gives the number for something else, and another number for this (50W有线, 100W无线)."""
    text, given = both.passage.folded, both.passage.quantities
    family = mine.family
    others = [q for index, q in enumerate(given) if index not in same and q.family == family]
    if not others:
        return False
    lowered = text.lower()
    for side in (_before, _after):
        context = side(both.claim, mine)
        if context and context in lowered and any(side(text, other) == context for other in others):
            return all(side(text, given[index]) != context for index in same)
    return False


def _before(text: str, quantity: Quantity) -> str:
    found = _WORD_BEFORE.search(text[max(0, quantity.start - _CONTEXT_CHARS) : quantity.start].lower())
    return found[1] if found else ""


def _after(text: str, quantity: Quantity) -> str:
    found = _WORD_AFTER.match(text[quantity.end : quantity.end + _CONTEXT_CHARS].lower())
    return found[1] if found else ""


def check_names(both: Comparison, wanted: Names) -> Conflict | None:
    """Compare the names of a claim with those that the source knows, and who does what."""
    known = both.evidence.names
    if any(not known.has(title) for title in wanted.titles):
        return Conflict.CONFLICT
    if any(not known.has_latin(name) for name in wanted.latin):
        others = both.passage.latin_names | both.evidence.title_latin_names
        return Conflict.CONFLICT if others - wanted.latin else Conflict.MISSING
    for name, kind in wanted.chinese.items():
        if not known.has(name):
            rivals = [
                other
                for other, other_kind in (both.passage.chinese_names | both.evidence.title_chinese_names).items()
                if other_kind == kind and other not in wanted.chinese and not _is_part(name, other)
            ]
            return Conflict.CONFLICT if rivals else Conflict.MISSING
    return Conflict.CONFLICT if _other_subject(both, wanted) else None


def _is_part(name: str, other: str) -> bool:
    """Tell whether one place lies in the other by its name (非洲 and 东非, but not 西非 and 东非)."""
    return bool(set(name) & set(other)) and not (len(name) == len(other) and name[-1] == other[-1])


def _other_subject(both: Comparison, wanted: Names) -> bool:
    """Tell whether what the first name of a claim does is done by others in the source ("B beat A" for "A beat B")."""
    if not wanted.latin or _is_passive(both.claim) or _is_passive(both.passage.folded):
        return False
    words = _words(both.claim)
    first = next((index for index, word in enumerate(words) if word in wanted.latin), len(words))
    if not _PREPOSITIONS.isdisjoint(words[:first]):
        return False  # visitors to the museum: the name does nothing
    while first < len(words) and words[first] in wanted.latin | _LINKS:
        first += 1
    if first >= len(words) or not (subject := set(words[:first]) & wanted.latin):
        return False
    source = _words(both.passage.folded)
    if subject.isdisjoint(source):
        return False
    verb = stem(words[first])
    before = next((source[:index] for index, word in enumerate(source) if stem(word) == verb), [])
    return subject.isdisjoint(before) and not both.passage.latin_names.isdisjoint(before)


def _is_passive(text: str) -> bool:
    return "被" in text or "由" in text or ("by" in text and _BY.search(text) is not None)


def _words(text: str) -> list[str]:
    return [word.lower().removesuffix("'s") for word in _WORD.findall(text)]


_PREPOSITIONS = frozenset({"to", "of", "in", "at", "by", "from", "for", "with", "on", "after", "before", "during"})
_LINKS = frozenset({"of", "the", "and", "de", "von", "van", "has", "have", "had", "was", "is", "were", "are", "in"})
