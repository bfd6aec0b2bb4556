"""What all commands of ``qiusuo legal`` share: words, output, errors as exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.config import Settings
from qiusuo.errors import SearchError
from qiusuo.legal.index.folder import IndexFolder, index_folder
from qiusuo.words import Fact


def settings() -> Settings:
    """Return the settings of this machine."""
    return Settings.load()


def guarded(work: Callable[[IndexFolder], Exit]) -> Exit:
    """Run a command over the index folder; errors become text and an exit code."""
    try:
        return work(index_folder(settings().legal_dir))
    except SearchError as error:
        for line in error_lines(error, words()):
            Console(stderr=True, highlight=False, emoji=False).print(escape(line))
        return exit_code(error)


def words() -> Words:
    """Return the language of the terminal."""
    return words_for_terminal()


def say(fact: Fact) -> None:
    """Print a sentence."""
    console().print(escape(words().tell(fact)))


def remarks(notes: Iterable[Fact]) -> list[str]:
    """Return notes as lines."""
    told = words()
    return [f"! {told.tell(note)}" for note in notes]


def print_json(data: dict[str, Any]) -> None:
    """Print data for programs."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def console() -> Console:
    """Return a console that shows text as it is."""
    return Console(highlight=False, emoji=False, soft_wrap=True)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float | None], None]]:
    """Show how far a long work is; the function that is given out tells what is done, and its share where known."""
    what = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), what, BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("…", total=None)

        def tell(what: str, share: float | None = None) -> None:
            progress.update(task, description=what, total=None if share is None else 1.0, completed=share or 0.0)

        yield tell
