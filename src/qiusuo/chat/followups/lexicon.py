"""The words that questions are made of, read from tables."""

from __future__ import annotations

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
