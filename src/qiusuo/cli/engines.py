"""``qiusuo engines``."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import fields
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.commands import typed
from qiusuo.errors import SearchError
from qiusuo.kit.commands import KitCommands
from qiusuo.service import EngineStatus, SearchService


def run_engines(*, short: bool, as_json: bool) -> Exit:
    """Print how the engines stand; the exit code tells whether search can work at all."""
    words = words_for_terminal()
    try:
        statuses, names = asyncio.run(_look())
    except SearchError as error:
        for line in error_lines(error, words):
            Console(stderr=True, highlight=False, emoji=False).print(escape(line))
        return exit_code(error)
    if as_json:
        data = {"order": names, "engines": [_data(status, words) for status in statuses]}
        sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    elif short:
        # Those of one subject too: laws that were just installed.
        ready = [status.called(words.language) for status in statuses if status.state == "ready"]
        typer.echo(words("engines_ready", names=ready or words("none")))
        commands = {"up": typed(KitCommands().start[-1]), "engines": typed("qiusuo engines")}
        typer.echo(words("engines_add", **commands))
    else:
        out = Console(highlight=False, emoji=False)
        out.print(_table(statuses, words))
        told = {status.name: status.wording(words.language) for status in statuses}
        advice = {name: each.fix or each.what for name, each in told.items() if each.fix or each.what}
        if advice:
            # Not in a column: addresses and commands are copied whole.
            out.print(f"\n[bold]{escape(words('next'))}[/bold]")
            for name, text in advice.items():
                out.print(escape(f"{name}: {text}"), soft_wrap=True)
            out.print()
        out.print(escape(words("taking_part", names=list(names) or words("none"))), soft_wrap=True)
    return Exit.OK if names else Exit.NOT_CONFIGURED


async def _look() -> tuple[list[EngineStatus], tuple[str, ...]]:
    async with SearchService.from_settings() as service:
        return await service.status(), await service.available()


def _data(status: EngineStatus, words: Words) -> dict[str, Any]:
    """Return how an engine stands in its JSON shape: facts for programs, and words in the terminal's language."""
    told = status.wording(words.language)
    facts = {"fact": status.fact, "remedy": status.remedy}
    aside = {*facts, "title"}
    data = {each.name: getattr(status, each.name) for each in fields(status) if each.name not in aside}
    data["label"] = status.called(words.language)
    return {
        **data,
        "reason": told.what,
        "fix": told.fix,
        **{name: fact.to_dict() if fact else None for name, fact in facts.items()},
    }


def _table(statuses: list[EngineStatus], words: Words) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for column in ("engine", "state", "quota"):
        table.add_column(words(column), overflow="fold")
    for status in statuses:
        state = words(f"state_{status.state}")
        if status.retry_after:
            more = words("seconds_more", seconds=round(status.retry_after))
            state = words("note", text=state, note=more)
        left = "" if status.quota is None else str(max(status.quota - (status.quota_used or 0), 0))
        style = {"ready": "green", "resting": "yellow", "missing": "dim"}.get(status.state, "")
        table.add_row(
            f"{status.name}  [dim]{escape(status.called(words.language))}[/dim]",
            f"[{style}]{state}[/]" if style else state,
            left,
        )
    return table
