"""The store of conversations when something is wrong: addresses, drivers, files, disks, servers."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.sessions.session import new_id
from qiusuo.chat.stores.database import connections
from qiusuo.chat.stores.opening import Address, open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError, SearchError, Unavailable
from qiusuo.words import Language
from tests.support.postgres_process import PostgresProcess, with_postgres

HUSH = "hushhush"


async def failure_of(store: SqlSessionStore, kind: type[SearchError]) -> str:
    """Use the store, which must fail with words that help and hold no password, and close it."""
    try:
        with pytest.raises(kind) as caught:
            await store.create("ada")
    finally:
        await store.aclose()
    assert caught.value.fact.code.startswith("store.")
    assert all(caught.value.wording(language).fix for language in Language)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert HUSH not in repr(caught.value) + str(caught.value)
    return str(caught.value)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


class TestAddresses:
    @pytest.mark.parametrize(
        ("url", "kind", "shown"),
        [
            (":memory:", "sqlite", ":memory:"),
            ("sqlite://", "sqlite", ":memory:"),
            ("sqlite:///:memory:", "sqlite", ":memory:"),
            ("sqlite:///chat.db", "sqlite", "chat.db"),
            ("sqlite:////var/chat.db", "sqlite", "/var/chat.db"),
            ("sqlite+aiosqlite:////var/a b#c%20.db", "sqlite", "/var/a b#c%20.db"),
            (" postgres://ada:hushhush@db/chat ", "postgresql", "postgresql://db/chat"),
            (
                "PostgreSQL+asyncpg://ada:hush@hush@db:5433/chat?sslmode=require",
                "postgresql",
                "postgresql://db:5433/chat",
            ),
            ("postgresql://a:hushhush@one:1,two:2/chat", "postgresql", "postgresql://one:1,two:2/chat"),
            ("postgresql://a:hushhush@[::1]:5432/chat", "postgresql", "postgresql://[::1]:5432/chat"),
            ("postgresql:///chat?host=/run/postgresql&password=hushhush", "postgresql", "postgresql:///chat"),
        ],
    )
    def test_as_people_write_them(self, url: str, kind: str, shown: str) -> None:
        address = Address.read(url)
        assert (address.kind, address.shown) == (kind, shown)
        assert HUSH not in repr(address)
        assert open_store(url).database.address == address

    @pytest.mark.parametrize(
        "url",
        [
            "mysql://ada:hushhush@db/chat",
            "postgresql+psycopg://ada:hushhush@db/chat",
            "hushhush",
            "hushhush@db://x",
            "postgresql:ada:hushhush@db",
            "postgresql://ada:hush/hushhush@db/chat",
            "postgresql://ada:hush?hushhush@db/chat",
            "postgresql://ada:hush#hushhush@db/chat",
            "postgresql://ada:hushhush",
            "sqlite://hushhush.db",
            "sqlite:///chat.db?mode=hushhush",
            "sqlite:///~nobody-of-this-name/hushhush.db",
        ],
    )
    def test_what_cannot_be_used_is_not_quoted(self, url: str) -> None:
        with pytest.raises(ConfigurationError) as caught:
            open_store(url)
        assert caught.value.fact.code.startswith("store.")
        assert all(caught.value.wording(language).fix for language in Language)
        assert HUSH not in str(caught.value)

    @pytest.mark.parametrize(
        ("module", "url", "command"),
        [
            ("sqlalchemy", None, install_command("qiusuo[chat]")),
            ("asyncpg", "postgresql://ada:hushhush@db/chat", install_command("qiusuo[postgres]")),
        ],
    )
    def test_a_missing_driver(
        self, monkeypatch: pytest.MonkeyPatch, module: str, url: str | None, command: str
    ) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ConfigurationError, match=module) as caught:
            open_store(url)
        assert caught.value.commands == (command,)
        assert HUSH not in str(caught.value)

    def test_the_module_itself_loads_nothing(self) -> None:
        code = "import sys, qiusuo.chat.stores.opening, qiusuo.doctor\nassert 'sqlalchemy' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)  # noqa: S603 - ours


class TestFile:
    async def test_the_default_is_for_its_owner_alone(self, tmp_path: Path) -> None:
        store = open_store(environ={"XDG_DATA_HOME": str(tmp_path / "data")})
        assert files_in(tmp_path) == []
        await store.create("ada")
        folder = tmp_path / "data" / "qiusuo"
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
        assert modes == {"qiusuo": 0o700, "chat.db": 0o600, "chat.db-wal": 0o600, "chat.db-shm": 0o600}
        await store.aclose()
        with sqlite3.connect(folder / "chat.db") as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()

    async def test_memory_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        store = open_store(":memory:")
        sessions = await asyncio.gather(*(store.create("ada") for _ in range(20)))
        # Cancelled work does not take the database with it.
        for session in sessions:
            task = asyncio.ensure_future(store.begin_turn("ada", session.id, TurnRecord(new_id(), "q")))
            await asyncio.sleep(0)
            task.cancel()
        assert len(await store.list("ada")) == 20
        await store.aclose()
        assert files_in(tmp_path) == []

    async def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        path = tmp_path / "chat.db"
        path.write_text("no database at all, " * 100)
        assert "no SQLite database" in await failure_of(open_store(f"sqlite:///{path}"), Unavailable)
        path.unlink()
        store = open_store(f"sqlite:///{path}")
        await store.create("ada")
        await store.aclose()

    async def test_a_damaged_database(self, tmp_path: Path) -> None:
        path = tmp_path / "chat.db"
        store = open_store(f"sqlite:///{path}")
        await store.create("ada", title="x" * 100)
        await store.aclose()
        data = bytearray(path.read_bytes())
        data[4096:] = os.urandom(len(data) - 4096)
        path.write_bytes(data)
        assert "damaged" in await failure_of(open_store(f"sqlite:///{path}"), Unavailable)

    async def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        path = tmp_path / "chat.db"
        path.mkdir()
        assert "QIUSUO_DATABASE_URL" in await failure_of(open_store(f"sqlite:///{path}"), Unavailable)

    async def test_a_folder_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        store = open_store(f"sqlite:///{tmp_path}/file/below/chat.db")
        with pytest.raises(Unavailable, match="cannot be created"):
            await store.database.look()
        assert "cannot be created" in await failure_of(store, Unavailable)

    async def test_missing_rights_are_seen_before(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)  # root may do everything
        store = open_store(f"sqlite:///{tmp_path / 'below' / 'chat.db'}")
        with pytest.raises(Unavailable, match="rights of its folder"):
            await store.database.look()
        await store.create("ada")
        with pytest.raises(Unavailable, match="cannot be written"):
            await store.database.look()
        await store.aclose()

    async def test_locked_by_another_program(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)
        url = f"sqlite:///{tmp_path / 'chat.db'}"
        store = open_store(url)
        await store.create("ada")
        other = sqlite3.connect(tmp_path / "chat.db")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            await store.create("ada")
        assert len(await store.list("ada")) == 1  # readers go on
        other.rollback()
        other.close()
        await store.create("ada")
        await store.aclose()

    async def test_a_full_disk(self, tmp_path: Path) -> None:
        store = open_store(f"sqlite:///{tmp_path / 'chat.db'}")

        def limit(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA max_page_count=80").close()

        event.listen(store.database.driver.engine, "connect", limit)
        session = (await store.create("ada")).id
        with pytest.raises(Unavailable, match="disk is full"):
            await store.begin_turn("ada", session, TurnRecord(new_id(), "长" * 200_000))
        assert (await store.get("ada", session)).running is None
        await store.begin_turn("ada", session, TurnRecord(new_id(), "short"))
        await store.aclose()


class TestPostgres:
    pytestmark = with_postgres

    async def test_nobody_listens(self) -> None:
        words = await failure_of(open_store(f"postgresql://ada:{HUSH}@127.0.0.1:1/chat"), Unavailable)
        assert "127.0.0.1:1" in words
        assert "does not answer" in words

    async def test_an_unknown_host(self) -> None:
        assert "does not answer" in await failure_of(open_store(f"postgresql://a:{HUSH}@db.invalid/chat"), Unavailable)

    async def test_something_else_listens(self) -> None:
        async def other(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(other, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await failure_of(open_store(f"postgresql://ada:{HUSH}@127.0.0.1:{port}/chat"), Unavailable)

    async def test_silence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "CONNECT_SECONDS", 0.2)
        done = asyncio.Event()

        async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await done.wait()
            writer.close()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            words = await failure_of(open_store(f"postgresql://ada:{HUSH}@127.0.0.1:{port}/chat"), Unavailable)
            done.set()
        assert "does not answer" in words

    async def test_its_absence_is_logged_once_and_its_return_too(
        self, postgres: PostgresProcess, caplog: pytest.LogCaptureFixture
    ) -> None:
        store = open_store(postgres.url(postgres.create()))
        await store.create("ada")
        postgres.stop()
        try:
            for _ in range(20):
                with pytest.raises(Unavailable):
                    await store.list("ada")
        finally:
            postgres.start()
        assert len(await store.list("ada")) == 1
        await store.aclose()
        told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert [line.partition(":")[0] for line in told[-2:]] == [
            "the database of conversations failed",
            "the database of conversations works again",
        ]
        assert len(told) <= 3  # the connection that was cut, and those that were refused, are two reasons

    async def test_a_wrong_password(self, postgres: PostgresProcess) -> None:
        url = f"postgresql://qiusuo:{HUSH}@127.0.0.1:{postgres.port}/postgres"
        assert "refuses the login" in await failure_of(open_store(url), ConfigurationError)

    async def test_no_such_database(self, postgres: PostgresProcess) -> None:
        words = await failure_of(open_store(postgres.url("nothing")), ConfigurationError)
        assert "does not exist" in words
        assert "createdb" in words

    @pytest.mark.parametrize("options", ["?nonsense=1", "?sslmode=hushhush", "?target_session_attrs=hushhush"])
    async def test_wrong_options(self, postgres: PostgresProcess, options: str) -> None:
        await failure_of(open_store(postgres.url() + options), ConfigurationError)

    async def test_options_of_libpq(self, postgres: PostgresProcess) -> None:
        store = open_store(postgres.url(postgres.create()) + "?sslmode=disable")
        await store.create("ada")
        await store.aclose()

    async def test_a_database_that_cannot_hold_chinese(self, postgres: PostgresProcess) -> None:
        name = postgres.create("--encoding=LATIN1", "--template=template0", "--locale=C")
        assert "LATIN1" in await failure_of(open_store(postgres.url(name)), ConfigurationError)

    async def test_going_away_and_coming_back(self, postgres: PostgresProcess) -> None:
        store = open_store(postgres.url(postgres.create()))
        session = (await store.create("ada")).id
        await asyncio.to_thread(postgres.stop)
        try:
            for _ in range(2):
                with pytest.raises(Unavailable, match="does not answer"):
                    await store.get("ada", session)
        finally:
            await asyncio.to_thread(postgres.start)
        assert (await store.get("ada", session)).id == session
        await store.aclose()

    async def test_a_connection_that_is_cut_in_the_middle(self, postgres: PostgresProcess) -> None:
        store = open_store(postgres.url(postgres.create()))
        session = (await store.create("ada")).id

        def work(connection: Any) -> None:
            connection.exec_driver_sql("UPDATE qiusuo_sessions SET title = 'half'")
            connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

        with pytest.raises(Unavailable):
            await store.database.run(work, write=True)
        assert (await store.get("ada", session)).title == ""
        await store.aclose()

    async def test_only_reading_is_allowed(self, postgres: PostgresProcess) -> None:
        name = postgres.create()
        store = open_store(postgres.url(name))
        await store.create("ada")
        forbid = f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'
        await store.database.run(lambda connection: connection.exec_driver_sql(forbid), write=True)
        await store.aclose()
        assert "only be read" in await failure_of(open_store(postgres.url(name)), ConfigurationError)
