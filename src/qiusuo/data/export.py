"""Everything that is kept about one person, in a file for them."""

from __future__ import annotations

import asyncio
import json
import re
import time
import zipfile
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, Any, Final

from sqlalchemy import Connection, select

from qiusuo import __version__
from qiusuo.chat.portable.conversation import all_turns, to_portable
from qiusuo.chat.portable.documents import markdown_conversation
from qiusuo.chat.stores.database.parts import all_tables, owned_by
from qiusuo.chat.stores.database.schema import files, pieces, sessions, turns
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.errors import SessionNotFound
from qiusuo.people.schema import audit
from qiusuo.words import Language

FORMAT: Final = "qiusuo-export"
_OWN_SHAPE: Final = (sessions, turns, pieces, files)
"""Are in the conversations; rows of all other tables stand in the file as they are."""
_NOT_IN_A_NAME: Final = re.compile(r"[^\w-]+")
_LONGEST_NAME: Final = 50


async def export_owner(store: SqlSessionStore, owner: str, out: IO[bytes]) -> dict[str, int]:
    """Write what is kept about somebody as a ZIP file; return how much of what there is.

    Raises:
        SearchError: the database cannot be used.
    """
    counts: dict[str, int] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        ids = await store.database.run(lambda to: _ids(to, owner))
        counts["conversations"] = 0
        for number, session in enumerate(ids, 1):
            with suppress(SessionNotFound):  # deleted meanwhile
                found = await _conversation(store, owner, session, number)
                await asyncio.to_thread(_add, archive, found)
                counts["conversations"] += 1
        rows = await store.database.run(lambda to: _rows(to, owner))
        counts |= {name: len(found) for name, found in rows.items()}
        shown = {f"records/{name}.json": _json(found) for name, found in rows.items()}
        about = {
            "format": FORMAT,
            "version": 1,
            "owner": owner,
            "createdAt": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
            "qiusuo": __version__,
            "counts": counts,
        }
        await asyncio.to_thread(_add, archive, {**shown, "about.json": _json(about)})
    return counts


def _ids(connection: Connection, owner: str) -> list[str]:
    wanted = select(sessions.c.id).where(sessions.c.owner == owner).order_by(sessions.c.created_at, sessions.c.id)
    return list(connection.scalars(wanted))


async def _conversation(store: SqlSessionStore, owner: str, session: str, number: int) -> dict[str, str]:
    """Return the files of one conversation."""
    info = await store.get(owner, session)
    records = await all_turns(store, owner, session)
    kept = await store.files.load(owner, session)
    listed = await store.files.list(owner, session)
    folder = f"conversations/{number:04}-{_name(info.title) or 'untitled'}"
    language = Language(records[0].language) if records and records[0].language else Language.ENGLISH
    found = {
        f"{folder}/conversation.json": _json(
            {"id": info.id, "updatedAt": info.updated_at, **to_portable(info, records)}
        ),
        f"{folder}/conversation.md": markdown_conversation(info.title, records, language),
    }
    if listed:
        found[f"{folder}/files.json"] = _json([file.to_dict() for file in listed])
    for place, file in enumerate(kept, 1):
        text = "\n\n".join(part.text for part in file.parts)
        found[f"{folder}/files/{place:02}-{_name(file.name) or 'file'}.txt"] = text
    return found


def _rows(connection: Connection, owner: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows about somebody of all tables that have no shape of their own here."""
    found = {}
    for table in all_tables():
        condition = owned_by(table, owner) if table not in _OWN_SHAPE else None
        if condition is None:
            continue
        columns = [column for column in table.columns if not column.info.get("secret")]
        rows = [dict(row) for row in connection.execute(select(*columns).where(condition)).mappings()]
        if table is audit:  # from where others have done something is about them
            rows = [row if row["who"] == owner else {**row, "address": ""} for row in rows]
        if rows:
            found[table.name.removeprefix("qiusuo_")] = rows
    return found


def _add(archive: zipfile.ZipFile, found: dict[str, str]) -> None:
    for name, text in found.items():
        archive.writestr(name, text.encode("utf-8", "replace"))


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1, default=str)


def _name(text: str) -> str:
    return _NOT_IN_A_NAME.sub(" ", text)[:_LONGEST_NAME].strip()
