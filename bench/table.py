"""Rows of measurements, shown in the terminal and kept in docs/benchmarks.md."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement; ``goal`` and ``met`` where one was set."""

    what: str
    value: str
    beside: str = ""
    goal: str = ""
    met: bool | None = None


@dataclass(slots=True)
class Report:
    """Measurements on one subject."""

    title: str
    about: str = ""
    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, value: str, beside: str = "", goal: str = "", *, met: bool | None = None) -> None:
        self.rows.append(Row(what, value, beside, goal, met))

    def show(self, console: Console) -> None:
        table = Table(title=self.title, title_justify="left", show_edge=False, pad_edge=False)
        for name in ("measured", "value", "beside", "goal"):
            table.add_column(name, overflow="fold")
        for row in self.rows:
            table.add_row(row.what, row.value, row.beside, row.goal + _mark(row))
        console.print(table)
        if self.about:
            console.print(self.about, style="dim")
        console.print()

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", self.about, "", "| measured | value | beside | goal |", "|---|---|---|---|"]
        lines += [f"| {row.what} | {row.value} | {row.beside} | {row.goal}{_mark(row)} |" for row in self.rows]
        return "\n".join(lines)


def keep(reports: list[Report]) -> None:
    """Write docs/benchmarks.md."""
    head = (
        "# Benchmarks\n\n"
        "Written by `make bench`. Everything in one table was measured in one run on the same machine, in turns, so "
        "the ratios hold even where the absolute figures are noisy. "
        f"Last run: Python {platform.python_version()} on {platform.system()} {platform.machine()}.\n"
    )
    PAGE.write_text(head + "\n" + "\n\n".join(report.markdown() for report in reports) + "\n", "utf-8")


def _mark(row: Row) -> str:
    return "" if row.met is None else (" ✓" if row.met else " ✗")
