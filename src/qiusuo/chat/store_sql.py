"""Conversations in SQLite or PostgreSQL. Opened with :func:`qiusuo.chat.store.open_store`.

A turn claims its conversation by writing its id and a sign of life into the conversation's row, under the row's lock.
A claim whose last sign of life is older than a minute belongs to a process that is gone: readers see its turn as
failed, and the next turn takes over. Several servers must agree on the time to some seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Row, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from qiusuo.chat.events import Notice, RoundState, TurnRecord, TurnState, fold
from qiusuo.chat.session import MAX_TITLE, ChatSettings, Memory, Mode, SessionInfo, new_id, title_of
from qiusuo.chat.store_database import Database
from qiusuo.chat.store_schema import is_storable, sessions, storable, turns
from qiusuo.citations.registry import CitationRegistry
from qiusuo.errors import InvalidQuery, SessionBusy, SessionNotFound
from qiusuo.text import detect_language, primary_language, truncate

ALIVE_SECONDS: Final = 60.0
"""A turn that gives no sign of life for so long is dead."""
MAX_LISTED: Final = 200
MAX_QUERY: Final = 1000
RESTARTED: Final = "server_restart"

_MAX_OFFSET: Final = 1_000_000_000
_INFO: Final = tuple(column for column in sessions.c if column.name not in {"memory", "title_words"})
_RESTART_WORDS: Final = {
    True: ("回答中断", "回答完成之前，服务器重启或已停止。", "请重新提问。"),
    False: ("The answer broke off", "The server was restarted or stopped before it was complete.", "Ask again."),
}


class SqlSessionStore:
    """Implements :class:`qiusuo.chat.session.SessionStore`. May be used from several event loops and threads."""

    def __init__(self, database: Database, *, clock: Callable[[], float], max_sessions: int, max_turns: int) -> None:
        self.database = database
        self._clock = clock
        self._max_sessions = max_sessions
        self._max_turns = max_turns

    async def create(self, owner: str, *, settings: ChatSettings | None = None, title: str = "") -> SessionInfo:
        _check_owner(owner)
        moment = self._moment()
        info = SessionInfo(new_id(), owner, _title(title), settings or ChatSettings(), moment, moment)

        async def work(connection: AsyncConnection) -> SessionInfo:
            await self._make_room(connection, owner)
            await connection.execute(
                sessions.insert().values(
                    id=info.id,
                    owner=owner,
                    title=info.title,
                    title_words=info.title.casefold(),
                    settings=info.settings.to_dict(),
                    memory=Memory().to_dict(),
                    created_at=moment,
                    updated_at=moment,
                )
            )
            return info

        return await self.database.run(work, write=True)

    async def get(self, owner: str, session: str) -> SessionInfo:
        async def work(connection: AsyncConnection) -> SessionInfo:
            return self._info(await _find(connection, owner, session))

        return await self.database.run(work)

    async def list(self, owner: str, *, query: str = "", limit: int = 50, offset: int = 0) -> Sequence[SessionInfo]:
        _check_owner(owner)
        if len(query) > MAX_QUERY:
            raise InvalidQuery(f"The text to look for is longer than {MAX_QUERY} characters.", fix="Shorten it.")
        wanted = select(*_INFO).where(sessions.c.owner == owner)
        if words := storable(query).strip().casefold():
            inside = turns.c.words.contains(words, autoescape=True)
            in_turns = select(turns.c.id).where(turns.c.session_id == sessions.c.id, inside).exists()
            wanted = wanted.where(or_(sessions.c.title_words.contains(words, autoescape=True), in_turns))
        wanted = wanted.order_by(sessions.c.updated_at.desc(), sessions.c.id)
        wanted = wanted.limit(_between(limit, 1, MAX_LISTED)).offset(_between(offset, 0, _MAX_OFFSET))

        async def work(connection: AsyncConnection) -> Sequence[SessionInfo]:
            return [self._info(row) for row in await connection.execute(wanted)]

        return await self.database.run(work)

    async def change(
        self, owner: str, session: str, *, title: str | None = None, settings: dict[str, Any] | None = None
    ) -> SessionInfo:
        async def work(connection: AsyncConnection) -> SessionInfo:
            row = await _find(connection, owner, session, lock=True)
            values: dict[str, Any] = {"updated_at": self._moment()}
            if title is not None:
                values |= {"title": _title(title), "title_words": _title(title).casefold()}
            if settings is not None:
                values["settings"] = ChatSettings.from_dict(row.settings).changed(settings).to_dict()
            await connection.execute(update(sessions).where(sessions.c.id == session).values(values))
            return self._info(await _find(connection, owner, session))

        return await self.database.run(work, write=True)

    async def delete(self, owner: str, session: str) -> None:
        async def work(connection: AsyncConnection) -> None:
            await _find(connection, owner, session, lock=True)
            await connection.execute(delete(sessions).where(sessions.c.id == session))

        await self.database.run(work, write=True)

    async def turns(self, owner: str, session: str, *, limit: int = 200, offset: int = 0) -> Sequence[TurnRecord]:
        wanted = select(turns.c.record).where(turns.c.session_id == session).order_by(turns.c.position.desc())
        wanted = wanted.limit(_between(limit, 1, self._max_turns)).offset(_between(offset, 0, _MAX_OFFSET))

        async def work(connection: AsyncConnection) -> Sequence[TurnRecord]:
            running = self._info(await _find(connection, owner, session)).running
            records = [TurnRecord.from_dict(data) for data in (await connection.scalars(wanted)).all()]
            for record in records:
                if record.state is TurnState.RUNNING and record.id != running:
                    _give_up(record)
            return records[::-1]

        return await self.database.run(work)

    async def begin_turn(self, owner: str, session: str, record: TurnRecord, *, replaces: str | None = None) -> Memory:
        if not is_storable(record.id):
            raise InvalidQuery("The id of the turn cannot be used.", fix="Take one of new_id().")

        async def work(connection: AsyncConnection) -> Memory:
            row = await _find(connection, owner, session, lock=True, memory=True)
            if self._info(row).running is not None:
                raise SessionBusy(
                    "Another turn of this conversation is still running.", fix="Wait for its end, or stop it."
                )
            memory = Memory.from_dict(row.memory)
            if row.running is not None:
                await _bury(connection, session, row.running, memory)
            if replaces is not None:
                await _drop(connection, session, replaces, memory)
            position = await self._next_position(connection, session, record.id)
            await connection.execute(
                turns.insert().values(session_id=session, id=record.id, position=position, **_columns(record))
            )
            title = row.title or _title(title_of(record.question))
            values: dict[str, Any] = {
                "running": record.id,
                "alive_at": self._clock(),
                "updated_at": self._moment(),
                "title": title,
                "title_words": title.casefold(),
            }
            if row.running is not None or replaces is not None:
                values["memory"] = memory.to_dict()
            await connection.execute(update(sessions).where(sessions.c.id == session).values(values))
            return memory

        async def undo(connection: AsyncConnection) -> None:
            # Nobody would ever end a turn whose beginning was cancelled.
            values = {"running": None, "alive_at": None}
            mine = (sessions.c.id == session, sessions.c.running == record.id)
            if (await connection.execute(update(sessions).where(*mine).values(values))).rowcount:
                record.state = TurnState.STOPPED
                where = (turns.c.session_id == session, turns.c.id == record.id)
                await connection.execute(update(turns).where(*where).values(_columns(record)))

        return await self.database.run(work, write=True, undo=undo)

    async def keep_turn(self, owner: str, session: str, record: TurnRecord) -> None:
        await self._save(owner, session, record, lambda: {"alive_at": self._clock()})

    async def end_turn(self, owner: str, session: str, record: TurnRecord, memory: Memory) -> None:
        data = memory.to_dict()
        await self._save(
            owner,
            session,
            record,
            lambda: {"running": None, "alive_at": None, "updated_at": self._moment(), "memory": data},
        )

    async def aclose(self) -> None:
        await self.database.aclose()

    async def _save(self, owner: str, session: str, record: TurnRecord, values: Callable[[], dict[str, Any]]) -> None:
        async def work(connection: AsyncConnection) -> None:
            row = await _find(connection, owner, session, lock=True)
            if row.running != record.id:
                # What this turn remembers would overwrite what came after it.
                raise SessionBusy(
                    "This turn gave no sign of life for too long, and the conversation went on without it.",
                    fix="Load the conversation again.",
                )
            mine = (turns.c.session_id == session, turns.c.id == record.id)
            await connection.execute(update(turns).where(*mine).values(_columns(record)))
            await connection.execute(update(sessions).where(sessions.c.id == session).values(values()))

        await self.database.run(work, write=True)

    async def _make_room(self, connection: AsyncConnection, owner: str) -> None:
        count = await connection.scalar(select(func.count()).where(sessions.c.owner == owner)) or 0
        if count < self._max_sessions:
            return
        now = self._clock()
        idle = or_(
            sessions.c.running.is_(None),
            sessions.c.alive_at <= now - ALIVE_SECONDS,
            sessions.c.alive_at >= now + ALIVE_SECONDS,
        )
        oldest = (
            select(sessions.c.id)
            .where(sessions.c.owner == owner, idle)
            .order_by(sessions.c.updated_at, sessions.c.id)
            .limit(count - self._max_sessions + 1)
            .with_for_update(skip_locked=True)  # one that is being claimed just now is not idle
        )
        await connection.execute(delete(sessions).where(sessions.c.id.in_(oldest)))

    async def _next_position(self, connection: AsyncConnection, session: str, turn: str) -> int:
        found = await connection.execute(
            select(
                func.count(),
                func.coalesce(func.max(turns.c.position), -1) + 1,
                func.count().filter(turns.c.id == turn),
            ).where(turns.c.session_id == session)
        )
        count, position, taken = found.one()
        if count >= self._max_turns:
            raise InvalidQuery(f"This conversation has {count} turns, no more fit in.", fix="Start a new conversation.")
        if taken:
            raise InvalidQuery("The conversation has a turn of that id already.", fix="Take one of new_id().")
        return int(position)

    def _info(self, row: Row[Any]) -> SessionInfo:
        # Either way round: a clock that was ahead and is right again must not block the conversation for long.
        alive = row.running is not None and abs(self._clock() - (row.alive_at or 0.0)) < ALIVE_SECONDS
        return SessionInfo(
            row.id,
            row.owner,
            row.title,
            ChatSettings.from_dict(row.settings),
            row.created_at,
            row.updated_at,
            row.running if alive else None,
        )

    def _moment(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds")


async def _find(
    connection: AsyncConnection, owner: str, session: str, *, lock: bool = False, memory: bool = False
) -> Row[Any]:
    """Return the row of a conversation; with ``lock`` nobody else can change it before the transaction ends."""
    if is_storable(session) and is_storable(owner):
        columns = (*_INFO, sessions.c.memory) if memory else _INFO
        wanted = select(*columns).where(sessions.c.id == session, sessions.c.owner == owner)
        row = (await connection.execute(wanted.with_for_update() if lock else wanted)).one_or_none()
        if row is not None:
            return row
    raise SessionNotFound("There is no such conversation.", fix="It may have been deleted: choose another one.")


async def _bury(connection: AsyncConnection, session: str, turn: str, memory: Memory) -> None:
    """Mark a dead turn as failed. The numbers its readers have seen stay taken."""
    mine = (turns.c.session_id == session, turns.c.id == turn)
    data = await connection.scalar(select(turns.c.record).where(*mine))
    if data is None:
        return
    record = TurnRecord.from_dict(data)
    if record.mode == Mode.AGENT:
        memory.registry = _with_sources_of(record, memory.registry)
    _give_up(record)
    await connection.execute(update(turns).where(*mine).values(_columns(record)))


async def _drop(connection: AsyncConnection, session: str, turn: str, memory: Memory) -> None:
    """Remove a turn and all after it, from the memory too. The registry keeps its numbers: they never restart."""
    mine = turns.c.session_id == session
    first = await connection.scalar(select(turns.c.position).where(mine, turns.c.id == turn))
    if first is None:
        raise InvalidQuery("The turn that is to be replaced is not there any more.", fix="Load the conversation again.")
    later = (mine, turns.c.position >= first)
    dropped = set((await connection.scalars(select(turns.c.id).where(*later))).all())
    await connection.execute(delete(turns).where(*later))
    # A turn that died has no messages, so the cut may only come with a later one.
    cuts = [start for each, start in memory.starts.items() if each in dropped]
    memory.messages = memory.messages[: min(cuts, default=len(memory.messages))]
    memory.starts = {each: start for each, start in memory.starts.items() if each not in dropped}


def _with_sources_of(record: TurnRecord, registry: CitationRegistry) -> CitationRegistry:
    data = registry.to_dict()
    known = {source["number"] for source in data["sources"]}
    found = sorted((source for source in record.sources if source["number"] not in known), key=lambda s: s["number"])
    # A registry counts without gaps; what does not follow on was not numbered by it.
    for number, source in enumerate(found, len(known) + 1):
        if source["number"] != number:
            break
        data["sources"].append(source)
        known.add(number)
    for each in record.rounds:
        entry = {"query": each.get("query", ""), "numbers": [n for n in each.get("numbers", ()) if n in known]}
        if entry["numbers"] and entry not in data["rounds"]:
            data["rounds"].append(entry)
    return CitationRegistry.from_dict(data)


def _give_up(record: TurnRecord) -> None:
    """Make a record of a turn that died say so."""
    title, message, fix = _RESTART_WORDS[primary_language(detect_language(record.question)) == "zh"]
    fold(record, Notice(RESTARTED, "error", title, message, fix=fix))
    for each in record.rounds:
        if each.get("state") == RoundState.RUNNING:
            each.update(state=RoundState.FAILED.value, reason=message)
    record.state, record.stage, record.finish = TurnState.FAILED, None, RESTARTED


def _columns(record: TurnRecord) -> dict[str, Any]:
    words = storable(f"{record.question}\n{record.answer}".casefold())
    return {"record": record.to_dict(), "words": words}


def _check_owner(owner: str) -> None:
    if not is_storable(owner):
        raise InvalidQuery("The name of the owner cannot be used.", fix="Take a shorter one of plain characters.")


def _title(text: str) -> str:
    return truncate(" ".join(storable(text).split()), MAX_TITLE)


def _between(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
