"""``qiusuo audit``, read straight from the database."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiusuo.chat.sessions.store import open_store
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.config import Settings
from qiusuo.errors import SearchError
from qiusuo.text import visible

if TYPE_CHECKING:
    from qiusuo.people.schema import PeopleTables

T = TypeVar("T")


class PeopleWords(Words):
    """Looks up the words about people."""

    prefix: ClassVar[str] = "people"


def run_audit(*, since: datetime | None, as_json: bool) -> Exit:
    """Print who did what, the newest first."""

    async def read(tables: PeopleTables) -> Exit:
        from qiusuo.people.audit_store import SqlAuditStore  # noqa: PLC0415 - an extra

        lines = await SqlAuditStore(tables).lines(int(since.replace(tzinfo=UTC).timestamp()) if since else 0)
        if as_json:
            _print_json([line.to_dict() for line in lines])
            return Exit.OK
        words = PeopleWords(words_for_terminal().language)
        rows = [(moment(line.at), line.who, line.address, words.tell(line.fact)) for line in lines]
        _print_table(words, ("when", "who", "address", "what"), rows)
        return Exit.OK

    return _with_tables(read)


def moment(seconds: float) -> str:
    """Return a moment as the terminal shows it: in UTC, as the log has it for all servers."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _with_tables(work: Callable[[PeopleTables], Awaitable[Exit]]) -> Exit:
    """Do something with the tables of people; tell what is wrong where it cannot be done."""

    async def run() -> Exit:
        async with _opened(Settings.load()) as tables:
            return await work(tables)

    try:
        return asyncio.run(run())
    except SearchError as error:
        err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        for line in error_lines(error, words_for_terminal()):
            err.print(Text(line))
        return exit_code(error)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[PeopleTables]:
    url = settings.database_url.get_secret_value() if settings.database_url else None
    store = open_store(url)  # tells what is missing before the next line needs it
    from qiusuo.people.schema import PeopleTables  # noqa: PLC0415 - an extra

    try:
        yield PeopleTables(store.database)
    finally:
        await store.database.aclose()


def _print_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def _print_table(words: Words, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    console = Console(highlight=False, emoji=False)
    if not rows:
        console.print(Text(words("none")))
        return
    table = Table(show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(words(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)
