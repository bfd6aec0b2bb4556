"""``qiusuo tokens`` and ``qiusuo audit``, straight from and to the database."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiusuo.chat.stores.opening import open_store
from qiusuo.cli.database.people_commands import NEVER
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.config import Settings
from qiusuo.config.server import TokenEntry
from qiusuo.engines import discover_engines
from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.roster import NATIVE
from qiusuo.text import visible
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.people.members import Known
    from qiusuo.people.schema import PeopleTables
    from qiusuo.people.store import Author, PeopleStore

T = TypeVar("T")

SECONDS: Final = 5
"""Within these every server knows of a change (``people.LONGEST_SECONDS``)."""
_WHOLE: Final = re.compile(r"[0-9]{1,15}")
_COLUMNS: Final = (
    "name", "token", "role", "ends", "perMinute", "searches", "modelTokens", "engines", "models", "lastUsed",
)  # fmt: skip
_NOTHING: Final = frozenset({"–", "0"})


class PeopleWords(Words):
    """Looks up the words about people."""

    prefix: ClassVar[str] = "people"


def run_add(name: str, limits: Mapping[str, str], *, as_json: bool) -> Exit:
    """Give somebody a token, and print it this once."""

    async def add(tables: PeopleTables) -> Exit:
        from qiusuo.people.members import Grant, changed, checked_name  # noqa: PLC0415 - an extra

        settings, now, store = Settings.load(), time.time(), _store(tables)
        taken = {TokenEntry.read(each.get_secret_value()).name for each in settings.tokens or ()}
        wanted = checked_name(name, taken)
        grant = changed(Grant(), _wanted(limits), _known(settings), now)
        alone = not settings.tokens and not await store.everybody()
        secret = await store.add(wanted, grant, _author(settings))
        _tell_token(wanted, secret.text, as_json=as_json, more="now_closed" if alone else "")
        return Exit.OK

    return _with_tables(add)


def run_list(*, as_json: bool) -> Exit:
    """Print everybody."""

    async def read(tables: PeopleTables) -> Exit:
        from qiusuo.people.budgets import month_of  # noqa: PLC0415 - an extra
        from qiusuo.people.members import Used  # noqa: PLC0415 - the same

        now = time.time()
        _, found, used = await _store(tables).look(None, month_of(now))
        rows = [one.to_dict(now, used.get(one.name, Used())) for one in (found or {}).values()]
        if as_json:
            _print_json(rows)
            return Exit.OK
        words = PeopleWords(words_for_terminal().language)
        _print_table(words, *_filled(_COLUMNS, [_row(row) for row in rows]))
        return Exit.OK

    return _with_tables(read, looks=True)


def run_change(name: str, limits: Mapping[str, str]) -> Exit:
    """Change what is set for somebody."""

    async def change(tables: PeopleTables) -> Exit:
        from qiusuo.people.members import changed  # noqa: PLC0415 - an extra

        if not limits:
            raise InvalidQuery(Fact("people.nothing_to_change"))
        settings, now = Settings.load(), time.time()
        known, wanted = _known(settings), _wanted(limits)
        await _store(tables).change(name, lambda grant: changed(grant, wanted, known, now), _author(settings))
        _tell("changed", name=name, seconds=SECONDS)
        return Exit.OK

    return _with_tables(change)


def run_rotate(name: str, *, as_json: bool) -> Exit:
    """Give somebody another token, and print it this once."""

    async def rotate(tables: PeopleTables) -> Exit:
        secret = await _store(tables).rotate(name, _author(Settings.load()))
        _tell_token(name, secret.text, as_json=as_json)
        return Exit.OK

    return _with_tables(rotate)


def run_revoke(name: str) -> Exit:
    """End somebody's token."""

    async def revoke(tables: PeopleTables) -> Exit:
        await _store(tables).revoke(name, _author(Settings.load()))
        _tell("revoked", name=name, seconds=SECONDS)
        return Exit.OK

    return _with_tables(revoke)


def has_people(settings: Settings) -> bool:
    """Tell whether anybody has a token of the database.

    Raises:
        SearchError: the database cannot be read.
    """

    async def look() -> bool:
        async with _opened(settings) as tables:
            store = _store(tables)
            return store.is_there and bool(await store.everybody())

    return asyncio.run(look())


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

    return _with_tables(read, looks=True)


def _store(tables: PeopleTables) -> PeopleStore:
    from qiusuo.people.store import PeopleStore  # noqa: PLC0415 - an extra

    return PeopleStore(tables)


def _author(settings: Settings) -> Author:
    from qiusuo.people.audit import TERMINAL  # noqa: PLC0415 - loaded when used
    from qiusuo.people.store import Author  # noqa: PLC0415 - an extra

    return Author(TERMINAL, noted=settings.audit_days > 0)


def _known(settings: Settings) -> Known:
    from qiusuo.people.members import Known  # noqa: PLC0415 - loaded when used

    return Known({*discover_engines(), NATIVE}, ("", *settings.models))


def _wanted(limits: Mapping[str, str]) -> dict[str, Any]:
    """Return what the options say: numbers where they are, None where a limit is to go."""
    names = {"role", "engines", "models"}
    read = {name: None if value.strip().lower() == NEVER else value for name, value in limits.items()}
    return {
        name: int(value) if name not in names and value is not None and _WHOLE.fullmatch(value) else value
        for name, value in read.items()
    }


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    def of(used: str, limit: str) -> str:
        return f"{row[used]:,}" if row[limit] is None else f"{row[used]:,} / {row[limit]:,}"

    return (
        row["name"],
        row["token"],
        row["role"],
        (row["endsAt"] or "–")[:10],
        str(row["perMinute"] or "–"),
        of("usedSearches", "searches"),
        of("usedModelTokens", "modelTokens"),
        ", ".join(row["engines"] or ()) or "–",
        ", ".join(row["models"] or ()) or "–",
        (row["usedAt"] or "–")[:16].replace("T", " "),
    )


def _filled(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Leave out columns that say nothing about anybody: a terminal has room for a few."""
    kept = [place for place in range(len(columns)) if not {row[place] for row in rows} <= _NOTHING]
    return [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _tell(key: str, **values: object) -> None:
    Console(highlight=False, emoji=False, soft_wrap=True).print(
        Text(PeopleWords(words_for_terminal().language)(key, **values))
    )


def _tell_token(name: str, token: str, *, as_json: bool, more: str = "") -> None:
    if as_json:
        _print_json({"name": name, "token": token})
        return
    words = PeopleWords(words_for_terminal().language)
    err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    err.print(Text(words("shown_once", name=name)))
    sys.stdout.write(token + "\n")  # alone on its line, so that a script can take it
    sys.stdout.flush()
    if more:
        err.print(Text(words(more)))


def moment(seconds: float) -> str:
    """Return a moment as the terminal shows it: in UTC, as the log has it for all servers."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _with_tables(work: Callable[[PeopleTables], Awaitable[Exit]], *, looks: bool = False) -> Exit:
    """Do something with the tables of people; tell what is wrong where it cannot be done."""

    async def run() -> Exit:
        async with _opened(Settings.load(), looks=looks) as tables:
            return await work(tables)

    try:
        return asyncio.run(run())
    except SearchError as error:
        err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        for line in error_lines(error, words_for_terminal()):
            err.print(Text(line))
        return exit_code(error)


@asynccontextmanager
async def _opened(settings: Settings, *, looks: bool = False) -> AsyncIterator[PeopleTables]:
    url = settings.database_url.get_secret_value() if settings.database_url else None
    store = open_store(url)  # tells what is missing before the next line needs it
    path = store.database.address.path
    if looks and path is not None and not path.exists():  # to look must not create a database
        store = open_store(":memory:")
    from qiusuo.people.schema import PeopleTables  # noqa: PLC0415 - an extra

    try:
        yield PeopleTables(store.database)
    finally:
        await store.database.aclose()


def _print_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def _print_table(words: Words, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
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
