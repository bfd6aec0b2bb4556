"""``qiusuo search``."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from qiusuo import plugins
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.commands import typed
from qiusuo.errors import AllEnginesFailed, SearchError
from qiusuo.models import Attempt, SearchResponse, SearchType
from qiusuo.pipeline.request import SearchOptions
from qiusuo.service import SearchService
from qiusuo.text import visible


def _better_search(service: SearchService, query: str, options: SearchOptions) -> str:
    """Return the command that asks an engine which may have the answer on this machine; empty where none may."""
    known = plugins.recognise(query) if options.get("type") in {None, SearchType.GENERAL} else None
    first = service.roster.answers_first(known.search_type) if known is not None else None
    if known is None or first is None or options.get("engine"):
        return ""
    return typed(f"qiusuo search --type {known.search_type.value} --engine {first} {shlex.quote(query)}")


def run_search(query: str, options: SearchOptions, *, as_json: bool, explain: bool) -> Exit:
    """Search, print, and return the exit code."""
    words = words_for_terminal()
    out = Console(highlight=False, emoji=False, soft_wrap=True)
    err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    # Arguments are UTF-8 in any locale; where the interpreter could not read them so, they are escaped.
    query = os.fsencode(query).decode("utf-8", "replace")
    better = ""
    try:
        with SearchService.from_settings() as service, err.status(words("searching")):
            try:
                response = service.search(query, **options)
            except SearchError:
                better = _better_search(service, query, options)
                raise
    except SearchError as error:
        if as_json:
            sys.stdout.write(json.dumps(error.to_dict(words.language), ensure_ascii=False, indent=2) + "\n")
        else:
            for line in error_lines(error, words):
                err.print(escape(line))
            if explain and isinstance(error, AllEnginesFailed):
                err.print(receipt_table(error.attempts, words))
            if better:
                err.print(escape(f"→ {words('answered_here')}\n$ {better}"))
        return exit_code(error)
    if as_json:
        sys.stdout.write(json.dumps(response.to_dict(words.language), ensure_ascii=False, indent=2) + "\n")
    else:
        _print_results(response, out)
        _print_summary(response, err, words)
        if explain:
            err.print(receipt_table(response.attempts, words))
    return Exit.OK if response.results else Exit.NOTHING_FOUND


def receipt_table(attempts: Iterable[Attempt], words: Words) -> Table:
    """Lay out the receipt."""
    table = Table(title=words("receipt"), title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    for column in ("engine", "outcome", "time", "why"):
        table.add_column(words(column), overflow="fold", justify="right" if column == "time" else "left")
    for attempt in attempts:
        outcome = words.outcome(attempt.outcome)
        if attempt.skipped:
            outcome = words("note", text=outcome, note=words("skipped"))
        told = [words.tell(fact) for fact in (attempt.fact, *attempt.notes) if fact]
        table.add_row(attempt.engine, outcome, words("ms", ms=attempt.ms), _shown(words.language.between.join(told)))
    return table


def short_date(text: str) -> str:
    """Return the day of an ISO time; what a provider worded itself stays."""
    day, mark, _ = text.partition("T")
    return day if mark and len(day) == len("2026-01-31") else text


def _print_results(response: SearchResponse, out: Console) -> None:
    for number, item in enumerate(response.results, 1):
        date = f" · {short_date(item.published_at)}" if item.published_at else ""
        found_by = f" · {', '.join(item.engines)}" if len(item.engines) > 1 else ""
        out.print(f"[bold]{number}. {_shown(item.title)}[/bold]")
        out.print(f"   [cyan]{_shown(item.url)}[/cyan]")
        if item.snippet:
            out.print(f"   {_shown(item.snippet)}")
        out.print(f"   [dim]{_shown(item.source + date + found_by)}[/dim]\n")


def _shown(text: str) -> str:
    """Make text of any origin safe for a terminal: a plug-in may pass on what a page holds as it is."""
    return escape(visible(text))


def _print_summary(response: SearchResponse, err: Console, words: Words) -> None:
    if not response.results:
        err.print(words("nothing"))
    line = words("summary", count=response.total_results, provider=response.provider, ms=response.search_time)
    if response.stale:
        line += f" · {words('stale')}"
    elif response.cached:
        line += f" · {words('cached')}"
    err.print(f"[dim]{escape(line)}[/dim]")
