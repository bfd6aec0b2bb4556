"""``qiusuo engines``."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.errors import SearchError
from qiusuo.service import EngineStatus, SearchService


def run_engines(*, as_json: bool) -> Exit:
    """Print how the engines stand; the exit code tells whether search can work at all."""
    words = words_for_terminal()
    try:
        statuses, names = asyncio.run(_look())
    except SearchError as error:
        for line in error_lines(error, words):
            Console(stderr=True, highlight=False, emoji=False).print(escape(line))
        return exit_code(error)
    if as_json:
        data = {"order": names, "engines": [asdict(status) for status in statuses]}
        sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    else:
        out = Console(highlight=False, emoji=False)
        out.print(_table(statuses, words))
        out.print(escape(words("taking_part", names=", ".join(names) or words("none"))))
    return Exit.OK if names else Exit.NOT_CONFIGURED


async def _look() -> tuple[list[EngineStatus], tuple[str, ...]]:
    async with SearchService.from_settings() as service:
        return await service.status(), await service.available()


def _table(statuses: list[EngineStatus], words: Words) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for column in ("engine", "state", "quota", "next"):
        table.add_column(words(column), overflow="fold")
    for status in statuses:
        state = words(f"state_{status.state}")
        if status.retry_after:
            state += f" ({words('seconds_more', seconds=round(status.retry_after))})"
        left = "" if status.quota is None else str(max(status.quota - (status.quota_used or 0), 0))
        style = {"ready": "green", "resting": "yellow", "missing": "dim"}.get(status.state, "")
        advice = status.fix or status.reason
        table.add_row(
            f"{status.name}  [dim]{escape(status.label)}[/dim]",
            f"[{style}]{state}[/]" if style else state,
            left,
            escape(advice),
        )
    return table
