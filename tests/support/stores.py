"""Databases of conversations for tests: the fixtures ``place`` and ``store`` over SQLite and PostgreSQL."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy import text as sql

from qiusuo.chat.events.turn import TurnRecord, TurnState
from qiusuo.chat.sessions.limits import StoreLimits
from qiusuo.chat.sessions.session import Progress, SessionStore, new_id
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.models import SearchResultItem
from tests.support.postgres_process import PostgresProcess, with_postgres

START = 1_790_000_000.0


@dataclass
class Place:
    """A database of its own; each server opens it anew."""

    url: str
    now: float = START
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def file(self) -> Path | None:
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite") else None

    def server(self, **limits: Any) -> SqlSessionStore:
        store = open_store(self.url, clock=lambda: self.now, limits=StoreLimits(**limits))
        self.stack.push_async_callback(store.aclose)
        return store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=with_postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'chat.db'}"
    server: PostgresProcess = request.getfixturevalue("postgres")
    return server.url(server.create())


@pytest.fixture
async def place(url: str) -> Any:
    place = Place(url)
    async with place.stack:
        yield place


@pytest.fixture
def store(place: Place) -> SessionStore:
    return place.server()


def turn(question: str = "今天的新闻？", **values: Any) -> TurnRecord:
    return TurnRecord(new_id(), question, created_at="2026-11-15T00:00:00.000+00:00", **values)


async def whole_turn(
    store: SessionStore, owner: str, session: str, question: str = "问", answer: str = "答", **options: Any
) -> TurnRecord:
    """Ask and answer, with two messages in the memory."""
    record = turn(question)
    memory = await store.begin_turn(owner, session, record, **options)
    memory.starts[record.id] = len(memory.messages)
    memory.messages += [{"type": "human", "content": question}, {"type": "ai", "content": answer}]
    record.answer, record.state = answer, TurnState.DONE
    await store.end_turn(owner, session, record, memory)
    return record


async def turns_of(store: SessionStore, owner: str, session: str, **options: Any) -> list[TurnRecord]:
    """Return the last turns of a conversation."""
    return list((await store.turns(owner, session, **options)).turns)


async def kept(store: SessionStore, session: str, record: TurnRecord) -> bool:
    """Save a turn that is still running; tell whether it still holds its conversation."""
    return record.id in await store.keep([Progress(session, record, whole=True)])


def result(name: str) -> SearchResultItem:
    return SearchResultItem(name, f"https://{name}.example/", f"about {name}", f"{name}.example")


async def rows(store: SqlSessionStore, statement: str) -> list[Any]:
    """Run a statement beside the store and return the first column."""

    def work(connection: Connection) -> list[Any]:
        found = connection.execute(sql(statement))
        return list(found.scalars()) if found.returns_rows else []

    # Not by the store's own way, which would make the tables first.
    return await store.database.driver.run(work, write=True)
