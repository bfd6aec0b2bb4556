"""The history of the tables: old databases are brought up to date with all that is in them, newer ones refused."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from qiusuo.chat.stores.database import history
from qiusuo.chat.stores.database.history import HEAD, SchemaState, check_version
from qiusuo.chat.stores.database.parts import PARTS, all_metadata
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.cli.database.data import run_database
from qiusuo.errors import ConfigurationError
from qiusuo.usage.store import UsageStore
from tests.support.kept_data import with_store
from tests.support.stores import url

__all__ = ["url"]  # a fixture

SCHEMAS = Path(__file__).parent / "schemas"


def execute(url: str, script: str) -> None:
    """Run SQL beside our own code."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.executescript(script)
        return
    asyncpg = import_module("asyncpg")  # without types

    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(script)
        finally:
            await connection.close()

    asyncio.run(run())


@pytest.fixture
def old(url: str) -> str:
    """A database of version 3 with data, as the program made it before there was a history."""
    execute(url, (SCHEMAS / f"version-3.{url.partition(':')[0]}.sql").read_text("utf-8"))
    return url


async def state_of(store: SqlSessionStore) -> SchemaState:
    return await store.database.driver.run(check_version, write=False)


async def look(store: SqlSessionStore) -> dict[str, Any]:
    """Read something of every table of version 3."""
    found = {info.title: info for info in await store.list("ada")}
    tea = found["Tea 茶"]
    turns = (await store.turns("ada", tea.id)).turns
    return {
        "titles": sorted(found),
        "questions": [turn.question for turn in turns],
        "feedback": [given.text for given in (await store.feedback.of("ada", tea.id)).values()],
        "shares": [share.title for share in await store.shares.of("ada")],
        "branches": len((await store.branches.of("ada", tea.id)).branches),
        "files": [file.name for file in await store.files.list("ada", tea.id)],
        "usage": [sums.n for sums in await UsageStore(store.database).sums(0)],
        "queries": [kept.query for kept in await UsageStore(store.database).queries(0)],
        "retention": dict(await store.retention.rules()),
    }


KEPT = {
    "titles": ["", "Tea 茶"],
    "questions": ["What is tea?", "And 茶?"],
    "feedback": ["too short"],
    "shares": ["Tea 茶"],
    "branches": 1,
    "files": ["notes.txt"],
    "usage": [1],
    "queries": ["tea"],
    "retention": {},
}


def test_version_3_with_data_comes_to_the_last_step(old: str) -> None:
    assert with_store(old, state_of) == SchemaState(3, None)
    assert with_store(old, look) == KEPT
    assert with_store(old, state_of) == SchemaState(3, HEAD)


def test_versions_before_it_come_to_the_last_step_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    execute(url, (SCHEMAS / "version-3.sqlite.sql").read_text("utf-8"))
    gone = ("feedback", "shares", "branches", "files", "pieces", "holders", "usage", "usage_queries", "usage_writers")
    drops = "".join(f"DROP TABLE qiusuo_{name};" for name in gone)
    execute(url, f"{drops} DROP INDEX qiusuo_sessions_held; ALTER TABLE qiusuo_sessions DROP COLUMN holder;"  # noqa: S608 - ours
                 "UPDATE qiusuo_schema SET version = 1;")  # fmt: skip
    found = with_store(url, look)
    assert (found["titles"], found["questions"]) == (KEPT["titles"], KEPT["questions"])
    assert with_store(url, state_of) == SchemaState(3, HEAD)


def test_the_steps_make_what_the_program_expects(url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    from qiusuo.chat.stores.database.migrations import upgrade

    def compare(connection: Connection) -> list[Any]:
        upgrade(connection)
        options = {"compare_type": True, "version_table": history.REVISIONS_TABLE}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), all_metadata()))  # type: ignore[arg-type]

    # The driver alone: the store's own way would make the tables of today first.
    assert with_store(url, lambda store: store.database.driver.run(compare, write=True)) == []


def test_they_are_one_line_and_the_last_is_known() -> None:
    from alembic.script import ScriptDirectory

    from qiusuo.chat.stores.database import migrations

    steps = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert steps.get_heads() == [HEAD]
    assert steps.get_bases() == ["0003"]
    names = [f"step_{step.revision}.py" for step in steps.walk_revisions()]
    assert sorted(path.name for path in Path(steps.versions).glob("step_*.py")) == sorted(names)


def test_tables_of_all_parts_are_made_at_once(url: str) -> None:
    with_store(url, lambda store: store.create("ada"))

    def tables(connection: Connection) -> set[str]:
        return {
            table.name for metadata in all_metadata() for table in metadata.tables.values()
            if connection.dialect.has_table(connection, table.name)
        }  # fmt: skip

    assert len(PARTS) == len(all_metadata())
    made = with_store(url, lambda store: store.database.run(tables))
    assert made == {name for metadata in all_metadata() for name in metadata.tables}


def test_a_newer_one_is_refused(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_store(url, lambda store: store.create("ada"))
    execute(url, "UPDATE qiusuo_revision SET version_num = '9999'")
    with pytest.raises(ConfigurationError) as caught:
        with_store(url, lambda store: store.list("ada"))
    assert caught.value.fact.code == "store.newer"
    assert caught.value.fact.values == {"version": "9999", "known": HEAD}
    monkeypatch.setenv("QIUSUO_DATABASE_URL", url)
    monkeypatch.setenv("QIUSUO_LANG", "en")
    assert run_database(migrate=False) == 3
    assert "newer Qiusuo" in capsys.readouterr().err


async def test_several_servers_that_start_at_once(old: str) -> None:
    def work() -> list[str]:
        return [info.title for info in with_store(old, lambda store: store.list("ada"))]

    found = await asyncio.gather(*(asyncio.to_thread(work) for _ in range(4)))
    assert [sorted(titles) for titles in found] == [["", "Tea 茶"]] * 4


@pytest.mark.programs
def test_one_that_is_killed_in_the_middle_has_done_nothing(old: str) -> None:
    code = (
        "import asyncio, os, signal, sys\n"
        "from alembic import op\n"
        "from qiusuo.chat.stores.opening import open_store\n"
        "op.create_table = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "async def run():\n"
        "    await open_store(os.environ['OLD']).list('ada')\n"
        "asyncio.run(run())"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "OLD": old}, check=False)  # noqa: S603 - ours
    assert done.returncode == -9
    assert with_store(old, state_of) == SchemaState(3, None)
    assert with_store(old, look) == KEPT


def test_the_command_tells_and_does_it(
    old: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QIUSUO_DATABASE_URL", old)
    monkeypatch.setenv("QIUSUO_LANG", "en")
    assert run_database(migrate=False) == 0
    said = capsys.readouterr().out
    assert f"0003, known here: {HEAD}" in said
    assert "qiusuo database migrate" in said
    assert with_store(old, state_of) == SchemaState(3, None)
    assert run_database(migrate=True) == 0
    assert run_database(migrate=False) == 0
    assert "up to date" in capsys.readouterr().out.splitlines()[-1]
    assert with_store(old, look) == KEPT


@pytest.mark.programs
def test_alembic_is_loaded_only_where_there_is_something_to_do(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from qiusuo.chat.stores.opening import open_store\n"
        "async def run():\n"
        "    store = open_store(sys.argv[1])\n"
        "    await store.list('ada')\n"
        "    await store.aclose()\n"
        "asyncio.run(run())\n"
        "sys.exit('alembic' in sys.modules)"
    )
    for _ in range(2):
        command = [sys.executable, "-c", code, f"sqlite:///{tmp_path / 'chat.db'}"]
        assert subprocess.run(command, check=False).returncode == 0  # noqa: S603 - ours


def test_a_table_that_is_gone_comes_back(url: str) -> None:
    with_store(url, lambda store: store.create("ada"))
    execute(url, "DROP TABLE qiusuo_feedback")
    assert with_store(url, lambda store: store.feedback.all()) == []
