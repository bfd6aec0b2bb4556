"""The words that questions are made of, read from tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from qiusuo.tables import read_table

_DATA: Final = Path(__file__).parent / "data"


def read_words(table: str) -> dict[str, frozenset[str]]:
    """Return the words of a table by their kind."""
    kinds: dict[str, set[str]] = {}
    for row in read_table(_DATA / table):
        kinds.setdefault(row["kind"], set()).update(row["words"].split(", "))
    return {kind: frozenset(words) for kind, words in kinds.items()}


def is_made_of(parts: Sequence[str], phrases: Collection[str], *, between: str, longest: int) -> bool:
    """Tell whether words (or characters) are phrases of a list one after the other; ``longest`` has so many of them."""
    reached = {0}
    for end in range(1, len(parts) + 1):
        starts = range(max(0, end - longest), end)
        if any(start in reached and between.join(parts[start:end]) in phrases for start in starts):
            reached.add(end)
    return len(parts) > 0 and len(parts) in reached
