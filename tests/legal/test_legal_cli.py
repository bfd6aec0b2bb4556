"""``qiusuo legal``: what it prints and how it ends."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.errors import ConfigurationError
from qiusuo.legal.building import install
from qiusuo.legal.index.folder import IndexFolder, legal_folder
from tests.support.legal_samples import PICKING_RULES, POT_LAW, TEA_LAW_2010, Statute, write_statutes, write_statutes_db

RUNNER = CliRunner()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path / "index"))
    monkeypatch.setenv("QIUSUO_LANG", "zh")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["legal", *arguments])
    return result.exit_code, result.output


def test_import_stats_search_show(home: Path) -> None:
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    code, text = run("import", str(home / "pot.md"))
    assert code == 0
    assert "缺少第 3 条" in text
    assert "条文 3" in run("stats")[1]
    assert json.loads(run("stats", "--json")[1])["articles"] == 3
    code, text = run("search", "水壶法第二条")
    assert (code, "出卖人应当更换" in text) == (0, True)
    assert json.loads(run("search", "水壶法第二条", "--json")[1])["results"][0]["articleNumber"] == "第二条"
    assert run("search", "水壶法第九条")[0] == 1
    assert "出卖人" in run("show", "水壶法第二条")[1]
    assert run("show", "（2020）某01民初1号")[0] == 1
    assert run("search", "漏水", "--cases", "--type", "民事")[0] == 1
    assert run("rebuild")[0] == 0


def test_a_search_of_the_web_that_fails_leads_to_what_is_here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    run("import", str(home / "pot.md"))
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")
    found = RUNNER.invoke(app, ["search", "水壶法第二条"])
    assert found.exit_code == 4
    command = next(line for line in found.output.splitlines() if "--type regulation" in line).removeprefix("$ ")
    assert "出卖人应当更换" in RUNNER.invoke(app, shlex.split(command)[1:]).output
    assert "--type" not in RUNNER.invoke(app, ["search", "天气"]).output


def test_stats_sum_up_what_was_imported_by_folder(home: Path) -> None:
    for number in range(30):
        place = home / "laws" / f"part{number % 3}" / f"pot{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(POT_LAW.replace("水壶", f"水壶{number}"), "utf-8")
    code, text = run("import", str(home / "laws"))
    assert code == 0
    assert "part1  10 个文件" in text
    assert "pot1.md" not in text
    text = run("stats")[1]
    assert "part1  10 个文件" in text
    assert "pot1.md" not in text
    assert "qiusuo legal stats --files" in text
    assert len(text.splitlines()) < 10
    assert run("stats", "--files")[1].count(".md") == 30
    assert len(json.loads(run("stats", "--json")[1])["sources"]) == 30


def test_a_law_is_shown_whole(home: Path) -> None:
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    (home / "tea.md").write_text(TEA_LAW_2010, "utf-8")
    (home / "rules.md").write_text(PICKING_RULES, "utf-8")
    run("import", *(str(home / name) for name in ("pot.md", "tea.md", "rules.md")))
    code, text = run("show", "茶叶法")  # the name of the interpretation holds it, too
    lines = text.splitlines()
    assert (code, lines[0]) == (0, "中华人民共和国茶叶法")
    assert lines[1].endswith("共 6 条")
    assert lines[2:5] == ["", "第一章 总则", "第一条　为了保护茶农的合法权益，制定本法。"]
    assert [line.partition("　")[0] for line in lines if "　" in line] == [
        "第一条", "第二条", "第三条", "第四条", "第四条之一", "第五条",
    ]  # fmt: skip
    assert "（二）秋茶应当提前五日告知。" in lines
    results = json.loads(run("show", "茶叶法", "--json")[1])["results"]
    assert [result["articleNumber"] for result in results[:2]] == ["", "第一条"]
    assert len(results) == 7
    code, text = run("show", "茶叶法和水壶法")
    assert (code, "写出其中一部的全名" in text, "第四条" in text) == (0, True, False)


def test_an_article_that_does_not_hold_is_marked_in_its_law(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    articles = (("第一条", "烛台应当稳固。"), ("第二条", "（删去）"))
    statute = Statute("中华人民共和国烛台法", "2016-03-01", "2016-06-01", articles)
    run("import", str(write_statutes(home / "laws.db", [statute])))
    assert "第二条　（删去）\n! 本条已删去。\n" in run("show", "烛台法")[1]
    monkeypatch.setenv("QIUSUO_LANG", "en")
    assert "第二条　（删去）\n! This article was deleted.\n" in run("show", "烛台法")[1]


def test_only_what_is_named_is_shown(home: Path) -> None:
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    run("import", str(home / "pot.md"))
    for name in ("水壶漏水的法", "漏水的水壶"):
        assert run("search", name)[0] == 0
        code, text = run("show", name)
        assert (code, f"索引中没有名为“{name}”" in text, "第二条" in text) == (1, True, False)
    code, text = run("show", "采茶法")
    assert (code, "第" in text) == (1, False)


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
    assert (code, "新增 4" in text) == (0, True)
    assert (home / "index" / "downloads" / "china-law-0.1.1.db").is_file()
    monkeypatch.setattr(install, "_fetch", lambda _work, _environ: pytest.fail("fetched again"))
    code, text = run("install", "--yes")
    assert (code, "已安装" in text, "新增" in text) == (0, True, False)
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


@pytest.mark.programs
def test_no_way_to_download_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_commands", lambda _work, _environ: {"pip": ["/nonexistent/pip"]})
    with pytest.raises(ConfigurationError, match="could not be downloaded") as caught:
        install.statutes_file(IndexFolder(tmp_path))
    assert "qiusuo legal import" in caught.value.fix


def test_the_folder_follows_the_environment() -> None:
    assert legal_folder({"QIUSUO_LEGAL_DIR": "/x"}) == Path("/x")
    assert legal_folder({"XDG_DATA_HOME": "/data"}) == Path("/data/qiusuo/legal")
