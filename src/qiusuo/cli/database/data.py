"""``qiusuo backup`` and its like: what is kept, as a whole."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from qiusuo.chat.stores.opening import Address, open_store, servers_folder
from qiusuo.chat.stores.presence import living
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, SearchError, SessionBusy
from qiusuo.text import visible
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.chat.stores.sql import SqlSessionStore
    from qiusuo.data.manifest import Manifest

_KILOBYTE: Final = 1000
_MEGABYTE: Final = 1_000_000


class DataWords(Words):
    """Looks up the words about what is kept."""

    prefix: ClassVar[str] = "data"


def run_backup(target: Path, *, force: bool) -> Exit:
    """Save the database."""

    def work(words: DataWords) -> None:
        address = _address()
        from qiusuo.data.backup import back_up  # noqa: PLC0415 - an extra

        with _progress(words) as tell:
            made = back_up(_file_of(address, target, restoring=False), target, force=force, tell=tell)
        size = target.expanduser().stat().st_size
        say(words("backed_up", file=str(target), size=_size(size), made=_about(made, words)))

    return guarded(work)


def run_restore(source: Path) -> Exit:
    """Bring a backup back."""

    def work(words: DataWords) -> None:
        address = _address()
        from qiusuo.data.restore import restore  # noqa: PLC0415 - an extra

        database = _file_of(address, source, restoring=True)
        with _progress(words) as tell:
            done = restore(address, source, tell=tell)
        say(words("restored", file=str(database), made=_about(done.manifest, words)))
        if done.former is not None:
            say(words("former_kept", file=str(done.former)))
        say(words("restored_too"))

    return guarded(work)


def run_database(*, migrate: bool) -> Exit:
    """Tell what state the tables are in, or bring them up to date."""

    async def work(words: DataWords) -> Exit:
        store = opened_store()
        from qiusuo.chat.stores.database.history import HEAD, check_version  # noqa: PLC0415 - an extra

        database = store.database
        try:
            if database.address.path is not None and not database.address.path.exists():
                raise ConfigurationError(Fact("data.no_database"), place=database.address.shown)
            if migrate:
                await database.run(lambda _: None)
            await database.look()
            state = await database.driver.run(check_version, write=False)
        finally:
            await database.aclose()
        say(words("database", address=database.address.shown, shown=state.shown, known=HEAD))
        say(words("up_to_date" if state.is_current else "behind"))
        return Exit.OK

    return guarded(lambda words: asyncio.run(work(words)))


def run_copy(source: str | None, to: str, *, replace: bool) -> Exit:
    """Copy all tables into another database."""

    async def work(words: DataWords) -> None:
        with _of_option("--from" if source else ""):
            first = open_store(source) if source else opened_store()
        with _of_option("--to"):
            second = open_store(to)
        from qiusuo.data.copying import copy_all  # noqa: PLC0415 - an extra

        addresses = [store.database.address for store in (first, second)]
        for address in addresses:
            folder = servers_folder(address)
            if folder is not None and living(folder):
                raise SessionBusy(Fact("data.in_use"), place=address.shown)
        options = {addresses[1].shown: "--to", **({addresses[0].shown: "--from"} if source else {})}
        try:
            with _of_option(options), _progress(words) as tell:
                if addresses[0].kind == "sqlite" and not (addresses[0].path and addresses[0].path.exists()):
                    raise ConfigurationError(Fact("data.no_database"), place=addresses[0].shown)
                done = await copy_all(first.database, second.database, replace=replace, tell=tell)
        finally:
            for store in (first, second):
                await store.database.aclose()
        rows, (old, new) = sum(done.rows.values()), addresses
        say(words("copied", source=old.shown, target=new.shown, rows=rows))
        say(words("now_use_it"))

    return guarded(lambda words: asyncio.run(work(words)))


@contextmanager
def _of_option(option: str | Mapping[str, str]) -> Iterator[None]:
    """Say which option an error is about; a mapping has the options by the places of errors."""
    try:
        yield
    except SearchError as error:
        name = option if isinstance(option, str) else option.get(error.place)
        if name:
            error.fact = error.fact.with_values(database_setting=name)
            error.remedy = error.remedy.with_values(database_setting=name) if error.remedy else None
        raise


def guarded(work: Callable[[DataWords], Exit | None]) -> Exit:
    """Do something; what keeps it from being done is told, and becomes the exit code."""
    words = DataWords(words_for_terminal().language)
    try:
        return work(words) or Exit.OK
    except SearchError as error:
        err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        for line in error_lines(error, words_for_terminal()):
            err.print(Text(line))
        return exit_code(error)


def say(text: str) -> None:
    """Print a line, whole however long it is: paths in it are copied."""
    sys.stdout.write(f"{visible(text)}\n")


def opened_store() -> SqlSessionStore:
    """Open the store of the settings."""
    settings = Settings.load()
    return open_store(settings.database_url.get_secret_value() if settings.database_url else None)


def _address() -> Address:
    return opened_store().database.address  # tells what is missing


def _file_of(address: Address, file: Path, *, restoring: bool) -> Path:
    from qiusuo.data.postgres import refusal  # noqa: PLC0415 - an extra

    if address.kind == "postgresql":
        raise refusal(address, file, restoring=restoring)
    if address.path is None:
        raise ConfigurationError(Fact("data.in_memory"))
    return address.path


def _about(made: Manifest, words: DataWords) -> str:
    conversations, turns = (made.counts.get(f"qiusuo_{name}", 0) for name in ("sessions", "turns"))
    return words("about_backup", moment=made.created_at, conversations=conversations, turns=turns, schema=made.schema)


def _size(count: int) -> str:
    return f"{count / _MEGABYTE:,.1f} MB" if count >= _MEGABYTE else f"{count / _KILOBYTE:.0f} kB"


@contextmanager
def _progress(words: DataWords) -> Iterator[Callable[[Fact, int, int], None]]:
    """Show how far something is, on a terminal."""
    console = Console(stderr=True, highlight=False, emoji=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        steps: dict[str, TaskID] = {}

        def tell(step: Fact, done: int, whole: int) -> None:
            name = words.tell(step)
            if name not in steps:
                steps[name] = bar.add_task(name, total=whole or None)
            bar.update(steps[name], completed=done)

        yield tell
