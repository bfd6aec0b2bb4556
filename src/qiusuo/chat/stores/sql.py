"""Conversations in SQLite or PostgreSQL. Opened with :func:`qiusuo.chat.stores.opening.open_store`.

A turn claims its conversation under the lock of the conversation's row; ``claims`` tells how long
a claim holds. Readers see the turn of a process that is gone as failed, and the next turn takes over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Insert, Row, Select, delete, func, or_, select, update

from qiusuo.chat.events.turn import SERVER_RESTART, TurnRecord, TurnState
from qiusuo.chat.sessions.branches import Branches
from qiusuo.chat.sessions.dead_turns import DeadTurns
from qiusuo.chat.sessions.feedback import FeedbackStore
from qiusuo.chat.sessions.limits import StoreLimits
from qiusuo.chat.sessions.session import (
    MAX_TITLE,
    ChatSettings,
    Memory,
    Progress,
    SessionInfo,
    SessionPage,
    TurnPage,
    new_id,
    title_of,
)
from qiusuo.chat.sessions.shares import Shares
from qiusuo.chat.stores import turns as store_turns
from qiusuo.chat.stores.branches import SqlBranches
from qiusuo.chat.stores.claims import Claims
from qiusuo.chat.stores.database.connections import Database
from qiusuo.chat.stores.database.schema import is_storable, sessions, storable, turns
from qiusuo.chat.stores.dead_turns import SqlDeadTurns
from qiusuo.chat.stores.feedback import SqlFeedback
from qiusuo.chat.stores.files import SqlFiles
from qiusuo.chat.stores.old import SqlRetention
from qiusuo.chat.stores.presence import Presence
from qiusuo.chat.stores.rows import FREE, INFO, find, position_of
from qiusuo.chat.stores.shares import SqlShares
from qiusuo.errors import InvalidQuery, LimitReached, SearchError, SessionBusy, SessionNotFound
from qiusuo.text import truncate
from qiusuo.words import Fact

LEAVE_SECONDS: Final = 2.0
MAX_LISTED: Final = 200
MAX_QUERY: Final = 1000
_MAX_OFFSET: Final = 1_000_000_000
_EMPTY_HOURS: Final = 1


class SqlSessionStore:
    """Implements ``SessionStore``. May be used from several event loops and threads."""

    def __init__(
        self, database: Database, presence: Presence, *, clock: Callable[[], float], limits: StoreLimits
    ) -> None:
        self.database = database
        self.limits = limits
        self._clock = clock
        self.files = SqlFiles(database, limits, self._moment)
        self._claims = Claims(database, presence, clock)
        self.dead: DeadTurns = SqlDeadTurns(database, self._claims)
        self.shares: Shares = SqlShares(database, clock)
        self.retention = SqlRetention(database, self._moment, self._claims.idle)
        self.feedback: FeedbackStore = SqlFeedback(database, self._moment)
        self.branches: Branches = SqlBranches(database, lambda: self.limits, self._moment, self._make_room)

    async def delete_untouched(self, seconds: float | None) -> int:
        return await self.retention.delete_untouched(seconds)

    async def start(self) -> None:
        await self._claims.start()

    async def probe(self) -> None:
        await self._claims.start()
        await self.database.run(self._claims.renew, write=True)

    async def create(self, owner: str, *, settings: ChatSettings | None = None, title: str = "") -> SessionInfo:
        _check_owner(owner)
        moment = self._moment()
        info = SessionInfo(new_id(), owner, _title(title), settings or ChatSettings(), moment, moment)

        def work(connection: Connection) -> SessionInfo:
            removed = self._make_room(connection, owner)
            connection.execute(_row_of(info, Memory()))
            return replace(info, removed=removed)

        return await self.database.run(work, write=True)

    async def adopt(self, about: SessionInfo, records: Sequence[TurnRecord], memory: Memory) -> SessionInfo:
        _check_owner(about.owner)
        if len(records) > self.limits.turns:
            raise LimitReached(Fact("session.full", count=self.limits.turns))
        moment = self._moment()
        title = _title(about.title or title_of(records[0].question))
        info = replace(about, id=new_id(), title=title, created_at=about.created_at or moment, updated_at=moment)
        rows = [
            {"session_id": info.id, "id": record.id, "position": position, **store_turns.columns(record)}
            for position, record in enumerate(records)
        ]

        def work(connection: Connection) -> SessionInfo:
            removed = self._make_room(connection, info.owner)
            connection.execute(_row_of(info, memory))
            connection.execute(turns.insert(), rows)
            return replace(info, removed=removed)

        return await self.database.run(work, write=True)

    async def get(self, owner: str, session: str) -> SessionInfo:
        def work(connection: Connection) -> SessionInfo:
            return self._info(find(connection, owner, session))

        return await self.database.run(work)

    async def running(self, sessions: Collection[str]) -> dict[str, str]:
        return await self.database.run(lambda connection: self._claims.running(connection, sessions))

    async def list(self, owner: str, *, query: str = "", limit: int = 50, offset: int = 0) -> Sequence[SessionInfo]:
        wanted = _listed(owner, query, _between(limit, 1, MAX_LISTED), offset)

        def work(connection: Connection) -> Sequence[SessionInfo]:
            return [self._info(row) for row in connection.execute(wanted)]

        return await self.database.run(work)

    async def page(self, owner: str, *, query: str = "", limit: int = 50, offset: int = 0) -> SessionPage:
        limit = _between(limit, 1, MAX_LISTED)
        wanted = _listed(owner, query, limit + 1, offset)

        def work(connection: Connection) -> SessionPage:
            total = connection.scalar(select(func.count()).where(sessions.c.owner == owner)) or 0
            found = [self._info(row) for row in connection.execute(wanted)]
            return SessionPage(found[:limit], total, more=len(found) > limit)

        return await self.database.run(work)

    async def change(
        self, owner: str, session: str, *, title: str | None = None, settings: dict[str, Any] | None = None
    ) -> SessionInfo:
        def work(connection: Connection) -> SessionInfo:
            row = find(connection, owner, session, lock=True)
            values: dict[str, Any] = {"updated_at": self._moment()}
            if title is not None:
                values |= {"title": _title(title), "title_words": _title(title).casefold()}
            if settings is not None:
                values["settings"] = ChatSettings.from_dict(row.settings).changed(settings).to_dict()
            connection.execute(update(sessions).where(sessions.c.id == session).values(values))
            return self._info(find(connection, owner, session))

        return await self.database.run(work, write=True)

    async def delete(self, owner: str, session: str) -> None:
        def work(connection: Connection) -> None:
            find(connection, owner, session, lock=True)
            connection.execute(delete(sessions).where(sessions.c.id == session))

        await self.database.run(work, write=True)

    async def turns(
        self, owner: str, session: str, *, limit: int = 50, before: str | None = None, after: str | None = None
    ) -> TurnPage:
        limit = _between(limit, 1, MAX_LISTED)

        def work(connection: Connection) -> TurnPage:
            running = self._info(find(connection, owner, session)).running
            mine = turns.c.session_id == session
            wanted = select(turns.c.position, turns.c.record).where(mine).limit(limit)
            if after is not None:
                wanted = wanted.where(turns.c.position > position_of(connection, session, after))
                found = (connection.execute(wanted.order_by(turns.c.position))).all()
            else:
                if before is not None:
                    wanted = wanted.where(turns.c.position < position_of(connection, session, before))
                found = (connection.execute(wanted.order_by(turns.c.position.desc()))).all()[::-1]
            first = found[0].position if found else -1
            counted = select(func.count(), func.count().filter(turns.c.position < first)).where(mine)
            total, earlier = (connection.execute(counted)).one()
            if not found and after is not None:
                earlier = total
            records = [store_turns.read(connection, session, row.record, running) for row in found]
            return TurnPage(records, earlier, total - earlier - len(records))

        return await self.database.run(work)

    async def turn(self, owner: str, session: str, turn: str) -> TurnRecord:
        def work(connection: Connection) -> TurnRecord:
            running = self._info(find(connection, owner, session)).running
            found = connection.scalar(select(turns.c.record).where(*store_turns.is_turn(session, turn)))
            if found is None:
                raise SessionNotFound(Fact("session.no_turn"))
            return store_turns.read(connection, session, found, running)

        return await self.database.run(work)

    async def begin_turn(self, owner: str, session: str, record: TurnRecord, *, replaces: str | None = None) -> Memory:
        if not is_storable(record.id):
            raise InvalidQuery(Fact("session.bad_turn_id"))
        await self._claims.be_alive()

        def work(connection: Connection) -> Memory:
            row = find(connection, owner, session, lock=True, memory=True)
            if self._info(row).running is not None:
                raise SessionBusy(Fact("session.busy"))
            memory = Memory.from_dict(row.memory)
            if row.running is not None:
                store_turns.bury(connection, session, row.running, memory)
            if replaces is not None:
                store_turns.drop(connection, session, replaces, memory)
            position = self._next_position(connection, session, record.id)
            columns = store_turns.columns(record)
            connection.execute(turns.insert().values(session_id=session, id=record.id, position=position, **columns))
            title = row.title or _title(title_of(record.question))
            values: dict[str, Any] = {
                "running": record.id,
                "holder": self._claims.holder,
                "alive_at": None,
                "updated_at": self._moment(),
                "title": title,
                "title_words": title.casefold(),
            }
            if row.running is not None or replaces is not None:
                values["memory"] = memory.to_dict()
            connection.execute(update(sessions).where(sessions.c.id == session).values(values))
            return memory

        def undo(connection: Connection) -> None:
            # Nobody would ever end a turn whose beginning was cancelled.
            mine = (sessions.c.id == session, sessions.c.running == record.id)
            if (connection.execute(update(sessions).where(*mine).values(FREE))).rowcount:
                record.state = TurnState.STOPPED
                store_turns.save(connection, session, record)

        self._claims.turns.add(record.id)
        try:
            return await self.database.run(work, write=True, undo=undo)
        except BaseException:  # whatever ends the attempt, a cancellation too: the turn is not ours
            self.disown(record.id)
            raise

    async def keep(self, progress: Sequence[Progress]) -> set[str]:
        # Taken down here: the turns go on while the database works, perhaps in another thread.
        news = [(each, store_turns.columns(each.record) if each.whole else {}) for each in progress]

        def work(connection: Connection) -> set[str]:
            self._claims.renew(connection)
            held = self._claims.held(connection)
            store_turns.keep(connection, [(each, whole) for each, whole in news if each.record.id in held])
            return held

        await self._claims.start()
        return await self.database.run(work, write=True)

    async def end_turn(self, owner: str, session: str, record: TurnRecord, memory: Memory) -> None:
        data = memory.to_dict()

        def work(connection: Connection) -> bool:
            row = find(connection, owner, session, lock=True)
            ended = self._has_ended(connection, session, record.id)
            if not ended or row.running == record.id:
                store_turns.save(connection, session, record)
            if row.running == record.id:
                values = {**FREE, "updated_at": self._moment(), "memory": data}
                connection.execute(update(sessions).where(sessions.c.id == session).values(values))
            return ended or row.running == record.id

        # What this turn remembers would overwrite what came after it.
        if not await self.database.run(work, write=True):
            self.disown(record.id)
            raise SessionBusy(Fact("session.went_on"))
        self.disown(record.id)

    def disown(self, turn: str) -> None:
        self._claims.turns.discard(turn)

    async def aclose(self) -> None:
        with suppress(SearchError, TimeoutError):  # others see it by the time that passes
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._claims.leave()
        await self.database.aclose()

    def _has_ended(self, connection: Connection, session: str, turn: str) -> bool:
        """Tell whether the end of a turn was saved before; one that was taken for dead has not ended."""
        data = connection.scalar(select(turns.c.record).where(*store_turns.is_turn(session, turn)))
        return data is not None and data["state"] != TurnState.RUNNING and data["finish"] != SERVER_RESTART

    def _make_room(self, connection: Connection, owner: str, spared: str = "") -> tuple[SessionInfo, ...]:
        """Make room for one more conversation; return those that were deleted for it and had something in them."""
        mine = sessions.c.owner == owner
        surplus = (connection.scalar(select(func.count()).where(mine)) or 0) - self.limits.sessions + 1
        if surplus <= 0:
            return ()
        # Nobody misses those in which nothing was ever asked.
        asked = select(turns.c.id).where(turns.c.session_id == sessions.c.id).exists()
        old = sessions.c.updated_at < self._moment(-_EMPTY_HOURS * 3600)
        surplus -= (connection.execute(delete(sessions).where(mine, old, ~asked))).rowcount
        if surplus <= 0:
            return ()
        if not self.limits.oldest_make_room:
            raise LimitReached(Fact("session.too_many", limit=self.limits.sessions))
        oldest = select(*INFO).where(mine, sessions.c.id != spared, self._claims.idle())
        oldest = oldest.order_by(sessions.c.updated_at, sessions.c.id)
        # One that is being claimed just now is not idle.
        oldest = oldest.limit(surplus).with_for_update(skip_locked=True, of=sessions)
        removed = tuple(self._info(row) for row in connection.execute(oldest))
        connection.execute(delete(sessions).where(sessions.c.id.in_([one.id for one in removed])))
        return removed

    def _next_position(self, connection: Connection, session: str, turn: str) -> int:
        found = connection.execute(
            select(
                func.count(),
                func.coalesce(func.max(turns.c.position), -1) + 1,
                func.count().filter(turns.c.id == turn),
            ).where(turns.c.session_id == session)
        )
        count, position, taken = found.one()
        if count >= self.limits.turns:
            raise LimitReached(Fact("session.full", count=count))
        if taken:
            raise InvalidQuery(Fact("session.turn_id_taken"))
        return int(position)

    def _info(self, row: Row[Any]) -> SessionInfo:
        alive = self._claims.is_alive(row)
        return SessionInfo(
            row.id,
            row.owner,
            row.title,
            ChatSettings.from_dict(row.settings),
            row.created_at,
            row.updated_at,
            row.running if alive else None,
            elsewhere=alive and row.holder != self._claims.holder,
            died=None if alive else row.running,
        )

    def _moment(self, later: float = 0.0) -> str:
        return datetime.fromtimestamp(self._clock() + later, UTC).isoformat(timespec="milliseconds")


def _row_of(info: SessionInfo, memory: Memory) -> Insert:
    return sessions.insert().values(
        id=info.id,
        owner=info.owner,
        title=info.title,
        title_words=info.title.casefold(),
        settings=info.settings.to_dict(),
        memory=memory.to_dict(),
        created_at=info.created_at,
        updated_at=info.updated_at,
    )


def _listed(owner: str, query: str, limit: int, offset: int) -> Select[Any]:
    _check_owner(owner)
    if len(query) > MAX_QUERY:
        raise InvalidQuery(Fact("session.query_too_long", limit=MAX_QUERY))
    wanted = select(*INFO).where(sessions.c.owner == owner)
    if words := storable(query).strip().casefold():
        inside = turns.c.words.contains(words, autoescape=True)
        in_turns = select(turns.c.id).where(turns.c.session_id == sessions.c.id, inside).exists()
        wanted = wanted.where(or_(sessions.c.title_words.contains(words, autoescape=True), in_turns))
    wanted = wanted.order_by(sessions.c.updated_at.desc(), sessions.c.id)
    return wanted.limit(limit).offset(_between(offset, 0, _MAX_OFFSET))


def _check_owner(owner: str) -> None:
    if not is_storable(owner):
        raise InvalidQuery(Fact("session.bad_owner"))


def _title(text: str) -> str:
    return truncate(" ".join(storable(text).split()), MAX_TITLE)


def _between(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
