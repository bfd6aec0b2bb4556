"""The text of a source, cut into passages that claims are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from qiusuo.citations.meaning.gazetteer import chinese_names
from qiusuo.citations.meaning.names import KnownNames, latin_names
from qiusuo.citations.meaning.negation import Negations, negations
from qiusuo.citations.meaning.opposites import Side, sides
from qiusuo.citations.meaning.quantities import quantities
from qiusuo.citations.meaning.quantity import Quantity
from qiusuo.citations.meaning.sentences import split_sentences
from qiusuo.citations.meaning.wording import fold, is_chinese, terms

_MAX_CHARS = 60_000  # of a page; what comes later is not read
_MAX_QUANTITIES = 3000
_WINDOW = 3
_LENGTH_PENALTY = 0.1
_NUMBER_SHARE = 0.15
_CANDIDATES = 4
_NEAR_BEST = 0.15
_FEW_TERMS = 3
_POOR = 0.3
_MOST_UNITS = 60
_LONGEST_UNIT = 400
_Window = tuple[float, tuple[int, int]]  # what it is worth, and which sentences it has
_PIECE = re.compile(rf".{{1,{_LONGEST_UNIT}}}(?:[\s,，、]|\Z)|.{{1,{_LONGEST_UNIT}}}", re.DOTALL)


class _Unit:
    """A sentence or clause of a source: as it is written, folded for comparison, and what it is about."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold(text)
        self.terms = terms(self.folded)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return quantities(self.folded)


class Passage:
    """Some neighbouring sentences of a source: as they are written, and what they say once it is asked for."""

    def __init__(self, units: Sequence[_Unit]) -> None:
        self._units = units
        self.text = " ".join(unit.text for unit in units)
        self.folded = " ".join(unit.folded for unit in units)
        self.terms = units[0].terms.union(*[unit.terms for unit in units[1:]])

    @cached_property
    def quantities(self) -> list[Quantity]:
        found = list(self._units[0].quantities)
        offset = len(self._units[0].folded) + 1
        for unit in self._units[1:]:
            found += [q._replace(start=q.start + offset, end=q.end + offset) for q in unit.quantities]
            offset += len(unit.folded) + 1
        return found

    @cached_property
    def latin_names(self) -> frozenset[str]:
        return latin_names(self.folded)

    @cached_property
    def chinese_names(self) -> dict[str, str]:
        return chinese_names(self.folded)

    @cached_property
    def negations(self) -> Negations:
        return negations(self.folded)

    @cached_property
    def sides(self) -> set[Side]:
        return sides(self.folded)


class Evidence:
    """What is known of a source. ``page_text`` is its full text where it was read, else the snippet has to do."""

    def __init__(self, title: str, snippet: str, page_text: str | None = None) -> None:
        self.title = title
        self.text = (snippet if page_text is None else page_text)[:_MAX_CHARS]
        self.snippet_only = page_text is None
        self._passages: dict[tuple[int, int], Passage] = {}

    @cached_property
    def _units(self) -> list[_Unit]:
        sentences = split_sentences(self.text, clauses=True)
        return [_Unit(piece) for sentence in sentences for piece in _pieces(sentence.text)]

    @cached_property
    def _title(self) -> _Unit:
        return _Unit(self.title)

    @cached_property
    def folded(self) -> str:
        """Title and text in one spelling."""
        return " ".join([f"{self._title.folded}.", *(unit.folded for unit in self._units)])

    @cached_property
    def names(self) -> KnownNames:
        """The names that the source knows."""
        return KnownNames(self.folded)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """All quantities of the source."""
        found = (quantity for unit in (self._title, *self._units) for quantity in unit.quantities)
        return list(islice(found, _MAX_QUANTITIES))

    @cached_property
    def is_chinese(self) -> bool:
        """Whether the source is mostly written in Chinese characters."""
        return is_chinese(self.text)

    @cached_property
    def title_latin_names(self) -> frozenset[str]:
        """The Latin names in the title."""
        return latin_names(self._title.folded)

    @cached_property
    def title_chinese_names(self) -> dict[str, str]:
        """The well-known Chinese names in the title."""
        return chinese_names(self._title.folded)

    @property
    def title_quantities(self) -> list[Quantity]:
        """The numbers in the title."""
        return self._title.quantities

    @property
    def title_terms(self) -> set[str]:
        """The content of the title, which every sentence of the source is about."""
        return self._title.terms

    def share_of(self, wanted: set[str]) -> float:
        """Return how much of ``wanted`` the whole source has: a quick look before a judge is asked."""
        return len(wanted & self._all_terms) / len(wanted) if wanted else 0.0

    @cached_property
    def _all_terms(self) -> set[str]:
        return self.title_terms.union(*(unit.terms for unit in self._units))

    def best_passage(self, wanted: set[str], words: set[str], numbers: Sequence[Quantity]) -> Passage | None:
        """Return the one to three neighbouring sentences that come nearest to a claim; fewer are better.

        ``words`` are those of the ``wanted`` terms that are no numbers. Words decide; of passages that are nearly
        equal in words, the one with the right numbers is taken.
        """
        # What the title says does not tell the sentences apart, and numbers are compared apart.
        special = words - self.title_terms
        windows = self._windows(special) if len(special) >= _FEW_TERMS else []
        windows = windows or self._windows(wanted)
        telling = [number for number in numbers if number.is_telling]
        if telling and (not windows or windows[0][0] < _POOR):
            # Rephrased beyond recognition: the numbers may still tell.
            windows = windows[:_CANDIDATES]
            windows += [(0.0, (index, index + 1)) for index in range(min(len(self._units), _MOST_UNITS))]
            return self._nearest(windows, telling, 1.0) if windows else None
        if not windows:
            return None
        best = windows[0][0]
        near = [window for window in windows[:_CANDIDATES] if window[0] > best - _NEAR_BEST] if numbers else windows[:1]
        return self._nearest(near, numbers, _NUMBER_SHARE)

    def passages_with(self, numbers: Sequence[Quantity]) -> Iterator[Passage]:
        """Yield the sentences that have all of ``numbers``."""
        for index, unit in enumerate(self._units[:_MOST_UNITS]):
            if len(_agreeing(numbers, unit.quantities)) == len(numbers):
                yield self._passage(index, index + 1)

    def _nearest(self, windows: Sequence[_Window], numbers: Sequence[Quantity], share: float) -> Passage:
        """Return the passage of the best window, by its words and the share of ``numbers`` that it has."""
        if len(windows) == 1:
            return self._passage(*windows[0][1])
        agreeing: dict[int, set[int]] = {}  # which numbers each sentence has; windows overlap

        def worth(window: _Window) -> float:
            score, (start, end) = window
            for index in range(start, end):
                if index not in agreeing:
                    agreeing[index] = _agreeing(numbers, self._units[index].quantities)
            found = agreeing[start].union(*[agreeing[index] for index in range(start + 1, end)])
            return score + share * (len(found) / len(numbers))

        return self._passage(*max(windows, key=worth)[1])

    def _windows(self, wanted: set[str]) -> list[_Window]:
        """Return windows of sentences with the share of ``wanted`` that they cover, best first."""
        shared = [wanted & unit.terms for unit in self._units]
        windows = []
        for start, first in enumerate(shared):
            if not first:
                continue
            windows.append((len(first) / len(wanted), (start, start + 1)))
            covered = first
            for end in range(start + 1, min(start + _WINDOW, len(shared))):
                if shared[end] <= covered:
                    continue
                covered = covered | shared[end]
                windows.append((len(covered) / len(wanted) - _LENGTH_PENALTY * (end - start), (start, end + 1)))
        windows.sort(key=lambda window: window[0], reverse=True)
        return windows

    def _passage(self, start: int, end: int) -> Passage:
        if (start, end) not in self._passages:
            self._passages[start, end] = Passage(self._units[start:end])
        return self._passages[start, end]


def _agreeing(numbers: Sequence[Quantity], given: Sequence[Quantity]) -> set[int]:
    """Return the places of those ``numbers`` that ``given`` has."""
    return {place for place, mine in enumerate(numbers) if any(mine.agrees_with(other) for other in given)}


def _pieces(text: str) -> list[str]:
    """Cut text without full stops into pieces of bearable length, at blanks or commas where there are any."""
    return [text] if len(text) <= _LONGEST_UNIT else [piece.strip() for piece in _PIECE.findall(text) if piece.strip()]
