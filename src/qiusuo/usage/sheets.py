"""Tables of a report as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any, Final

_SEARCHES: Final = ("searches", "cached", "failed", "saved", "median", "p95")
_ANSWERS: Final = ("answers", "answersFailed", "tokensIn", "tokensOut")
SHEETS: Final[Mapping[str, tuple[str, ...]]] = {
    "time": ("at", *_SEARCHES, *_ANSWERS),
    "outcomes": ("outcome", "searches"),
    "engines": (
        "name", "label", "searches", "cached", "saved", "requests", "requestsFailed", "skipped", "median", "p95",
        "price", "currency", "cost",
    ),
    "models": ("name", *_ANSWERS, "median", "p95"),
    "people": ("name", *_SEARCHES, *_ANSWERS),
    "queries": ("kind", "query", "count", "ms", "outcome"),
    "feedback": ("at", "verdict", "reasons", "text", "mode", "model", "engines"),
}  # fmt: skip
"""The tables and their columns; times are milliseconds."""
_PARTED: Final = ("engine ", "outcome ", "model ")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_MARK: Final = "\ufeff"
"""Without it spreadsheets take Chinese for something else."""


def sheet(report: Mapping[str, Any], name: str) -> str | None:
    """Return a table of a report; None where it has none of that name."""
    if name not in SHEETS or name not in report:
        return None
    out = io.StringIO()
    writer = csv.writer(out)
    rows = [_flat(row) for row in report[name]]
    columns = [column for column in SHEETS[name] if not rows or any(column in row for row in rows)]
    # Searches by engine and by outcome, answers by model: as many columns as there are names.
    columns += sorted({column for row in rows for column in row if column.startswith(_PARTED)})
    writer.writerow(columns)
    writer.writerows([_cells(row.get(column) for column in columns) for row in rows])
    return _MARK + out.getvalue()


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    price = row.get("price")
    if isinstance(price, Mapping):
        return {**row, "price": price["amount"], "currency": price["currency"]}
    counted = {part: row[part] for part in ("engines", "outcomes", "models") if isinstance(row.get(part), Mapping)}
    return {**row, **{f"{part[:-1]} {name}": n for part, counts in counted.items() for name, n in counts.items()}}


def _cells(values: Iterable[Any]) -> list[Any]:
    """Return the values so that no spreadsheet takes one for a formula."""
    return [f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value for value in values]
