"""``qiusuo database copy``: from one database into another, of the same kind or not, whole or not usable."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from qiusuo.chat.stores.database.parts import all_tables
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.cli.database.data import run_copy
from qiusuo.cli.database.people import run_add, run_audit, run_revoke
from qiusuo.data import copying
from qiusuo.errors import ConfigurationError
from tests.support.kept_data import fill, with_store
from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.stores import START, whole_turn


@pytest.fixture(
    params=[
        pytest.param("to postgresql", marks=with_postgres),
        "to sqlite",
        pytest.param("to a file", marks=with_postgres),
    ]
)
def both(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file, other = f"sqlite:///{tmp_path / 'one.db'}", f"sqlite:///{tmp_path / 'two.db'}"
    if request.param == "to sqlite":
        return file, other
    server: PostgresProcess = request.getfixturevalue("postgres")
    there = server.url(server.create())
    return (file, there) if request.param == "to postgresql" else (there, file)


async def much(store: SqlSessionStore) -> None:
    """More than a batch, of several owners, with signs that databases sort and write in different ways."""
    for owner, words in (
        ("ada", "tea \\ud800 \U0001f375 'quoted' \\"),
        ("Ada", "Tee"),
        ("中", "茶"),
        ("z_", "coffee"),
    ):
        await fill(store, owner, words)
    for number in range(9):
        await store.create("bob", title=f"{number}é Z a _ -")


async def everything(store: SqlSessionStore) -> dict[str, list[Any]]:
    def work(connection: Connection) -> dict[str, list[Any]]:
        found = {}
        for table in all_tables():
            if table.name != "qiusuo_holders":
                rows = connection.execute(select(table)).mappings()
                found[str(table.name)] = sorted((dict(row) for row in rows), key=repr)
        return found

    return await store.database.run(work)


def test_every_row_goes_over(
    both: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 3)
    source, target = both
    with_store(source, much, clock=lambda: START)
    before = with_store(source, everything)
    assert run_copy(source, target, replace=False) == 0
    said = capsys.readouterr().out
    assert "compared and the same" in said
    assert "p%40ss" not in said
    assert with_store(target, everything) == before == with_store(source, everything)
    # It goes on there.
    session = with_store(target, lambda store: store.create("ada"))
    with_store(target, lambda store: whole_turn(store, "ada", session.id))
    # And is not overwritten unasked.
    assert run_copy(source, target, replace=False) == 2
    assert "--replace" in capsys.readouterr().err
    assert run_copy(source, target, replace=True) == 0
    assert with_store(target, everything) == before


def test_people_can_be_added_and_taken_away_there(
    both: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = both
    monkeypatch.setenv("QIUSUO_DATABASE_URL", source)
    for name in ("ada", "ben"):
        assert run_add(name, {}, as_json=False) == 0
    # Also where the target has counted on its own before.
    for replace in (False, True):
        assert run_copy(source, target, replace=replace) == 0
        monkeypatch.setenv("QIUSUO_DATABASE_URL", target)
        assert run_add("cem", {}, as_json=False) == 0
        assert run_revoke("ada") == 0
        capsys.readouterr()
        assert run_audit(since=None, as_json=True) == 0
        lines = json.loads(capsys.readouterr().out)
        assert [line["values"]["name"] for line in lines] == ["ada", "cem", "ben", "ada"]
        assert [line["id"] for line in lines] == [4, 3, 2, 1]


@pytest.mark.programs
@pytest.mark.parametrize("both", [pytest.param("to postgresql", marks=with_postgres)], indirect=True)
def test_one_that_is_killed_leaves_a_target_that_nobody_uses(both: tuple[str, str]) -> None:
    source, target = both
    with_store(source, much, clock=lambda: START)
    before = with_store(source, everything)
    code = (
        "import os, signal, sys\n"
        "from qiusuo.cli.database.data import run_copy\n"
        "from qiusuo.data import copying\n"
        "copying.BATCH, whole, left = 3, copying._insert, [5]\n"
        "def insert(*given):\n"
        "    left[0] -= 1\n"
        "    if not left[0]: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    whole(*given)\n"
        "copying._insert = insert\n"
        "run_copy(os.environ['SOURCE'], os.environ['TARGET'], replace=False)"
    )
    environment = {**os.environ, "SOURCE": source, "TARGET": target}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)  # noqa: S603 - ours
    assert done.returncode == -9
    with pytest.raises(ConfigurationError) as caught:
        with_store(target, lambda store: store.list("bob"))
    assert caught.value.fact.code == "store.unfinished_copy"
    assert with_store(source, everything) == before
    assert run_copy(source, target, replace=False) == 0
    assert with_store(target, everything) == before


def test_what_somebody_writes_meanwhile_is_seen(
    both: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = both
    session = with_store(source, lambda store: fill(store, "ada", "tea"), clock=lambda: START)
    insert = copying._insert
    written: list[bool] = []

    def slowly(*given: Any) -> None:
        insert(*given)
        if given[1].name == "qiusuo_sessions" and not written:
            written.append(True)
            # In a thread of its own: a loop of its own, beside all that this one holds.
            with ThreadPoolExecutor(1) as other:
                other.submit(with_store, source, lambda store: store.change("ada", session, title="new")).result()

    monkeypatch.setattr(copying, "_insert", slowly)
    assert run_copy(source, target, replace=False) == 3
    assert "something wrote meanwhile" in capsys.readouterr().err
    assert run_copy(source, target, replace=False) == 0


async def test_it_is_refused_while_a_server_uses_one_of_them(
    both: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = both
    for used in both:
        store = open_store(used)
        await store.create("ada")
        await store.start()
        try:
            assert await asyncio.to_thread(run_copy, source, target, replace=True) == 4
        finally:
            await store.aclose()
        assert "uses this database" in capsys.readouterr().err


def test_nothing_is_copied_from_nowhere_or_onto_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_LANG", "en")
    file, other = f"sqlite:///{tmp_path / 'one.db'}", f"sqlite:///{tmp_path / 'two.db'}"
    assert run_copy(file, other, replace=False) == 3
    assert list(tmp_path.iterdir()) == []
    with_store(file, lambda store: store.create("ada"))
    assert run_copy(file, file, replace=True) == 2
    assert len(with_store(file, lambda store: store.list("ada"))) == 1


def test_what_is_wrong_with_an_address_names_its_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QIUSUO_LANG", "en")
    file, away = f"sqlite:///{tmp_path / 'one.db'}", "postgresql://qiusuo@127.0.0.1:1/qiusuo"
    with_store(file, lambda store: store.create("ada"))
    monkeypatch.setenv("QIUSUO_DATABASE_URL", f"sqlite:///{tmp_path / 'none.db'}")
    cases = (
        ((file, "mysql://there"), "--to: mysql:// is not supported"),
        ((file, away), "correct host and port in --to"),
        ((away, file), "correct host and port in --from"),
        ((f"sqlite:///{tmp_path / 'two.db'}", file), "Check --from."),
        ((None, file), "Check QIUSUO_DATABASE_URL."),
    )
    for given, told in cases:
        assert run_copy(*given, replace=True) in {3, 4}
        said = capsys.readouterr().err
        assert told in said
        assert ("QIUSUO_DATABASE_URL" in said) == (given[0] is None)
