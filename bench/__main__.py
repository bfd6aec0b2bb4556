"""Run every benchmark, print the tables and keep them."""

from __future__ import annotations

import importlib
import sys

from rich.console import Console

from bench.table import Report, keep

MODULES = ("search", "rest", "workers", "chat", "streams", "reading", "page", "startup", "citations", "google")


def main(wanted: list[str]) -> None:
    """Measure the named subjects, or all (only then the page is written anew)."""
    unknown = [name for name in wanted if name not in MODULES]
    if unknown:
        sys.exit(f"There is no {' and no '.join(unknown)}. There are: {', '.join(MODULES)}")
    console = Console()
    reports: list[Report] = []
    for name in wanted or MODULES:
        with console.status(f"measuring: {name}"):
            report = importlib.import_module(f"bench.{name}").measure()
        report.show(console)
        reports.append(report)
    if not wanted:
        keep(reports)


if __name__ == "__main__":
    main(sys.argv[1:])
