"""Files of conversations in the database of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, func, select, update

from qiusuo.chat.sessions.files import FileInfo
from qiusuo.chat.sessions.limits import StoreLimits
from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import files, is_storable, sessions, storable, turns
from qiusuo.errors import LimitReached, SessionNotFound
from qiusuo.files import PER_MESSAGE, FileKind, FileText, Part
from qiusuo.words import Fact

CHARS_OF_ONE: Final = 3_000_000
"""Characters in the files of one conversation: they are looked through for each question."""
_INFO: Final = tuple(column for column in files.c if column.name != "parts")


class SqlFiles:
    """Implements ``FileStore``."""

    def __init__(self, database: Database, limits: StoreLimits, moment: Callable[[], str]) -> None:
        self._database = database
        self._limits = limits
        self._moment = moment

    async def check_room(self, owner: str, session: str) -> None:
        def work(connection: Connection) -> None:
            _find(connection, owner, session)
            self._check(connection, owner, session)

        await self._database.run(work)

    async def add(self, owner: str, session: str, file: FileText) -> FileInfo:
        moment = self._moment()

        def work(connection: Connection) -> FileInfo:
            _find(connection, owner, session, lock=True)
            known = connection.execute(select(*_INFO).where(*_is(session, file.id))).one_or_none()
            if known is not None:
                return _info(known)
            position, asked = self._check(connection, owner, session, file.chars)
            values = {
                "id": file.id,
                "name": storable(file.name),
                "kind": file.kind.value,
                "size": file.size,
                "pages": file.pages,
                "chars": file.chars,
                "cut": file.cut,
                "added_at": moment,
            }
            parts = [part.to_dict() for part in file.parts]
            connection.execute(
                files.insert().values(**values, session_id=session, position=position, asked=asked, parts=parts)
            )
            # One in which nothing was asked yet is not taken for forgotten.
            connection.execute(update(sessions).where(sessions.c.id == session).values(updated_at=moment))
            return FileInfo(**{**values, "kind": file.kind})  # type: ignore[arg-type]

        return await self._database.run(work, write=True)

    async def list(self, owner: str, session: str) -> Sequence[FileInfo]:
        def work(connection: Connection) -> Sequence[FileInfo]:
            _find(connection, owner, session)
            wanted = select(*_INFO).where(files.c.session_id == session).order_by(files.c.position)
            return [_info(row) for row in connection.execute(wanted)]

        return await self._database.run(work)

    async def load(self, owner: str, session: str) -> Sequence[FileText]:
        def work(connection: Connection) -> Sequence[FileText]:
            _find(connection, owner, session)
            wanted = select(files).where(files.c.session_id == session).order_by(files.c.position)
            return [_text(row) for row in connection.execute(wanted)]

        return await self._database.run(work)

    async def one(self, owner: str, session: str, file: str) -> FileText:
        def work(connection: Connection) -> FileText:
            _find(connection, owner, session)
            row = connection.execute(select(files).where(*_is(session, file))).one_or_none()
            if row is None:
                raise SessionNotFound(Fact("file.not_found"))
            return _text(row)

        return await self._database.run(work)

    async def remove(self, owner: str, session: str, file: str) -> None:
        def work(connection: Connection) -> None:
            _find(connection, owner, session, lock=True)
            if not connection.execute(delete(files).where(*_is(session, file))).rowcount:
                raise SessionNotFound(Fact("file.not_found"))

        await self._database.run(work, write=True)

    def _check(self, connection: Connection, owner: str, session: str, chars: int = 0) -> tuple[int, int]:
        """Return the position of the next file, and how many questions were asked before it."""
        asked = connection.scalar(select(func.count()).where(turns.c.session_id == session)) or 0
        count, position, size, fresh = connection.execute(
            select(
                func.count(),
                func.coalesce(func.max(files.c.position), -1) + 1,
                func.coalesce(func.sum(files.c.chars), 0),
                func.count().filter(files.c.asked == asked),
            ).where(files.c.session_id == session)
        ).one()
        if count >= self._limits.files:
            raise LimitReached(Fact("file.too_many", limit=self._limits.files))
        if fresh >= PER_MESSAGE:
            raise LimitReached(Fact("file.too_many_at_once", limit=PER_MESSAGE))
        if size + chars > CHARS_OF_ONE:
            raise LimitReached(Fact("file.conversation_full", limit=CHARS_OF_ONE))
        whole = select(func.coalesce(func.sum(files.c.chars), 0)).join_from(files, sessions)
        if (connection.scalar(whole.where(sessions.c.owner == owner)) or 0) + chars > self._limits.file_chars:
            raise LimitReached(Fact("file.owner_full", limit=self._limits.file_chars))
        return int(position), int(asked)


def _find(connection: Connection, owner: str, session: str, *, lock: bool = False) -> None:
    """See that a conversation is there; with ``lock`` nobody else changes it before the transaction ends."""
    if is_storable(session) and is_storable(owner):
        wanted = select(sessions.c.id).where(sessions.c.id == session, sessions.c.owner == owner)
        if connection.execute(wanted.with_for_update() if lock else wanted).one_or_none() is not None:
            return
    raise SessionNotFound(Fact("session.not_found"))


def _is(session: str, file: str) -> tuple[Any, ...]:
    # What cannot be stored is no id of any file.
    return files.c.session_id == session, files.c.id == (file if is_storable(file) else "")


def _info(row: Row[Any]) -> FileInfo:
    kind = FileKind(row.kind)
    return FileInfo(row.id, row.name, kind, row.size, row.pages, row.chars, row.cut, row.added_at)


def _text(row: Row[Any]) -> FileText:
    parts = [Part.from_dict(part) for part in row.parts]
    return FileText(row.id, row.name, FileKind(row.kind), row.size, parts, row.pages, row.cut)
