"""Importing: every layout, twice, interrupted, broken, hostile."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building import imports
from qiusuo.legal.building.imports import Importer, ImportStep, rebuild
from qiusuo.legal.index.folder import STORE, IndexFolder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.models import ArticleNumber
from tests.support.legal_samples import (
    COLUMNS,
    JUDGMENT,
    POT_LAW,
    TEA_LAW_2010,
    build,
    crime,
    csv_row,
    opened,
    write_sources,
    write_statutes_db,
)

TABLES = ("laws", "versions", "articles", "citations", "repeals", "cases", "rejected")


def content(folder: Path) -> str:
    """Return a digest of everything that an index says, apart from when it was built and where its sources lay."""
    current = IndexFolder(folder).current()
    assert current is not None
    digest = hashlib.sha256()
    with closing(sqlite3.connect(current / STORE)) as database:
        for table in TABLES:
            for row in database.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4"):  # noqa: S608 - our tables
                digest.update(repr(row).encode())
    handle = IndexHandle(IndexFolder(folder))
    digest.update(repr(handle.get().rank_articles("湖泊保护 采摘时间", 50)).encode())
    return digest.hexdigest()


class TestLayouts:
    def test_all_layouts_at_once(self, tmp_path: Path) -> None:
        report = build(tmp_path / "index", write_sources(tmp_path / "sources"))
        assert (report.articles, report.cases) == (6 + 6 + 3 + 2, 4)
        assert sum(source.rejected for source in report.sources) == 0
        assert [(name, missing) for name, _, missing in report.gaps] == [
            ("最高人民法院关于适用《中华人民共和国茶叶法》采摘编的解释（一）", tuple(range(2, 25))),
            ("水壶法", (3,)),
        ]

    def test_headings_paragraphs_and_dates_of_markdown(self, tmp_path: Path) -> None:
        build(tmp_path / "index", write_sources(tmp_path / "sources"))
        store = opened(tmp_path / "index").get().store
        version = next(known for known in store.versions.values() if known.published == "2010-03-01")
        (article,) = store.articles(version, ArticleNumber(3))
        assert article.headings == ("第二章 茶农的权利",)
        assert article.text.split("\n")[0] == "茶农有权自行决定采摘时间。"
        assert version.effective == "2010-07-01"
        assert [known.label for known in store.articles(version, ArticleNumber(4), ArticleNumber(4, 9))] == [
            "第四条",
            "第四条之一",
        ]

    def test_a_code_split_over_files_becomes_one_law(self, tmp_path: Path) -> None:
        folder = tmp_path / "民法典"
        folder.mkdir()
        (folder / "01-总则编.md").write_text(
            "# 民法典 第一编 总则\n\n## 第一章 规定\n\n第一条 一。\n\n第二条 二。\n", "utf-8"
        )
        (folder / "02-合同编.md").write_text("# 合同编\n\n第三条 三。\n", "utf-8")
        report = build(tmp_path / "index", folder)
        index = opened(tmp_path / "index").get()
        assert (report.articles, report.gaps) == (3, ())
        (law_id,) = index.names.find("民法典")
        (version,) = index.store.versions_of(law_id)
        assert [index.store.articles(version, ArticleNumber(n))[0].text for n in (1, 2, 3)] == ["一。", "二。", "三。"]

    def test_the_statutes_file_tells_inserted_articles_apart(self, tmp_path: Path) -> None:
        build(tmp_path / "index", write_statutes_db(tmp_path / "laws.db"))
        index = opened(tmp_path / "index").get()
        version = next(iter(index.store.versions.values()))
        labels = [index.store.articles(version, ArticleNumber(1, suffix))[0].label for suffix in (0, 1, 2)]
        assert labels == ["第一条", "第一条之一", "第一条之二"]
        assert (version.effective, version.basis.value) == ("2020-06-01", "published")

    def test_twice_is_once(self, tmp_path: Path) -> None:
        sources = write_sources(tmp_path / "sources")
        build(tmp_path / "index", sources)
        before = content(tmp_path / "index")
        again = build(tmp_path / "index", sources)
        assert content(tmp_path / "index") == before
        (sources / "经济法" / "水壶法.md").touch()  # a changed file is read again: all of it is there already
        os.utime(sources / "经济法" / "水壶法.md", (1, 1))
        again = build(tmp_path / "index", sources / "经济法" / "水壶法.md")
        assert (again.sources[0].accepted, again.sources[0].duplicates) == (0, 3)

    def test_another_text_of_the_same_article_is_kept_aside(self, tmp_path: Path) -> None:
        (tmp_path / "a.md").write_text(POT_LAW, "utf-8")
        (tmp_path / "b.md").write_text(POT_LAW.replace("应当更换", "可以更换"), "utf-8")
        report = build(tmp_path / "index", tmp_path / "a.md", tmp_path / "b.md")
        assert [source.rejected for source in report.sources] == [0, 1]
        assert "another text" in report.sources[1].reasons[0][0]

    @pytest.mark.parametrize("name", ["nothing.zip", "absent.csv", "empty"])
    def test_what_cannot_be_read_is_said(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "nothing.zip").write_bytes(b"PK")
        (tmp_path / "empty").mkdir()
        with pytest.raises(InvalidQuery):
            build(tmp_path / "index", tmp_path / name)


class TestHostileInput:
    def test_gb18030_and_mixed_encodings(self, tmp_path: Path) -> None:
        lines = [
            COLUMNS.encode("gb18030"),
            csv_row("1").encode("gb18030"),
            csv_row("2", "全文二").encode(),
            b'a,b,\xff\xfe\x81"',
        ]
        (tmp_path / "mixed.csv").write_bytes(b"\n".join(lines))
        report = build(tmp_path / "index", tmp_path / "mixed.csv")
        assert (report.cases, report.sources[0].rejected) == (2, 1)
        (tmp_path / "gb.md").write_bytes(TEA_LAW_2010.encode("gb18030"))
        assert build(tmp_path / "index", tmp_path / "gb.md").articles == 6

    def test_utf16_with_mark(self, tmp_path: Path) -> None:
        (tmp_path / "wide.csv").write_text(f"{COLUMNS}\n{csv_row('1', '全文一')}\n", "utf-16")
        assert build(tmp_path / "index", tmp_path / "wide.csv").cases == 1

    def test_a_line_of_fifty_megabytes(self, tmp_path: Path) -> None:
        with (tmp_path / "huge.jsonl").open("wb") as file:
            file.write(crime(1, "窃取茶叶").encode() + b"\n")
            file.write(b'{"facts": "')
            for _ in range(50):
                file.write(b"x" * 1_000_000)
            file.write(b'"}\n' + crime(2, "窃取手机").encode())
        report = build(tmp_path / "index", tmp_path / "huge.jsonl")
        assert (report.cases, report.sources[0].rejected) == (2, 1)
        assert "50,000,0" in report.sources[0].reasons[0][0]

    def test_missing_columns(self, tmp_path: Path) -> None:
        (tmp_path / "few.csv").write_text(f'全文,案号\n"{JUDGMENT}",\n', "utf-8")
        (tmp_path / "none.csv").write_text("案号,法院\n1,2\n", "utf-8")
        report = build(tmp_path / "index", tmp_path / "few.csv", tmp_path / "none.csv")
        assert report.cases == 1
        assert "全文" in report.sources[1].reasons[0][0]
        (case,) = opened(tmp_path / "index").get().store.cases_by_id([1])
        assert (case.number, case.court, case.date) == ("（2019）某01民终88号", "某省清水市中级人民法院", "2019-03-01")

    def test_an_unclosed_quote_costs_its_own_line_only(self, tmp_path: Path) -> None:
        rows = [COLUMNS, csv_row("1", "一"), 'x,"never closed', csv_row("2", "二\n二"), "too,few", csv_row("3", "三")]
        (tmp_path / "broken.csv").write_text("\n".join(rows), "utf-8")
        report = build(tmp_path / "index", tmp_path / "broken.csv")
        assert (report.cases, report.sources[0].rejected) == (3, 2)

    def test_broken_json_and_strange_rows(self, tmp_path: Path) -> None:
        rows = [crime(1, "窃取"), "{", "[1]", '{"a": 1}', '{"law": "x"}', "", '{"facts": ""}', "\x00\x00"]
        (tmp_path / "rows.jsonl").write_text("\n".join(rows), "utf-8")
        report = build(tmp_path / "index", tmp_path / "rows.jsonl")
        assert (report.cases, report.sources[0].rejected) == (1, 6)

    def test_a_row_without_a_readable_article_number_is_kept_aside(self, tmp_path: Path) -> None:
        numbers = ["第一条", "二", "3", 4, "第五条之一", "（六）", "七、", "", "序言", "附件一", None]
        unreadable = ["abc", "第五百七七条", 0, -1, "第十二条第二款", ["八"], 1.5]
        rows = [
            json.dumps({"law": "茶叶法", "num": number, "content": f"内容{place}。"}, ensure_ascii=False)
            for place, number in enumerate([*numbers, *unreadable])
        ]
        (tmp_path / "law.jsonl").write_text("\n".join(rows), "utf-8")
        report = build(tmp_path / "index", tmp_path / "law.jsonl")
        assert (report.articles, report.sources[0].rejected) == (len(numbers), len(unreadable))
        assert any("no article number can be read from 'abc'" in reason for reason, _ in report.sources[0].reasons)
        index = opened(tmp_path / "index").get()
        (version,) = index.store.versions_of(*index.names.find("茶叶法"))
        wanted = [(ArticleNumber(1), 0), (ArticleNumber(4), 3), (ArticleNumber(5, 1), 4), (ArticleNumber(7), 6)]
        for number, place in wanted:
            assert [article.text for article in index.store.articles(version, number)] == [f"内容{place}。"]

    def test_a_truncated_archive_and_a_false_database(self, tmp_path: Path) -> None:
        (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(crime(1, "窃取").encode() * 999)[:300])
        (tmp_path / "false.db").write_bytes(b"not a database" * 100)
        for name in ("cut.jsonl.gz", "false.db"):
            with pytest.raises(InvalidQuery):
                build(tmp_path / "index", tmp_path / name)
        write_statutes_db(tmp_path / "laws.db")
        report = build(tmp_path / "index", tmp_path)
        assert report.articles == 4
        assert [source.path.name for source in report.sources if source.reasons] == ["cut.jsonl.gz", "false.db"]

    def test_the_csv_limit_of_others_is_left_alone(self, tmp_path: Path) -> None:
        import csv

        before = csv.field_size_limit()
        (tmp_path / "long.csv").write_text(f"{COLUMNS}\n{csv_row('1', '长' * 200_000)}\n", "utf-8")
        assert build(tmp_path / "index", tmp_path / "long.csv").cases == 1
        assert csv.field_size_limit() == before


IMPORT_SLOWLY = """
import sys, time
from pathlib import Path
from qiusuo.legal.building import imports
from qiusuo.legal.index.folder import IndexFolder
imports.BATCH_ENTRIES = 7
def tell(step):
    print(step.what, flush=True)
    time.sleep(0.002)
imports.Importer(IndexFolder(Path(sys.argv[1])), tell).run([Path(sys.argv[2])])
print("end", flush=True)
"""


class TestInterruption:
    @pytest.mark.parametrize("stop_at", ["laws.db: 28", "laws.db: 308", "citations", "ranking: cases"])
    def test_killed_and_started_again_gives_the_same_index(self, tmp_path: Path, stop_at: str) -> None:
        source = write_statutes_db(tmp_path / "laws.db", laws=120)
        build(tmp_path / "whole", source)
        command = [sys.executable, "-c", IMPORT_SLOWLY, str(tmp_path / "cut"), str(source)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own code
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip() == stop_at:
                    process.send_signal(signal.SIGKILL)
                    break
            process.wait()
        assert process.returncode == -signal.SIGKILL
        assert IndexFolder(tmp_path / "cut").current() is None
        report = build(tmp_path / "cut", source)
        assert report.sources[0].resumed
        assert content(tmp_path / "cut") == content(tmp_path / "whole")

    def test_readers_keep_their_generation_while_a_writer_publishes(self, tmp_path: Path) -> None:
        build(tmp_path / "index", write_statutes_db(tmp_path / "laws.db"))
        handle = opened(tmp_path / "index")
        old = handle.get()
        (tmp_path / "pot.md").write_text(POT_LAW, "utf-8")
        build(tmp_path / "index", tmp_path / "pot.md")
        assert old.rank_articles("湖泊", 5)
        assert old.names.find("水壶法") == ()
        assert handle.get().names.find("水壶法")

    def test_many_readers_beside_a_writer(self, tmp_path: Path) -> None:
        build(tmp_path / "index", write_statutes_db(tmp_path / "laws.db", laws=20))
        handle = opened(tmp_path / "index")
        problems: list[BaseException] = []
        stop = threading.Event()

        def look() -> None:
            try:
                while not stop.is_set():
                    assert RegulationSearch(handle.get()).search("第3号湖泊法第一条之二").results
            except BaseException as error:  # noqa: BLE001 - a thread's failure must fail the test
                problems.append(error)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        (tmp_path / "pot.md").write_text(POT_LAW, "utf-8")
        build(tmp_path / "index", tmp_path / "pot.md")
        time.sleep(0.1)
        stop.set()
        for thread in threads:
            thread.join()
        assert problems == []

    def test_one_writer_only(self, tmp_path: Path) -> None:
        folder = IndexFolder(tmp_path / "index")
        with folder.writing(), pytest.raises(ConfigurationError, match="Another process"):
            build(tmp_path / "index", write_statutes_db(tmp_path / "laws.db"))


class TestVersions:
    def test_a_stale_ranking_is_named_and_rebuilt(self, tmp_path: Path) -> None:
        build(tmp_path / "index", write_statutes_db(tmp_path / "laws.db"))
        self._set_meta(tmp_path / "index", "ranking_version", "0")
        with pytest.raises(ConfigurationError, match="another version") as caught:
            opened(tmp_path / "index").get()
        assert "rebuild" in caught.value.fix
        rebuild(Importer(IndexFolder(tmp_path / "index")))
        assert opened(tmp_path / "index").get().rank_articles("湖泊", 5)

    def test_a_store_of_another_version_is_read_again_from_its_sources(self, tmp_path: Path) -> None:
        (tmp_path / "pot.md").write_text(POT_LAW, "utf-8")
        importer = Importer(IndexFolder(tmp_path / "index"))
        importer.run([write_statutes_db(tmp_path / "laws.db"), tmp_path / "pot.md"], "the lakes")
        self._set_meta(tmp_path / "index", "store_version", "0")
        (tmp_path / "pot.md").unlink()
        with pytest.raises(ConfigurationError):
            opened(tmp_path / "index").get()
        report = rebuild(importer)
        assert report.articles == 4
        assert [Path(path).name for path in report.lost_sources] == ["pot.md"]
        assert {known.source for known in opened(tmp_path / "index").get().store.versions.values()} == {"the lakes"}

    def test_nothing_to_rebuild_or_to_open(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="no legal index"):
            rebuild(Importer(IndexFolder(tmp_path)))
        with pytest.raises(ConfigurationError, match="no legal index") as caught:
            opened(tmp_path).get()
        assert "qiusuo legal install" in caught.value.fix

    def test_progress_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports, "BATCH_ENTRIES", 1)
        steps: list[ImportStep] = []
        Importer(IndexFolder(tmp_path / "index"), steps.append).run([write_statutes_db(tmp_path / "laws.db")])
        assert [step.what for step in steps] == ["laws.db: 4", "citations", "ranking: articles", "ranking: cases"]

    @staticmethod
    def _set_meta(folder: Path, key: str, value: str) -> None:
        current = IndexFolder(folder).current()
        assert current is not None
        with closing(sqlite3.connect(current / STORE)) as database:
            database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
            database.commit()
