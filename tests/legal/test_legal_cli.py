"""``qiusuo legal``: what it prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from legal_samples import POT_LAW, write_statutes_db
from qiusuo.cli.app import app
from qiusuo.errors import ConfigurationError
from qiusuo.legal import install
from qiusuo.legal.folder import IndexFolder, legal_folder

RUNNER = CliRunner()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path / "index"))
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["legal", *arguments])
    return result.exit_code, result.output


def test_import_stats_search_show(home: Path) -> None:
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    code, text = run("import", str(home / "pot.md"))
    assert code == 0
    assert "缺少第 3 条" in text
    assert "articles 3" in run("stats")[1]
    assert json.loads(run("stats", "--json")[1])["articles"] == 3
    code, text = run("search", "水壶法第二条")
    assert (code, "出卖人应当更换" in text) == (0, True)
    assert json.loads(run("search", "水壶法第二条", "--json")[1])["results"][0]["articleNumber"] == "第二条"
    assert run("search", "水壶法第九条")[0] == 1
    assert "出卖人" in run("show", "水壶法第二条")[1]
    assert run("show", "（2020）某01民初1号")[0] == 1
    assert run("search", "漏水", "--cases", "--type", "民事")[0] == 1
    assert run("rebuild")[0] == 0


def test_errors_have_their_codes(home: Path) -> None:
    assert run("import", str(home / "absent"))[0] == 2
    code, text = run("search", "民法典")
    assert (code, "qiusuo legal install" in text) == (3, True)
    code, text = run("install")
    assert (code, "--yes" in text) == (3, True)


def test_install_brings_the_pinned_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = write_statutes_db(home / "made.db")
    monkeypatch.setattr(install, "MEMBER_SHA256", install.sha256_of(made))
    monkeypatch.setattr(install, "_fetch", lambda _work, _environ: made)
    code, text = run("install", "--yes")
    assert (code, "added 4" in text) == (0, True)
    assert (home / "index" / "downloads" / "china-law-0.1.1.db").is_file()
    monkeypatch.setattr(install, "_fetch", lambda _work, _environ: pytest.fail("fetched again"))
    code, text = run("install", "--yes")
    assert (code, "已安装" in text, "added" in text) == (0, True, False)
    # Something else in the index is not the statutes.
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(home / "other"))
    run("import", str(home / "pot.md"))
    assert not install.is_installed(IndexFolder(home / "other"))


def test_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = write_statutes_db(tmp_path / "made.db")
    monkeypatch.setattr(install, "_fetch", lambda _work, _environ: made)
    with pytest.raises(ConfigurationError, match="another hash"):
        install.statutes_file(IndexFolder(tmp_path / "index"))


def test_no_way_to_download_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_commands", lambda _work, _environ: {"pip": ["/nonexistent/pip"]})
    with pytest.raises(ConfigurationError, match="could not be downloaded") as caught:
        install.statutes_file(IndexFolder(tmp_path))
    assert "qiusuo legal import" in caught.value.fix


def test_the_folder_follows_the_environment() -> None:
    assert legal_folder({"QIUSUO_LEGAL_DIR": "/x"}) == Path("/x")
    assert legal_folder({"XDG_DATA_HOME": "/data"}) == Path("/data/qiusuo/legal")
