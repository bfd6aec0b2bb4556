"""``qiusuo chat --export`` and ``--import``: conversations of this machine taken along and brought back."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from qiusuo.cli.words import words_for_terminal
from qiusuo.commands import typed
from qiusuo.config import Settings
from qiusuo.errors import InvalidQuery, SessionNotFound
from qiusuo.words import Fact, Language

if TYPE_CHECKING:
    from qiusuo.chat.sessions.session import SessionStore


async def export(kind: str, session: str | None) -> None:
    """Write a conversation, if none is named the last one, to standard output.

    Raises:
        SearchError: there is none, or the database cannot be used.
    """
    from qiusuo.chat.live.places import NO_USER  # noqa: PLC0415 - the same
    from qiusuo.chat.portable.conversation import all_turns, to_portable  # noqa: PLC0415 - the same
    from qiusuo.chat.portable.documents import html_conversation, markdown_conversation  # noqa: PLC0415 - needs the extra
    from qiusuo.chat.stores.database.schema import to_json  # noqa: PLC0415 - the same

    async with _store() as store:
        found = [await store.get(NO_USER, session)] if session else await store.list(NO_USER, limit=1)
        if not found:
            raise SessionNotFound(Fact("session.not_found"))
        [info] = found
        turns = await all_turns(store, NO_USER, info.id)
    language = Language(turns[0].language) if turns else Language.ENGLISH
    match kind:
        case "json":
            text = to_json(to_portable(info, turns)) + "\n"
        case "html":
            text = html_conversation(info.title, turns, language)
        case _:
            text = markdown_conversation(info.title, turns, language)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()


async def bring(file: Path, err: Console) -> None:
    """Take in a conversation that was exported as JSON, and tell how to go on with it.

    Raises:
        SearchError: it cannot be read, or not be kept.
    """
    from qiusuo.chat.live.places import NO_USER  # noqa: PLC0415 - the same
    from qiusuo.chat.portable.conversation import from_portable  # noqa: PLC0415 - needs the extra
    from qiusuo.chat.sessions.session import SessionInfo  # noqa: PLC0415 - the same

    try:
        brought = from_portable(await asyncio.to_thread(file.read_bytes))
    except OSError as error:
        raise InvalidQuery(Fact("portable.no_file", file=str(file), why=error.strerror or "")) from None
    about = SessionInfo("", NO_USER, brought.title, brought.settings, brought.created_at, "")
    async with _store() as store:
        info = await store.adopt(about, brought.turns, brought.memory)
    resume = Fact("terminal.resume", command=typed(f"qiusuo chat --session {info.id}"))
    err.print(Text(resume.text(words_for_terminal().language)))


@asynccontextmanager
async def _store() -> AsyncIterator[SessionStore]:
    from qiusuo.chat.stores.opening import open_store, store_limits  # noqa: PLC0415 - needs the extra

    settings = Settings.load()
    url = settings.database_url.get_secret_value() if settings.database_url else None
    store = open_store(url, limits=store_limits(settings))
    try:
        yield store
    finally:
        await store.aclose()
