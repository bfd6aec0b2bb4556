"""Branches in the database. A branch is a copy: each conversation stays one line of turns, whole without the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, func, select

from qiusuo.chat.sessions.branches import Branch, Kin
from qiusuo.chat.sessions.limits import StoreLimits
from qiusuo.chat.sessions.session import ChatSettings, Memory, SessionInfo, new_id
from qiusuo.chat.stores import turns as store_turns
from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import branches, files, is_storable, sessions, turns
from qiusuo.errors import InvalidQuery, LimitReached, SessionNotFound
from qiusuo.words import Fact

MakeRoom = Callable[[Connection, str, str], tuple[SessionInfo, ...]]


class SqlBranches:
    """Implements ``Branches``. ``make_room`` is given the owner and the conversation that must stay."""

    def __init__(
        self, database: Database, limits: Callable[[], StoreLimits], moment: Callable[[], str], make_room: MakeRoom
    ) -> None:
        self._database = database
        self._limits = limits
        self._moment = moment
        self._make_room = make_room

    async def begin(self, owner: str, session: str, turn: str) -> SessionInfo:
        moment, made = self._moment(), new_id()

        def work(connection: Connection) -> SessionInfo:
            origin = _find(connection, owner, session)
            first = _position(connection, session, turn)
            removed = self._make_room(connection, owner, session)
            memory, rows = _before(connection, origin, first)
            connection.execute(
                sessions.insert().values(
                    id=made,
                    owner=owner,
                    title="",
                    title_words="",
                    settings=origin.settings,
                    memory=memory.to_dict(),
                    created_at=moment,
                    updated_at=moment,
                )
            )
            if rows:
                connection.execute(turns.insert(), [{**row, "session_id": made} for row in rows])
            self._copy_files(connection, owner, session, made, first)
            connection.execute(
                branches.insert().values(session_id=made, origin_id=session, turn_id=turn, created_at=moment)
            )
            settings = ChatSettings.from_dict(origin.settings)
            return SessionInfo(made, owner, "", settings, moment, moment, removed=removed)

        return await self._database.run(work, write=True)

    async def of(self, owner: str, session: str) -> Kin:
        def work(connection: Connection) -> Kin:
            _find(connection, owner, session)
            before = select(sessions.c.id, sessions.c.title, branches.c.turn_id)
            origin = connection.execute(
                before.join(branches, branches.c.origin_id == sessions.c.id).where(branches.c.session_id == session)
            ).one_or_none()
            after = (
                before.join(branches, branches.c.session_id == sessions.c.id)
                .where(branches.c.origin_id == session)
                .order_by(branches.c.created_at, branches.c.session_id)
            )
            return Kin(Branch(*origin) if origin else None, [Branch(*row) for row in connection.execute(after)])

        return await self._database.run(work)

    def _copy_files(self, connection: Connection, owner: str, session: str, made: str, asked: int) -> None:
        """Copy the files that were there when the question was asked."""
        wanted = select(files).where(files.c.session_id == session, files.c.asked <= asked)
        rows = [{**row, "session_id": made} for row in connection.execute(wanted).mappings()]
        if not rows:
            return
        whole = select(func.coalesce(func.sum(files.c.chars), 0)).join_from(files, sessions)
        kept = connection.scalar(whole.where(sessions.c.owner == owner)) or 0
        most = self._limits().file_chars
        if kept + sum(row["chars"] for row in rows) > most:
            raise LimitReached(Fact("file.owner_full", limit=most))
        connection.execute(files.insert(), rows)


def _find(connection: Connection, owner: str, session: str) -> Row[Any]:
    if is_storable(session) and is_storable(owner):
        wanted = select(sessions).where(sessions.c.id == session, sessions.c.owner == owner)
        row = connection.execute(wanted).one_or_none()
        if row is not None:
            return row
    raise SessionNotFound(Fact("session.not_found"))


def _position(connection: Connection, session: str, turn: str) -> int:
    wanted = select(turns.c.position).where(*store_turns.is_turn(session, turn))
    found = connection.scalar(wanted) if is_storable(turn) else None
    if found is None:
        raise InvalidQuery(Fact("session.no_such_turn"))
    return int(found)


def _before(connection: Connection, origin: Row[Any], first: int) -> tuple[Memory, list[dict[str, Any]]]:
    """Return what the conversation remembered before a question, and the rows of the turns before it."""
    memory = Memory.from_dict(origin.memory)
    mine = turns.c.session_id == origin.id
    later = connection.scalars(select(turns.c.id).where(mine, turns.c.position >= first))
    store_turns.forget(memory, set(later))
    # All of them have ended: only the last one of a conversation can be running, or have died.
    wanted = select(turns).where(mine, turns.c.position < first)
    return memory, [dict(row) for row in connection.execute(wanted).mappings()]
