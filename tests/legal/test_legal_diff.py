"""What changed: an article in two versions, on the terminal and over HTTP; and statuses that were looked into."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.legal.answers.comparing import compare
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.routes import DiffAnswer
from qiusuo.web.schemas import ErrorAnswer
from qiusuo.words import Fact
from tests.support.legal_samples import POT_LAW, TEA_LAW_2010, TEA_LAW_2025, Statute, build, opened, write_statutes
from tests.support.web_server import WebServer

RUNNER = CliRunner()
RENUMBERED = (
    TEA_LAW_2025.replace("第四条 茶厂拖欠", "第五条 茶厂迟延支付或者拖欠")
    .replace("第五条 本法自", "第六条 本法自")
    .replace("第四条之一 茶厂不得压低等级收购茶叶。", "第四条 国家建立茶山生态补偿制度。\n\n补偿由受益人承担。")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("diff")
    for name, text in (("茶叶法(2010-03-01)", TEA_LAW_2010), ("茶叶法(2025-10-01)", RENUMBERED), ("水壶法", POT_LAW)):
        (base / f"{name}.md").write_text(text, "utf-8")
    build(base / "index", *base.glob("*.md"))
    return base / "index"


@pytest.fixture
def search(folder: Path) -> RegulationSearch:
    return RegulationSearch(opened(folder).get())


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[WebServer]:
    with WebServer.over("tavily", legal_dir=str(folder)) as server:
        yield server


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(folder))
    monkeypatch.setenv("QIUSUO_LANG", "zh")
    result = RUNNER.invoke(app, ["legal", "show", *arguments, "--diff"])
    return result.exit_code, result.output


def test_the_changed_words_are_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = run(folder, monkeypatch, "茶叶法第三条", "--as-of", "2027-06-01")
    assert code == 0
    assert "旧（2010-03-01 公布，2010-07-01 起施行）第三条" in text
    assert "新（2025-10-01 公布，2027-01-01 起施行）第三条" in text
    assert "茶农有权自行决定采摘时间{+和方式+}。" in text
    assert "茶农有权自行决定采摘时间。" in text
    # Before the new version holds, the one in force has none before it: it is shown beside the one to come.
    assert "{+和方式+}" in run(folder, monkeypatch, "茶叶法第三条", "--as-of", "2020-01-01")[1]
    code, text = run(folder, monkeypatch, "茶叶法第三条", "--as-of", "2027-06-01", "--json")
    assert json.loads(text)["old"]["version"] == "2010-03-01"


def test_both_texts_can_be_put_together_of_the_parts(search: RegulationSearch) -> None:
    for number in range(1, 6):
        found = compare(search, f"茶叶法第{number}条", "2027-06-01")
        assert found.old is not None
        assert "".join(part.text for part in found.parts if part.change != "added") == found.old.text
        assert "".join(part.text for part in found.parts if part.change != "removed") == found.new.text
    assert compare(search, "茶叶法第2条").changed is False


def test_an_article_with_another_number_is_found_by_its_words(search: RegulationSearch) -> None:
    found = compare(search, "茶叶法第5条", "2027-06-01")
    assert found.old is not None
    assert (found.old.article_number, found.new.article_number) == ("第四条", "第五条")
    assert [note.code for note in found.notes] == ["legal_diff.renumbered"]
    new = compare(search, "茶叶法第4条", "2027-06-01")
    assert new.old is not None
    assert (new.old.text, [note.code for note in new.notes]) == ("", ["legal_diff.no_counterpart"])


def test_an_article_of_several_lines_that_is_new_as_a_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = run(folder, monkeypatch, "茶叶法第四条", "--as-of", "2027-06-01")
    assert code == 0
    assert "{+国家建立茶山生态补偿制度。+}\n   {+补偿由受益人承担。+}" in text


def test_what_cannot_be_compared_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = run(folder, monkeypatch, "水壶法第二条")
    assert (code, "没有可以对比的版本" in text) == (1, True)
    for reference in ("茶叶法", "茶农的权利", "茶叶法第九十条"):
        code, text = run(folder, monkeypatch, reference)
        assert (code, "没有指明索引中的一条条文" in text) == (2, True)


ARTICLE_3 = {
    "law": "中华人民共和国茶叶法",
    "first": "第三条",
    "old_day": "2010-03-01",
    "last": "第三条",
    "new_day": "2025-10-01",
}
MARKS = {"added": "{+…+}", "removed": "[-…-]"}


@pytest.mark.parametrize(
    "question",
    [
        "茶叶法第三条新旧对比",
        "新旧茶叶法第三条有什么不同",
        "旧茶叶法第三条和新茶叶法第三条有什么区别",
        "茶叶法第三条修改前后",
        "茶叶法第三条改了什么",
        "旧茶叶法和新茶叶法关于茶农采摘时间有什么不同",
        "茶葉法第三條新舊對比",
    ],
)
def test_who_asks_what_changed_is_told(search: RegulationSearch, question: str) -> None:
    told = [note for note in search.search(question).notes if note.code.startswith("legal_diff.")]
    rest = "采摘时间由茶农书面告知茶厂：（一）春茶应当提前十日告知；（二）秋茶应当提前五日告知。"
    text = f"茶农有权自行决定采摘时间{{+和方式+}}。{rest}"
    assert told[0] == Fact("legal_diff.told", **ARTICLE_3, **MARKS, text=text)


def test_what_was_renumbered_is_new_or_is_the_same_is_told_so(search: RegulationSearch) -> None:
    both = search.search("茶叶法第四条新旧对比").notes
    assert {note.code for note in both} >= {"legal_diff.told_alone", "legal_diff.told"}
    moved = next(note for note in both if note.code == "legal_diff.told")
    assert (moved.values["first"], moved.values["last"]) == ("第四条", "第五条")
    same = search.search("茶叶法第二条新旧对比").notes
    assert "legal_diff.told_same" in {note.code for note in same}


def test_where_there_is_nothing_to_compare_it_is_said_once(search: RegulationSearch) -> None:
    codes = [note.code for note in search.search("旧水壶法和新水壶法关于水壶有什么不同").notes]
    assert codes.count("legal_diff.one_version") == 1
    codes = [note.code for note in search.search("水壶法第二条新旧对比").notes]
    assert [code for code in codes if code in {"law.no_edition", "legal_diff.one_version"}] == ["law.no_edition"]
    assert Fact("legal_diff.which", laws="茶叶法") in search.search("茶叶法新旧对比").notes
    for question in ("茶叶法第三条", "茶叶法第三条怎么规定", "茶农可以自行决定采摘时间吗"):
        assert not [note for note in search.search(question).notes if note.code.startswith("legal_diff.")]


def test_the_answer_without_a_model_has_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(folder))
    monkeypatch.setenv("QIUSUO_LANG", "zh")
    said = RUNNER.invoke(app, ["chat", "--no-save", "--search", "茶叶法第三条新旧对比"])
    assert said.exit_code == 0, said.output
    assert "茶农有权自行决定采摘时间{+和方式+}。" in said.output
    # What is said beside an answer is in the terminal's language, whatever that of the question.
    monkeypatch.setenv("QIUSUO_LANG", "en")
    said = RUNNER.invoke(app, ["chat", "--no-save", "--search", "茶叶法第三条"])
    assert "Round 1 · Local laws ·" in said.output


def test_over_http(server: WebServer) -> None:
    answer = server.client.get("/api/legal/diff", params={"reference": "茶叶法第三条", "asOf": "2027-06-01"})
    assert answer.status_code == 200, answer.text
    found = DiffAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    assert (found.law_name, found.changed, found.versions) == (
        "中华人民共和国茶叶法",
        True,
        ["2010-03-01", "2025-10-01"],
    )
    assert [part.text for part in found.parts if part.change == "added"] == ["和方式"]
    alone = server.client.get("/api/legal/diff", params={"reference": "水壶法第二条"})
    assert (alone.status_code, alone.json()["old"]) == (200, None)
    wrong = ({"reference": "茶叶法第九十条"}, {"reference": " "}, {"reference": "茶叶法第三条", "asOf": "then"})
    for params, status in zip(wrong, (404, 400, 400), strict=True):
        refused = server.client.get("/api/legal/diff", params=params)
        assert refused.status_code == status
        ErrorAnswer.model_validate_json(refused.content)


def test_a_bare_word_that_was_looked_into_is_not_repeated(tmp_path: Path) -> None:
    article = (("第一条", "为了承包，制定本法。"),)
    statutes = [
        Statute("中华人民共和国农村土地承包法", "2018-12-29", "2003-03-01", article, status="已废止"),
        Statute("中华人民共和国全民所有制工业企业法", "2009-08-27", "1988-08-01", article),
        Statute("中华人民共和国陀螺法", "2009-08-27", "2009-10-01", article, status="已废止"),
    ]
    build(tmp_path / "index", write_statutes(tmp_path / "laws.db", statutes))
    search = RegulationSearch(opened(tmp_path / "index").get())
    names = ("农村土地承包法", "全民所有制工业企业法", "陀螺法")
    assert [search.search(f"{name}第一条").results[0].status for name in names] == ["现行有效", "已废止", "已废止"]


def test_an_interpretation_that_was_repealed_says_since_when_and_by_what(tmp_path: Path) -> None:
    name = "最高人民法院关于适用《中华人民共和国婚姻法》若干问题的解释（二）"
    text = f"# {name}\n\n<!-- INFO END -->\n\n第一条 当事人起诉请求解除同居关系的，人民法院不予受理。\n"
    (tmp_path / "解释(2003-12-25).md").write_text(text, "utf-8")
    build(tmp_path / "index", tmp_path / "解释(2003-12-25).md")
    search = RegulationSearch(opened(tmp_path / "index").get())
    (found,) = search.search(f"{name}第一条").results
    assert (found.status, found.successor) == (
        "已废止",
        "最高人民法院关于适用《中华人民共和国民法典》婚姻家庭编的解释（一）",
    )
    (then,) = search.search(f"{name}第一条", "2015-01-01").results
    assert then.status == "现行有效"
    assert not search.index.names.find("最高人民法院关于适用《中华人民共和国物权法》若干问题的解释（一）")
