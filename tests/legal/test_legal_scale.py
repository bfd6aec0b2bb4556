"""Many judgments: what is read or ranked once is not done again, filters find what is rare, questions stay cheap."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.legal.building import estimate, imports
from qiusuo.legal.building.importers import json_lines, judgments_csv, lines
from qiusuo.legal.building.imports import Importer, ImportStep
from qiusuo.legal.index import ranking
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.packed_texts import CaseTexts, pack, unpack
from qiusuo.legal.index.ranking import Fields, RankedDocument, TantivyBackend, build_tantivy
from qiusuo.legal.judgments.cases import CaseFilters, CaseSearch
from tests.support.legal_samples import COLUMNS, JUDGMENT, TEA_LAW_2010, build, crime, csv_row, opened
from tests.support.processes import on_linux, wait_until_gone


class Interrupted(Exception):
    """Plays a kill between two batches."""


@pytest.fixture(autouse=True)
def _batches_by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BATCH_SECONDS", 3600.0)


def write_crimes(path: Path, count: int, first: int = 1) -> Path:
    path.write_text(
        "\n".join(crime(number, f"被告人窃取茶叶{number}斤。") for number in range(first, first + count)), "utf-8"
    )
    return path


def interrupt_at(said: str) -> Callable[[ImportStep], None]:
    def tell(step: ImportStep) -> None:
        if step.what == said:
            raise Interrupted

    return tell


def counting(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[Any]:
    """Count the judgments that are parsed."""
    seen: list[Any] = []
    parse = module.build_case

    def counted(row: Any) -> Any:
        seen.append(row)
        return parse(row)

    monkeypatch.setattr(module, "build_case", counted)
    return seen


class TestReading:
    def test_lines_that_were_read_are_not_parsed_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = write_crimes(tmp_path / "crimes.jsonl", 30)
        monkeypatch.setattr(imports, "BATCH_ENTRIES", 10)
        with pytest.raises(Interrupted):
            Importer(IndexFolder(tmp_path / "index"), interrupt_at("crimes.jsonl: 20")).run([source])
        parsed = counting(monkeypatch, json_lines)
        assert build(tmp_path / "index", source).cases == 30
        assert len(parsed) == 10

    def test_rows_of_several_lines_go_on_after_any_of_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = [COLUMNS, csv_row("1"), "", '"never closed,' + csv_row("2")[:40], csv_row("3", JUDGMENT + "附：茶样。")]
        (tmp_path / "rows.csv").write_text("\n".join([*rows, csv_row("4", JUDGMENT + "附：茶壶。")]), "utf-8")
        whole = build(tmp_path / "whole", tmp_path / "rows.csv").sources[0]
        assert (whole.accepted, whole.rejected) == (3, 1)
        monkeypatch.setattr(imports, "BATCH_ENTRIES", 1)
        for said in ("rows.csv: 1", "rows.csv: 2", "rows.csv: 3"):
            with pytest.raises(Interrupted):
                Importer(IndexFolder(tmp_path / "cut"), interrupt_at(said)).run([tmp_path / "rows.csv"])
        parsed = counting(monkeypatch, judgments_csv)
        again = build(tmp_path / "cut", tmp_path / "rows.csv").sources[0]
        assert (again.accepted, again.rejected, again.reasons) == (whole.accepted, whole.rejected, whole.reasons)
        assert parsed == []

    def test_articles_around_a_broken_line_stay_one_law(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def article(number: int) -> str:
            return json.dumps({"law": "茶壶法", "num": f"第{number}条", "content": f"第{number}种茶壶。"})

        rows = [article(1), "{", article(2), crime(1, "窃取茶壶。"), article(3)]
        (tmp_path / "mixed.jsonl").write_text("\n".join(rows), "utf-8")
        monkeypatch.setattr(imports, "BATCH_ENTRIES", 1)
        with pytest.raises(Interrupted):
            Importer(IndexFolder(tmp_path / "cut"), interrupt_at("mixed.jsonl: 2")).run([tmp_path / "mixed.jsonl"])
        report = build(tmp_path / "cut", tmp_path / "mixed.jsonl")
        assert (report.articles, report.cases) == (3, 1)
        assert [(one.accepted, one.duplicates, one.rejected) for one in report.sources] == [(4, 0, 1)]

    def test_processes_beside_read_the_same(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = write_crimes(tmp_path / "crimes.jsonl", 450)
        build(tmp_path / "alone", source)
        monkeypatch.setattr(imports, "MUCH_BYTES", 0)
        assert build(tmp_path / "beside", source).cases == 450
        stores = [opened(tmp_path / name).get().store for name in ("alone", "beside")]
        assert stores[0].cases_by_id(range(1, 451)) == stores[1].cases_by_id(range(1, 451))

    def test_a_large_plain_file_is_no_bomb(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "MAX_UNPACKED_BYTES", 1000)
        assert build(tmp_path / "index", write_crimes(tmp_path / "crimes.jsonl", 20)).cases == 20

    def test_judgments_stay_when_laws_are_replaced(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        laws = tmp_path / "laws"
        laws.mkdir()
        (laws / "茶叶法(2010-03-01).md").write_text(TEA_LAW_2010, "utf-8")
        build(tmp_path / "index", laws, write_crimes(tmp_path / "crimes.jsonl", 5))
        (laws / "茶叶法(2010-03-01).md").write_text(TEA_LAW_2010.replace("茶农", "种茶人"), "utf-8")
        parsed = counting(monkeypatch, json_lines)
        report = Importer(IndexFolder(tmp_path / "index")).run([laws], replacing=laws)
        assert (report.cases, parsed) == (5, [])
        assert "种茶人" in opened(tmp_path / "index").get().store.articles_by_id([1])[0].text


KILLED_WHILE_RANKING = """
import sys, time
from pathlib import Path
from qiusuo.legal.building import imports
from qiusuo.legal.index import ranking
from qiusuo.legal.index.folder import IndexFolder
imports.MUCH_BYTES = int(sys.argv[3])
ranking.COMMIT_EVERY = ranking.TELL_EVERY = 20
def tell(step):
    print(step.what, flush=True)
    if step.what.startswith(sys.argv[4]):
        time.sleep(60)
imports.Importer(IndexFolder(Path(sys.argv[1])), tell).run([Path(sys.argv[2])])
"""


def killed(index: Path, source: Path, said: str, much: int = 4_000_000) -> int:
    """Import in another process, and kill it when it says something; return who it was."""
    command = [sys.executable, "-c", KILLED_WHILE_RANKING, str(index), str(source), str(much), said]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:  # noqa: S603 - ours
        assert process.stdout is not None
        assert any(line.startswith(said) for line in process.stdout)
        process.send_signal(signal.SIGKILL)
    return process.pid


class TestRanking:
    def test_killed_while_ranking_it_goes_on_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = write_crimes(tmp_path / "crimes.jsonl", 70)
        killed(tmp_path / "index", source, "ranking: cases 40")
        assert IndexFolder(tmp_path / "index").current() is None
        monkeypatch.setattr(ranking, "TELL_EVERY", 10)
        steps: list[str] = []
        report = Importer(IndexFolder(tmp_path / "index"), lambda step: steps.append(step.what)).run([source])
        assert [step for step in steps if step.startswith("ranking: cases ")] == [
            f"ranking: cases {done}" for done in (50, 60, 70)
        ]
        build(tmp_path / "whole", source)
        found = [opened(tmp_path / name).get().rank_cases("窃取茶叶 33 斤", 100) for name in ("index", "whole")]
        assert report.cases == len(found[0]) == 70
        assert {(hit.id, round(hit.score, 4)) for hit in found[0]} == {
            (hit.id, round(hit.score, 4)) for hit in found[1]
        }

    @on_linux
    def test_the_processes_beside_end_with_the_one_that_is_killed(self, tmp_path: Path) -> None:
        source = write_crimes(tmp_path / "crimes.jsonl", 900)
        leader = killed(tmp_path / "index", source, "crimes.jsonl: ", much=0)
        assert wait_until_gone(leader) == set()

    def test_new_judgments_are_added_to_the_ranking(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        build(tmp_path / "index", write_crimes(tmp_path / "old.jsonl", 40))
        before = opened(tmp_path / "index").get()
        monkeypatch.setattr(ranking, "TELL_EVERY", 1)
        steps: list[str] = []
        importer = Importer(IndexFolder(tmp_path / "index"), lambda step: steps.append(step.what))
        importer.run([write_crimes(tmp_path / "new.jsonl", 2, first=41)])
        ranked = [step for step in steps if step.startswith("ranking: cases ")]
        assert ranked == ["ranking: cases 41", "ranking: cases 42"]
        assert len(opened(tmp_path / "index").get().rank_cases("窃取茶叶", 100)) == 42
        assert len(before.rank_cases("窃取茶叶", 100)) == 40

    def test_what_is_taken_out_is_not_ranked(self, tmp_path: Path) -> None:
        folder = tmp_path / "pack"
        folder.mkdir()
        build(tmp_path / "index", write_crimes(folder / "a.jsonl", 3), write_crimes(tmp_path / "b.jsonl", 3, first=4))
        (folder / "a.jsonl").unlink()
        write_crimes(folder / "c.jsonl", 1, first=9)
        Importer(IndexFolder(tmp_path / "index")).run([folder], replacing=folder)
        found = CaseSearch(opened(tmp_path / "index").get()).search("窃取茶叶", limit=20).results
        assert sorted(result.case_number[-3:-1] for result in found) == ["初4", "初5", "初6", "初9"]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> CaseSearch:
    """Return a search among 2,400 thefts of tea, two of which a far court has judged, in few words."""
    folder = tmp_path_factory.mktemp("many")
    near = [crime(number, "被告人盗窃茶叶，盗窃茶叶，又盗窃茶叶。") for number in range(1, 2401)]
    far = [
        crime(number, f"被告人在{'很远的山里' * 30}盗窃茶叶。", court)
        for number, court in ((3001, "某省远山县人民法院"), (3002, "某省山远县人民法院"))
    ]
    dated = json.loads(far[0]) | {"裁判日期": "2003-02-01"}
    (folder / "many.jsonl").write_text("\n".join([*near, json.dumps(dated), far[1]]), "utf-8")
    build(folder / "index", folder / "many.jsonl")
    return CaseSearch(opened(folder / "index").get())


class TestFilters:
    def test_a_court_is_found_however_many_others_fit_better(self, ask: CaseSearch) -> None:
        (result,) = ask.search("盗窃茶叶", CaseFilters(court="远山")).results
        assert result.court == "某省远山县人民法院"
        assert ask.search("盗窃茶叶", CaseFilters(court="近山县")).results == ()

    def test_so_is_a_day(self, ask: CaseSearch) -> None:
        for filters in (CaseFilters(date_from="2003-02-01", date_to="2003-02-01"), CaseFilters(date_to="2010-01-01")):
            (result,) = ask.search("盗窃茶叶", filters).results
            assert result.date == "2003-02-01"
        assert ask.search("盗窃茶叶", CaseFilters(date_from="2003-02-02")).results == ()


def test_a_question_of_too_many_common_words_is_asked_by_the_rarest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["被告人到案后供述", "被告人到案", "被告人供述", "供述盗窃", "到案后供述撬锁"]
    documents = [RankedDocument(number, {"facts": said[number % 5]}, {}) for number in range(1, 601)]
    fields = Fields(("facts",), numbered=True)
    build_tantivy(tmp_path / "index", fields, lambda _: documents)
    backend = TantivyBackend(tmp_path / "index", fields)
    words = dict.fromkeys(ranking.tokens("被告人到案后供述撬锁"), 1.0)
    whole = backend.search(words, {"facts": 1.0}, 120)
    monkeypatch.setattr(ranking, "MOST_POSTINGS", 500)
    telling = backend.search(words, {"facts": 1.0}, 120)
    assert {hit.id % 5 for hit in telling} == {hit.id % 5 for hit in whole} == {4}
    assert [round(hit.score, 4) for hit in telling] == [round(hit.score, 4) for hit in whole]


def test_texts_are_packed_and_come_back() -> None:
    whole = "经审理查明：甲窃取乙的茶叶。本院认为，构成盗窃罪。" * 20
    for texts in (
        CaseTexts(whole, whole[:14], whole[14:26], "驳回上诉"),
        CaseTexts("", "", "", ""),
        CaseTexts("𠮷\n\u0000", "𠮷", "", ""),
    ):
        assert unpack(pack(texts)) == texts
    assert len(pack(CaseTexts(whole, whole, whole, whole))) < len(whole.encode()) / 3


def test_a_large_import_says_first_what_it_will_take_and_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path / "index"))
    monkeypatch.setenv("QIUSUO_LANG", "en")
    source = write_crimes(tmp_path / "crimes.jsonl", 60)
    killed(tmp_path / "index", source, "ranking: cases 40")
    monkeypatch.setattr(estimate, "MUCH", 50)
    monkeypatch.setattr(estimate, "SAMPLE", 10)
    result = CliRunner().invoke(app, ["legal", "import", str(source)])
    assert result.exit_code == 0, result.output
    goes_on, about, *_ = result.output.splitlines()
    assert "1 files and 60 judgments were read, 40 of them ranked" in goes_on
    assert "About" in about
    assert "GB are free" in about
