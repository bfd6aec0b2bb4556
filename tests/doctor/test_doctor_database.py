"""The check of the database of conversations."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.doctor import Finding, Level, examine
from qiusuo.words import Language
from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.stores import rows

pytestmark = pytest.mark.usefixtures("own_data_folder")


async def look(url: str | None = None) -> Finding | None:
    """Return what the doctor says about the database."""
    found = await examine(Settings.load(**({"database_url": url} if url else {})), quick=True)
    finding = next((one for one in found if one.code.startswith("database.")), None)
    if finding is not None:
        said = repr(finding) + "".join(str(finding.to_dict(language)) for language in Language)
        assert "hushhush" not in said
    return finding


class TestDatabase:
    async def test_the_default_file_is_not_created(self, tmp_path: Path) -> None:
        finding = await look()
        assert finding is not None
        assert (finding.code, finding.level) == ("database.ok", Level.OK)
        assert not (tmp_path / "data" / "qiusuo" / "chat.db").exists()

    async def test_a_file_that_is_there(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path / 'mine.db'}"
        store = open_store(url)
        await store.create("ada")
        await store.aclose()
        finding = await look(url)
        assert finding is not None
        assert finding.code == "database.ok"
        (tmp_path / "mine.db").write_text("no database " * 100)
        finding = await look(url)
        assert finding is not None
        assert (finding.code, finding.level) == ("database.failed", Level.PROBLEM)
        assert finding.wording(Language.CHINESE).what.startswith("对话无法保存")

    async def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        finding = await look(f"sqlite:///{tmp_path}/file/chat.db")
        assert finding is not None
        assert finding.code == "database.failed"

    async def test_an_address_that_is_none(self) -> None:
        finding = await look("postgresql://ada:hush/hushhush@db/chat")
        assert finding is not None
        assert finding.code == "database.failed"

    async def test_a_missing_driver(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "asyncpg", None)
        finding = await look("postgresql://ada:hushhush@db/chat")
        assert finding is not None
        assert finding.commands == (install_command("qiusuo[postgres]"),)
        # Who has not installed conversations and has not asked for them hears nothing.
        monkeypatch.setitem(sys.modules, "sqlalchemy", None)
        assert await look() is None

    async def test_nobody_listens(self) -> None:
        finding = await look("postgresql://ada:hushhush@127.0.0.1:1/chat")
        assert finding is not None
        assert finding.code == "database.failed"
        # Who runs it is told where; the readers of the page are not.
        for language in Language:
            assert "127.0.0.1:1/chat" in finding.wording(language).what
            assert "127.0.0.1" not in str(finding.public().to_dict(language))
        assert "对话数据库没有应答" in finding.wording(Language.CHINESE).what


class TestPostgres:
    pytestmark = with_postgres

    async def test_the_database_and_its_version(self, postgres: PostgresProcess) -> None:
        url = postgres.url(postgres.create())
        finding = await look(url)
        assert finding is not None
        assert finding.code == "database.ok"
        store = open_store(url)
        await store.create("ada")
        await rows(store, "UPDATE qiusuo_schema SET version = 99")
        await store.aclose()
        finding = await look(url)
        assert finding is not None
        assert finding.code == "database.failed"
        assert "version 99" in finding.wording().what
