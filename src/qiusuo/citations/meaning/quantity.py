"""A number with its unit, and when one supports another."""

from __future__ import annotations

import math
from typing import NamedTuple

DATE_PARTS = frozenset({"year", "month", "day", "decade", "weekday"})
_EXACT_KINDS = DATE_PARTS | {"ordinal"}
_NEVER_BARE = _EXACT_KINDS - {"year"}
_CONVERSION = 0.03  # months and days, miles and kilometres
_ROUNDING = 0.05
_OVER = 1.25  # "over 3 million" for 3.6 million
_UNDER = 0.85
_FAR = 0.3
_SMALL = 12


class Quantity(NamedTuple):
    """A number with its kind (``percent``, ``money:usd``, ``year``, ``count:名``, ``number`` ...) in base units.

    Counts name what is counted: a measure word, or the stems of the words behind the number, joined by ``+``.

    ``scale`` is the size of the unit it was written in. ``about`` is how exact it claims to be: ``""``, ``about``,
    ``over`` or ``under``. ``soft`` marks a "one" that may be no more than an article.
    """

    kind: str
    value: float
    start: int
    end: int
    scale: float = 1.0
    about: str = ""
    soft: bool = False

    @property
    def family(self) -> str:
        """The kind of measure; all counts and bare numbers are of one family."""
        return "number" if self.kind.startswith("count:") else self.kind

    @property
    def is_telling(self) -> bool:
        """Whether a source is unlikely to have the same by chance: not a small whole number, not an article."""
        return not self.soft and (self.value > _SMALL or self.family != "number" or self.value % 1 > 0)

    def rivals(self, other: Quantity) -> bool:
        """Tell whether a source could not well give ``other`` if this were right: both measure or count the same."""
        if self.family != other.family:
            return False
        mine, theirs = self.kind.partition(":")[2], other.kind.partition(":")[2]
        return self.family != "number" or not mine or not theirs or bool(set(mine.split("+")) & set(theirs.split("+")))

    def agrees_with(self, source: Quantity) -> bool:
        """Tell whether a source that gives ``source`` supports a claim of this quantity."""
        if abs(source.value - self.value) > _FAR * abs(self.value):
            return False  # most pairs end here
        mine, theirs = self.family, source.family
        if mine not in {theirs, "number"} and theirs != "number":
            return False
        if math.isclose(self.value, source.value, rel_tol=1e-6, abs_tol=1e-9):
            # A bare "2023" may be a year; a bare "5" is no month.
            return mine == theirs or not (mine in _NEVER_BARE or theirs in _NEVER_BARE)
        if mine in _EXACT_KINDS or theirs in _EXACT_KINDS or not self.value:
            return False
        if mine == theirs != "number" and self.scale != source.scale:
            return math.isclose(self.value, source.value, rel_tol=_CONVERSION) or self._rounds(source)
        return self._rounds(source)

    def _rounds(self, source: Quantity) -> bool:
        ratio = source.value / self.value
        if self.about == "over" and 1 <= ratio <= _OVER:
            return True
        if self.about == "under" and _UNDER <= ratio <= 1:
            return True
        if self.about or source.about:
            return abs(ratio - 1) <= _ROUNDING
        # 3.1 million for 3.12 million, but not 3 million: one digit is too little to tell rounding from error.
        digits = len(f"{self.value:.10g}".replace(".", "").strip("0"))
        return digits > 1 and float(f"{source.value:.{digits}g}") == self.value
