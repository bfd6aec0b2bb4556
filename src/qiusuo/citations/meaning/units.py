"""Units of measurement in Chinese and English: for each spelling its kind and its size in the kind's base unit."""

from __future__ import annotations

from pathlib import Path

from qiusuo.tables import read_table

_TABLE = Path(__file__).parent.parent / "data" / "units.tsv"

UNITS: dict[str, tuple[str, float]] = {
    # Two counts differ in kind where the word differs.
    spelling: (f"count:{spelling}" if row["kind"] == "count" else row["kind"], float(row["size"]))
    for row in read_table(_TABLE)
    for spelling in row["spellings"].split("|")
}

CURRENCY_SIGNS = {
    "us$": "money:usd",
    "hk$": "money:hkd",
    "$": "money:usd",
    "€": "money:eur",
    "£": "money:gbp",
    "¥": "money:cny",
}

MAGNITUDES = {
    "百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9, "k": 1e3,
}  # fmt: skip

_LENGTHS = {
    first: sorted({len(unit) for unit in UNITS if unit[0] == first}, reverse=True) for first in {u[0] for u in UNITS}
}


def unit_at(text: str, start: int) -> tuple[str, int]:
    """Return the longest unit that stands at ``start``, and its end; an empty string for none."""
    for length in _LENGTHS.get(text[start : start + 1].lower(), ()):
        found, follows = text[start : start + length], text[start + length : start + length + 1]
        unit = found.lower()
        if unit in UNITS and not (_is_letter(unit[-1]) and _is_letter(follows)):
            return unit, start + len(found)
    return "", start


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()
