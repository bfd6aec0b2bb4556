"""``qiusuo backup`` and ``qiusuo restore``: whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sqlite3
import stat
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from qiusuo.chat.stores.database.history import HEAD
from qiusuo.chat.stores.opening import Address, open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.cli.database.data import run_backup, run_restore
from qiusuo.data.postgres import login_of
from tests.support.kept_data import fill, with_store
from tests.support.postgres_process import PROGRAMS, PostgresProcess, with_postgres
from tests.support.stores import whole_turn

VERSION_3 = Path(__file__).parents[1] / "chat_store" / "schemas" / "version-3.sqlite.sql"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "data" / "chat.db"
    monkeypatch.setenv("QIUSUO_DATABASE_URL", f"sqlite:///{path}")
    monkeypatch.setenv("QIUSUO_LANG", "en")
    return path


def talked(file: Path, words: str = "tea") -> str:
    return with_store(f"sqlite:///{file}", lambda store: fill(store, "ada", words))


def titles(file: Path) -> list[str]:
    async def listed(store: SqlSessionStore) -> list[str]:
        return [info.title for info in await store.list("ada")]

    return with_store(f"sqlite:///{file}", listed)


def others_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(("-servers", "-wal", "-shm"))}


def test_a_backup_comes_back_and_the_former_database_stays(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talked(file)
    saved = tmp_path / "saved.zip"
    assert run_backup(saved, force=False) == 0
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    with zipfile.ZipFile(saved) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["counts"]["qiusuo_turns"] == 3  # two, and the first once more in the branch
    assert manifest["counts"]["qiusuo_files"] == 1
    assert "2 conversations, 3 turns" in capsys.readouterr().out
    talked(file, "coffee")
    assert len(titles(file)) == 4
    assert run_restore(saved) == 0
    said = capsys.readouterr().out
    assert sorted(titles(file)) == ["", "About tea"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    former = Path(re.search(r"former database: (.+)", said)[1])  # type: ignore[index]
    assert "About coffee" in titles(former)
    # So are those who had themselves forgotten meanwhile.
    assert "revoked since the backup are back" in said
    assert {name for name in others_in(file.parent) if not name.startswith("chat.db")} == set()


def test_what_was_deleted_is_not_in_a_later_backup(file: Path, tmp_path: Path) -> None:
    talked(file, "zanzibar")

    async def delete_all(store: SqlSessionStore) -> None:
        for info in await store.list("ada"):
            await store.delete("ada", info.id)

    for left in (True, False):
        assert run_backup(tmp_path / "saved.zip", force=True) == 0
        with zipfile.ZipFile(tmp_path / "saved.zip") as archive:
            assert (b"notes about zanzibar" in archive.read("chat.db")) == left
        with_store(f"sqlite:///{file}", delete_all)


def test_it_does_not_overwrite_unasked(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talked(file)
    saved = tmp_path / "saved.zip"
    saved.write_text("mine")
    assert run_backup(saved, force=False) == 2
    assert "--force" in capsys.readouterr().err
    assert saved.read_text() == "mine"
    assert run_backup(saved, force=True) == 0
    assert zipfile.is_zipfile(saved)
    # Not even so over the database itself.
    assert run_backup(file, force=True) == 2
    assert sorted(titles(file)) == ["", "About tea"]


def test_nothing_there_makes_nothing(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_backup(tmp_path / "saved.zip", force=False) == 3
    assert "no database" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    file.parent.mkdir()
    file.write_bytes(b"no database at all" * 500)
    assert run_backup(tmp_path / "saved.zip", force=False) == 3
    assert not (tmp_path / "saved.zip").exists()


def test_a_folder_that_is_not_there_is_told(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talked(file)
    assert run_backup(tmp_path / "nowhere" / "saved.zip", force=False) == 3
    assert "cannot be written" in capsys.readouterr().err


class TestWhileServersWrite:
    async def test_it_is_the_state_of_one_moment(self, file: Path, tmp_path: Path) -> None:
        store = open_store(f"sqlite:///{file}")
        await store.create("ada")
        done = asyncio.Event()

        async def write() -> None:
            # A conversation gets its two turns before the next begins: a copy that mixes moments would show others.
            while not done.is_set():
                info = await store.create("ada", title="x" * 200)
                for _ in range(2):
                    await whole_turn(store, "ada", info.id, "q" * 5000, "a" * 20_000)

        writing = asyncio.create_task(write())
        try:
            for number in range(4):
                assert await asyncio.to_thread(run_backup, tmp_path / f"{number}.zip", force=False) == 0
        finally:
            done.set()
            await writing
            await store.aclose()
        before = -1
        for number in range(4):
            with zipfile.ZipFile(tmp_path / f"{number}.zip") as archive:
                archive.extract("chat.db", tmp_path / str(number))
                counts = json.loads(archive.read("manifest.json"))["counts"]
            with closing(sqlite3.connect(tmp_path / str(number) / "chat.db")) as copy:
                assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                sessions = copy.execute("SELECT count(*) FROM qiusuo_sessions").fetchone()[0]
                turns = copy.execute("SELECT count(*) FROM qiusuo_turns").fetchone()[0]
            assert (counts["qiusuo_sessions"], counts["qiusuo_turns"]) == (sessions, turns)
            assert 2 * (sessions - 2) <= turns <= 2 * (sessions - 1)
            assert sessions >= before
            before = sessions

    async def test_a_restore_is_refused(self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        await asyncio.to_thread(talked, file)
        assert await asyncio.to_thread(run_backup, tmp_path / "saved.zip", force=False) == 0
        store = open_store(f"sqlite:///{file}")
        await store.start()
        try:
            assert await asyncio.to_thread(run_restore, tmp_path / "saved.zip") == 4
            assert "uses this database" in capsys.readouterr().err
        finally:
            await store.aclose()
        # Another program that has the file open and shows no sign of life is seen as well.
        with closing(sqlite3.connect(file)) as other:
            other.execute("SELECT count(*) FROM qiusuo_turns").fetchone()
            assert await asyncio.to_thread(run_restore, tmp_path / "saved.zip") == 4
        assert await asyncio.to_thread(run_restore, tmp_path / "saved.zip") == 0


class TestKilled:
    """A process that is killed in any step leaves the whole old state, or the whole new one."""

    def run(self, file: Path, step: str, command: str) -> None:
        code = (
            "import os, pathlib, signal, qiusuo.data.backup as backup, qiusuo.data.restore as restore\n"
            "from qiusuo.chat.stores.opening import Address\n"
            "def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
            "def tell(*_): pass\n"
            f"file = pathlib.Path({str(file)!r})\n"
            f"{step} = die\n"
            f"{command}"
        )
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)  # noqa: S603 - ours
        assert done.returncode == -9, done.stderr

    @pytest.mark.programs
    @pytest.mark.parametrize("step", ["os.fsync", "os.link"])
    def test_a_backup(self, file: Path, tmp_path: Path, step: str) -> None:
        talked(file)
        saved = tmp_path / "saved.zip"
        self.run(file, step, f"backup.back_up(file, pathlib.Path({str(saved)!r}), tell=tell)")
        assert not saved.exists()
        assert run_backup(saved, force=False) == 0

    @pytest.mark.programs
    @pytest.mark.parametrize("step", ["os.link", "pathlib.Path.replace", "restore.sync_folder"])
    def test_a_restore(self, file: Path, tmp_path: Path, step: str) -> None:
        talked(file)
        saved = tmp_path / "saved.zip"
        assert run_backup(saved, force=False) == 0
        talked(file, "coffee")
        address = "Address('sqlite', '', path=file)"
        self.run(file, step, f"restore.restore({address}, pathlib.Path({str(saved)!r}), tell=tell)")
        assert ("About coffee" in titles(file)) == (step != "restore.sync_folder")
        assert run_restore(saved) == 0
        assert sorted(titles(file)) == ["", "About tea"]


class TestOtherVersions:
    def test_an_older_one_is_brought_up_to_date(self, file: Path, tmp_path: Path) -> None:
        file.parent.mkdir()
        with closing(sqlite3.connect(file)) as old:
            old.executescript(VERSION_3.read_text("utf-8"))
        saved = tmp_path / "saved.zip"
        assert run_backup(saved, force=False) == 0
        with zipfile.ZipFile(saved) as archive:
            assert json.loads(archive.read("manifest.json"))["schema"] == "0003"
        file.unlink()
        assert run_restore(saved) == 0
        with closing(sqlite3.connect(file)) as new:
            assert new.execute("SELECT version_num FROM qiusuo_revision").fetchall() == [(HEAD,)]
        assert sorted(titles(file)) == ["", "Tea 茶"]

    def test_a_newer_one_is_refused(self, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        talked(file)
        with closing(sqlite3.connect(file)) as newer, newer:
            newer.execute("UPDATE qiusuo_revision SET version_num = '9999'")
        saved = tmp_path / "saved.zip"
        assert run_backup(saved, force=False) == 0
        before = file.read_bytes()
        assert run_restore(saved) == 3
        assert "newer Qiusuo" in capsys.readouterr().err
        assert file.read_bytes() == before


class TestWrongFiles:
    @pytest.fixture
    def saved(self, file: Path, tmp_path: Path) -> Path:
        talked(file)
        assert run_backup(tmp_path / "saved.zip", force=False) == 0
        return tmp_path / "saved.zip"

    def repacked(self, saved: Path, **changed: object) -> None:
        with zipfile.ZipFile(saved) as archive:
            manifest, database = json.loads(archive.read("manifest.json")), archive.read("chat.db")
        with zipfile.ZipFile(saved, "w") as archive:
            archive.writestr("manifest.json", json.dumps({**manifest, **changed}))
            archive.writestr("chat.db", database)

    def refused(self, file: Path, saved: Path, said: str, capsys: pytest.CaptureFixture[str], code: int = 3) -> None:
        before = {path: path.read_bytes() for path in file.parent.iterdir() if path.is_file()}
        capsys.readouterr()
        assert run_restore(saved) == code
        assert said in capsys.readouterr().err
        assert {path: path.read_bytes() for path in file.parent.iterdir() if path.is_file()} == before

    def test_none(self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.refused(file, saved.with_name("other"), "no such file", capsys, 2)

    def test_another_kind_of_file(self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
        saved.write_text("{}")
        self.refused(file, saved, "no file of qiusuo backup", capsys)
        with zipfile.ZipFile(saved, "w") as archive:
            archive.writestr("manifest.json", "[]")
        self.refused(file, saved, "no file of qiusuo backup", capsys)

    def test_one_that_was_changed(self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
        data = bytearray(saved.read_bytes())
        data[len(data) // 2] ^= 0xFF
        saved.write_bytes(data)
        self.refused(file, saved, "damaged", capsys)

    def test_one_that_was_cut_off(self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
        saved.write_bytes(saved.read_bytes()[:-1000])
        self.refused(file, saved, "no file of qiusuo backup", capsys)

    def test_one_whose_manifest_says_otherwise(
        self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.repacked(saved, sha256="0" * 64)
        self.refused(file, saved, "damaged", capsys)
        self.repacked(saved, size=10)
        self.refused(file, saved, "damaged", capsys)

    def test_one_of_a_later_form(self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.repacked(saved, version=2)
        self.refused(file, saved, "newer version", capsys)

    def test_a_damaged_database_is_replaced_and_kept(
        self, file: Path, saved: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file.write_bytes(b"not a database" * 1000)
        assert run_restore(saved) == 0
        assert sorted(titles(file)) == ["", "About tea"]
        former = Path(re.search(r"former database: (.+)", capsys.readouterr().out)[1])  # type: ignore[index]
        assert former.read_bytes().startswith(b"not a database")


class TestPostgres:
    pytestmark = with_postgres

    def test_no_password_is_told(self) -> None:
        for url in (
            "postgresql://ada:hushhush@db:5432/chat?sslmode=require",
            "postgresql://ada:hush%40hush@db:5432/chat?sslmode=require&password=hushhush",
        ):
            assert login_of(Address.read(url)) == "postgresql://ada@db:5432/chat?sslmode=require"
        assert login_of(Address.read("postgresql://db/chat")) == "postgresql://db/chat"

    @pytest.fixture
    def url(self, postgres: PostgresProcess, monkeypatch: pytest.MonkeyPatch) -> str:
        url = postgres.url(postgres.create())
        monkeypatch.setenv("QIUSUO_LANG", "en")
        monkeypatch.setenv("QIUSUO_DATABASE_URL", url)
        monkeypatch.setenv("PGPASSWORD", "p@ss-wört")
        monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
        return url

    def test_the_commands_that_are_told_save_and_bring_back(
        self, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        session = with_store(url, lambda store: fill(store, "ada", "tea"))
        saved = tmp_path / "saved.dump"
        for saving in (True, False):
            assert (run_backup(saved, force=False) if saving else run_restore(saved)) == 3
            said = capsys.readouterr().err
            assert "p%40ss" not in said
            assert "wört" not in said
            command = next(line for line in said.splitlines() if "$ pg_" in line).partition("$ ")[2]
            subprocess.run(shlex.split(command), check=True, timeout=60)  # noqa: S603 - ours
            if saving:
                with_store(url, lambda store: store.delete("ada", session))
                with_store(url, lambda store: fill(store, "bob", "coffee"))
        assert with_store(url, lambda store: store.list("bob")) == []
        assert {info.title for info in with_store(url, lambda store: store.list("ada"))} == {"About tea", ""}

    @pytest.mark.parametrize("page", ["data.md", "data.zh-CN.md"])
    def test_the_guide_works_as_written(self, url: str, tmp_path: Path, page: str) -> None:
        text = (DOCS / page).read_text("utf-8")
        block = next(block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "pg_dump" in block)
        commands = [line for line in block.splitlines() if line.startswith(("pg_dump", "pg_restore"))]
        assert len(commands) == 2
        session = with_store(url, lambda store: fill(store, "ada", "tea"))
        for command in commands:
            assert "postgresql://qiusuo@localhost/qiusuo" in command
            ours = command.replace("postgresql://qiusuo@localhost/qiusuo", login_of(Address.read(url)))
            subprocess.run(shlex.split(ours.partition("#")[0]), check=True, timeout=60, cwd=tmp_path)  # noqa: S603 - ours
            if "pg_dump" in command:
                with_store(url, lambda store: store.delete("ada", session))
        assert {info.title for info in with_store(url, lambda store: store.list("ada"))} == {"About tea", ""}
