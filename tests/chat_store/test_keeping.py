"""What is written of running turns and how often; what waits to be saved, and how much of that there may be."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from qiusuo.chat.events.turn import Done, Event, Notice
from qiusuo.chat.live import keeping
from qiusuo.chat.live.conversations import Conversations, LiveTurn
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.stores.database import connections
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.errors import Unavailable
from tests.support.chat_world import ChatWorld
from tests.support.scripted_model import Gate, Reply
from tests.support.stores import rows, turns_of

OWNER = "local"


@asynccontextmanager
async def talking(path: Path, *script: Any, **options: Any) -> AsyncIterator[tuple[Conversations, SqlSessionStore]]:
    async with ChatWorld(*script) as world:
        store = open_store(f"sqlite:///{path}/chat.db")
        conversations = Conversations(world.chat, store, **options)
        try:
            yield conversations, store
        finally:
            await conversations.aclose()


async def until(look: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await look():  # noqa: ASYNC110 - it happens in the database
            await asyncio.sleep(0.01)


async def heard_out(live: LiveTurn) -> list[Event]:
    async with asyncio.timeout(15):
        return [event async for batch in live.follow() for _, event in batch]


async def test_text_is_kept_in_pieces_and_nothing_is_written_twice(tmp_path: Path) -> None:
    gate, end = Gate(), Gate()
    script = Reply.text("一二三", gate, "四五六", end, "七")
    async with talking(tmp_path, script, keep_seconds=0.02) as (conversations, store):
        session = (await store.create(OWNER, settings=ChatSettings(search=True))).id
        live = await conversations.send(OWNER, session, "你好")

        async def signs() -> float:
            return float((await rows(store, "SELECT alive_at FROM qiusuo_holders"))[0])

        async def texts() -> list[str]:
            return await rows(store, "SELECT text FROM qiusuo_pieces ORDER BY number")

        async def are(*wanted: str) -> bool:
            return await texts() == [*wanted]

        async def came_after(before: float) -> bool:
            return await signs() > before

        await until(partial(are, "一二三"))
        written: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if not statement.startswith(("SELECT", "BEGIN", "PRAGMA", "COMMIT")):
                written.append(statement)

        event.listen(store.database.driver.engine, "before_cursor_execute", note)
        for _ in range(3):  # three more signs of life, with nothing new to say
            await until(partial(came_after, await signs()))
        assert {statement.split()[2] for statement in written} == {"qiusuo_holders"}
        gate.open()
        await until(partial(are, "一二三", "四五六"))
        assert not any("UPDATE qiusuo_turns" in statement for statement in written), "the record is as it was"
        end.open()
        await heard_out(live)
        assert await texts() == []
        assert [one.answer for one in await turns_of(store, OWNER, session)] == ["一二三四五六七"]


def locked(path: Path) -> closing[sqlite3.Connection]:
    """Let another program hold the database."""
    other = sqlite3.connect(path / "chat.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return closing(other)


async def ended_unsaved(conversations: Conversations, *sessions: str, gate: Gate) -> None:
    """Let turns of these conversations end while the database is locked."""
    lives = [await conversations.send(OWNER, session, "你好") for session in sessions]
    assert isinstance(conversations.store, SqlSessionStore)
    path = conversations.store.database.address.path
    assert path is not None
    with locked(path.parent):
        gate.open()
        for live in lives:
            heard = await heard_out(live)
            assert [one.code for one in heard if isinstance(one, Notice)] == ["not_saved"]
            assert isinstance(heard[-1], Done)
        for session in sessions:
            with pytest.raises(Unavailable):
                await conversations.settle(OWNER, session)


class TestUnsaved:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)

    async def test_it_is_saved_when_the_database_is_free_again(self, tmp_path: Path) -> None:
        gate = Gate()
        async with talking(tmp_path, Reply.text(gate, "答")) as (conversations, store):
            session = (await store.create(OWNER)).id
            await ended_unsaved(conversations, session, gate=gate)

            async def free() -> bool:
                return (await store.get(OWNER, session)).running is None

            await until(free)
            [turn] = await turns_of(store, OWNER, session)
            assert (turn.answer, turn.state.value, turn.notices) == ("答", "done", [])

    async def test_the_server_s_end_waits_for_it_a_little(self, tmp_path: Path) -> None:
        gate = Gate()
        async with talking(tmp_path, Reply.text(gate, "答")) as (conversations, store):
            session = (await store.create(OWNER)).id
            await ended_unsaved(conversations, session, gate=gate)
        other = open_store(f"sqlite:///{tmp_path}/chat.db")
        assert [one.answer for one in await turns_of(other, OWNER, session)] == ["答"]
        await other.aclose()

    async def test_a_conversation_that_went_on_elsewhere_is_left_as_it_is(self, tmp_path: Path) -> None:
        gate = Gate()
        async with talking(tmp_path, Reply.text(gate, "答"), Reply.text("又答")) as (conversations, store):
            session = (await store.create(OWNER)).id
            live = await conversations.send(OWNER, session, "你好")
            # Another server has taken this one for dead.
            await rows(store, "DELETE FROM qiusuo_holders")
            async with talking(tmp_path, Reply.text("别处")) as (elsewhere, other):
                await heard_out(await elsewhere.send(OWNER, session, "继续"))
                gate.open()
                heard = await heard_out(live)
                assert [one.code for one in heard if isinstance(one, Notice)] == []
                turns = await turns_of(other, OWNER, session)
                assert [one.answer for one in turns] == ["答", "别处"]
                again = await conversations.send(OWNER, session, "再来")
                await heard_out(again)
                said = [message["data"]["content"].split("\n")[0] for message in again.turn.memory.messages]
                assert said == ["继续", "别处", "再来", "又答"]

    async def test_no_more_wait_than_there_is_room_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(keeping, "MAX_UNSAVED", 2)
        gate = Gate()
        replies = [Reply.text(gate, "答")] * 3
        async with talking(tmp_path, *replies) as (conversations, store):
            sessions = [(await store.create(OWNER)).id for _ in range(3)]
            lives = [await conversations.send(OWNER, session, "你好") for session in sessions]
            with locked(tmp_path):
                gate.open()
                for live in lives:
                    await heard_out(live)
                with pytest.raises(Unavailable):  # what was under way before has failed as well then
                    await conversations.settle(OWNER, sessions[-1])
            for session in sessions:
                await conversations.settle(OWNER, session)
            states = [(await turns_of(store, OWNER, session))[0].finish for session in sessions]
            # One of them is lost, which reads as broken off and blocks nothing.
            assert sorted(states) == ["server_restart", "stop", "stop"]
            assert [(await store.get(OWNER, session)).running for session in sessions] == [None] * 3
        assert "too many wait" in caplog.text


async def test_what_the_settings_keep_no_longer_is_deleted_beside_the_server(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/chat.db"
    before = open_store(url, clock=lambda: time.time() - 3 * 86_400)
    old = (await before.create(OWNER, title="old")).id
    await before.aclose()
    async with ChatWorld(retention_days=2) as world:
        store = open_store(url)
        conversations = Conversations(world.chat, store)
        try:
            await store.create(OWNER, title="new")
            assert (await store.get(OWNER, old)).title == "old"
            await conversations.start()

            async def gone() -> bool:
                return [one.title for one in await store.list(OWNER)] == ["new"]

            await until(gone)
        finally:
            await conversations.aclose()
