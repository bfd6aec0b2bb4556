"""The database of conversations: connections per event loop, transactions, and errors in words that help."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, QueuePool, StaticPool

from qiusuo.chat.stores.database.history import check_version, check_whole, create_tables
from qiusuo.chat.stores.database.schema import from_json, to_json
from qiusuo.chat.stores.opening import MEMORY, Address
from qiusuo.errors import ConfigurationError, SearchError, Unavailable
from qiusuo.loops import PerLoop
from qiusuo.words import Fact

logger = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[Connection], T]

CONNECTIONS: Final = 10
CONNECT_SECONDS: Final = 5.0
COMMAND_SECONDS: Final = 20.0
BUSY_SECONDS: Final = 10.0
_READERS: Final = 4
_WRITE: Final = "qiusuo_write"

# The beginning of SQLite's name of the error, and what it means.
_SQLITE_FACTS: Final = (
    ("SQLITE_BUSY", Fact("store.locked")),
    ("SQLITE_FULL", Fact("store.disk_full")),
    ("SQLITE_NOTADB", Fact("store.no_sqlite")),
    ("SQLITE_CORRUPT", Fact("store.damaged")),
    ("SQLITE_READONLY", Fact("store.read_only")),
    ("SQLITE_CANTOPEN", Fact("store.cannot_open")),
    ("SQLITE_IOERR", Fact("store.disk_error")),
)
# The beginning of PostgreSQL's code; what it means; whether the set-up must change.
_POSTGRES_FACTS: Final = (
    ("28", Fact("store.login_refused"), True),
    ("3D", Fact("store.not_there"), True),
    ("42501", Fact("store.forbidden"), True),
    ("42704", Fact("store.unknown_option"), True),
    ("42P01", Fact("store.tables_gone"), False),
    ("25006", Fact("store.read_only_server"), True),
    ("53100", Fact("store.postgres_disk_full"), False),
    ("53", Fact("store.exhausted"), False),
    ("57P", Fact("store.starting"), False),
    ("57", Fact("store.slow"), False),
)


class Driver(Protocol):
    """How a kind of database runs a transaction."""

    engine: Engine

    async def run(self, work: Work[T], *, write: bool) -> T: ...

    async def aclose(self) -> None: ...


class _Postgres:
    """Transactions over asyncpg. ``places`` are for writers; the pool has more, so that it makes nobody wait."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine.sync_engine
        self._engine = engine
        # Who reads twice must read the same state, as in SQLite.
        self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
        self._places = asyncio.Semaphore(CONNECTIONS)

    async def run(self, work: Work[T], *, write: bool) -> T:
        if write:
            async with self._places, self._engine.begin() as connection:
                return await connection.run_sync(work)
        async with self._reader.connect() as connection:
            return await connection.run_sync(work)

    async def aclose(self) -> None:
        await self._engine.dispose()


class _Sqlite:
    """Transactions in threads, each in one go: a step through the event loop for every statement would take long there.

    SQLite lets one write at a time, so there is one thread for it: to queue there is fairer than to knock at its lock.
    """

    def __init__(self, engine: Engine, *, in_memory: bool) -> None:
        self.engine = engine
        self._writer = ThreadPoolExecutor(1, "qiusuo-store-writer")
        # In memory there is one connection, and so one thread.
        self._readers = self._writer if in_memory else ThreadPoolExecutor(_READERS, "qiusuo-store-reader")

    async def run(self, work: Work[T], *, write: bool) -> T:
        threads = self._writer if write else self._readers
        return await asyncio.get_running_loop().run_in_executor(threads, self._transaction, work, write)

    def _transaction(self, work: Work[T], write: bool) -> T:
        if write:
            with self.engine.execution_options(**{_WRITE: True}).begin() as connection:
                return work(connection)
        with self.engine.connect() as connection:
            return work(connection)

    async def aclose(self) -> None:
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self.engine.dispose()


@dataclass(slots=True)
class _Here:
    """What belongs to one event loop."""

    driver: Driver
    preparing: asyncio.Lock = field(default_factory=asyncio.Lock)
    ready: bool = False
    pending: set[asyncio.Task[Any]] = field(default_factory=set)


class Database:
    """Runs pieces of work in transactions. May be used from several event loops; each has its own connections."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.before_close: list[Callable[[], Awaitable[None]]] = []
        """What others who use this database have to write before it is closed."""
        self.takes_copy = False
        """Whether another database is copied into this one; nobody else may use it before that is done."""
        self._failing = ""
        self._loops: PerLoop[_Here] = PerLoop(self._make, self._close)
        self._faults: tuple[type[Exception], ...] = (DBAPIError, PoolTimeout, sqlite3.Error, OSError, TimeoutError)
        if address.kind == "postgresql":
            asyncpg = import_module("asyncpg")  # an extra, and without types
            self._faults += (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)

    @property
    def driver(self) -> Driver:
        """The driver of the running loop."""
        return self._loops.get().driver

    async def run(self, work: Work[T], *, write: bool = False, undo: Work[None] | None = None) -> T:
        """Run ``work`` in a transaction: all of it is done, or nothing.

        Who stops waiting does not stop the work: a transaction that is torn off costs its connection, and with it the
        whole database where that is in memory. If work was done that nobody waited for any more, ``undo`` comes next.

        Raises:
            Unavailable: the database cannot be used at the moment.
            ConfigurationError: the set-up must change.
        """
        here = self._loops.get()
        task = self._start(here, work, write=write)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if undo is not None:
                task.add_done_callback(lambda done: self._undo(here, done, undo))
            raise

    async def look(self) -> None:
        """Look whether the database can be used, without creating anything.

        Raises:
            Unavailable: it cannot be used at the moment.
            ConfigurationError: the set-up must change.
        """
        try:
            if self.address.path is not None and not self._look_at_file(self.address.path):
                return
            await self.driver.run(check_version, write=False)
        except self._faults as error:
            raise self._explain(error) from None

    def _look_at_file(self, path: Path) -> bool:
        """Tell whether there is a file; if there is none, one can be created."""
        if path.exists():
            if not os.access(path, os.W_OK):
                raise self._unavailable(Fact("store.read_only"))
            return True
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise self._unavailable(_cannot_create(), str(folder))
        return False

    async def aclose(self) -> None:
        """Close the connections; those of a loop that has ended went with it."""
        while self.before_close:
            await self.before_close.pop()()
        running = asyncio.get_running_loop()
        for loop, here in self._loops.drain():
            if loop is running:
                await self._close(here)
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(self._close(here), loop)

    def _start(self, here: _Here, work: Work[T], *, write: bool) -> asyncio.Task[T]:
        task = asyncio.ensure_future(self._run(here, work, write=write))
        here.pending.add(task)

        def ended(_: object) -> None:
            here.pending.discard(task)
            if not task.cancelled():
                task.exception()  # seen, so asyncio does not complain where nobody waits any more

        task.add_done_callback(ended)
        return task

    def _undo(self, here: _Here, done: asyncio.Task[Any], undo: Work[None]) -> None:
        if not done.cancelled() and done.exception() is None:
            self._start(here, undo, write=True)

    async def _run(self, here: _Here, work: Work[T], *, write: bool) -> T:
        try:
            if not here.ready:
                await self._prepare(here)
            value = await here.driver.run(work, write=write)
        except self._faults as error:
            if _tables_are_gone(error):
                here.ready = False
            raise self._explain(error) from None
        if self._failing:
            self._failing = ""
            logger.warning("the database of conversations works again")
        return value

    async def _prepare(self, here: _Here) -> None:
        async with here.preparing:
            if here.ready:
                return
            if self.address.path is not None:
                await asyncio.to_thread(_prepare_file, self.address.path)
            await here.driver.run(create_tables, write=True)
            if not self.takes_copy:
                await here.driver.run(check_whole, write=False)
            here.ready = True

    def _make(self) -> _Here:
        options: dict[str, Any] = {
            "json_serializer": to_json,
            "json_deserializer": from_json,
            "hide_parameters": True,
        }
        if self.address.kind == "postgresql":
            engine = create_async_engine(
                "postgresql+asyncpg://",
                async_creator=self._connect_postgres,
                poolclass=AsyncAdaptedQueuePool,
                pool_size=CONNECTIONS,
                max_overflow=CONNECTIONS,  # for readers
                pool_timeout=COMMAND_SECONDS,
                pool_pre_ping=True,
                **options,
            )
            return _Here(_Postgres(engine))
        in_memory = self.address.path is None
        made = create_engine(
            URL.create("sqlite", database=MEMORY if in_memory else str(self.address.path)),
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            # In memory each connection would be a database of its own, so there is one, which never ends.
            poolclass=StaticPool if in_memory else QueuePool,
            **options,
        )
        event.listen(made, "connect", _set_up_sqlite)
        event.listen(made, "begin", _begin_sqlite)
        return _Here(_Sqlite(made, in_memory=in_memory))

    async def _connect_postgres(self) -> Any:
        try:
            return await import_module("asyncpg").connect(
                self.address.dsn,
                timeout=CONNECT_SECONDS,
                command_timeout=COMMAND_SECONDS,
                server_settings={"application_name": "qiusuo"},
            )
        except (ValueError, TypeError) as error:
            # Not its words: of an address that it cannot take apart it quotes parts.
            logger.debug("asyncpg does not take the address: %s", type(error).__name__)
            raise ConfigurationError(Fact("store.bad_dsn"), place=self.address.shown) from None

    @staticmethod
    async def _close(here: _Here) -> None:
        while here.pending:
            await asyncio.wait(here.pending)
        with suppress(SQLAlchemyError, OSError):
            await here.driver.aclose()

    def _unavailable(self, fact: Fact, place: str = "") -> Unavailable:
        return Unavailable(fact, place=place or self.address.shown)

    def _explain(self, error: Exception) -> SearchError:
        """Put an error into words. Those of the driver are not used: they can quote conversations and addresses."""
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        if self._failing != type(cause).__name__:  # once, however many are turned away meanwhile
            self._failing = type(cause).__name__
            logger.warning("the database of conversations failed: %s", self._failing)
        if self.address.kind == "sqlite":
            name = getattr(cause, "sqlite_errorname", None) or ""
            for beginning, fact in _SQLITE_FACTS:
                if name.startswith(beginning):
                    return self._unavailable(fact)
            if _tables_are_gone(error):
                return self._unavailable(Fact("store.tables_gone"))
            if isinstance(cause, OSError):
                return self._unavailable(_cannot_create(cause.strerror or ""))
            return self._unavailable(Fact("store.unusable"))
        state = getattr(cause, "sqlstate", None) or ""
        for beginning, fact, setup in _POSTGRES_FACTS:
            if state.startswith(beginning):
                kind = ConfigurationError if setup else Unavailable
                return kind(fact, place=self.address.shown)
        if state and not state.startswith("08"):
            return self._unavailable(Fact("store.postgres_failed", state=state))
        return self._unavailable(Fact("store.silent"))


def _cannot_create(why: str = "") -> Fact:
    return Fact("store.cannot_create", said=Fact("store.said", words=why) if why else "")


def _tables_are_gone(error: Exception) -> bool:
    """Tell whether somebody took the tables away while we ran, such as by putting another file in the place."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) == "42P01" or "no such table" in str(cause)


def _prepare_file(path: Path) -> None:
    # Conversations are for their owner alone; SQLite gives its other files the rights of this one.
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # One that is there is not touched: to close it would take away the locks of all our connections to it, and another
    # process that ends would remove the log that they write to.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver would begin transactions by itself, and not those that it thinks only read.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        with suppress(sqlite3.OperationalError):  # another process is just doing it; it stays so once it is done
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        # What is deleted is overwritten: nobody reads it out of the file later.
        cursor.execute("PRAGMA secure_delete=ON")
    finally:
        cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes then would fail if another one wrote between: it takes the lock first.
    writes = connection.get_execution_options().get(_WRITE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
