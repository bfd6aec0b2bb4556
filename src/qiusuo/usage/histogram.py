"""How long things took, as counts between fixed bounds: histograms of any processes and hours can be added up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

BOUNDS: Final = (
    0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0, 120.0, 300.0,
)  # fmt: skip
"""Seconds, the upper end of each part. They are written into the tables: other bounds would need other columns."""
PARTS: Final = len(BOUNDS) + 1
"""The last part has what took longer than every bound."""


def part_of(seconds: float) -> int:
    """Return the part into which a time falls."""
    return bisect_left(BOUNDS, seconds)


def quantile(counts: Sequence[int], share: float) -> float | None:
    """Return the time within which a share of all was done, evenly spread within a part; None where there is none.

    What took longer than every bound is told as the last bound.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, before = share * total, 0
    for part, count in enumerate(counts[: len(BOUNDS)]):
        if count and before + count >= wanted:
            low = BOUNDS[part - 1] if part else 0.0
            return low + (BOUNDS[part] - low) * (wanted - before) / count
        before += count
    return BOUNDS[-1]
