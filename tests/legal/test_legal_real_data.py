"""The installed statutes and the shared collections; skipped where they are not on this machine."""

from __future__ import annotations

import gzip
import os
import re
import time
from pathlib import Path

import pytest

from qiusuo.legal.dates import KNOWN_EFFECTIVE, read_day
from qiusuo.legal.folder import IndexFolder, legal_folder
from qiusuo.legal.imports import Importer
from qiusuo.legal.index import IndexHandle, LegalIndex
from qiusuo.legal.install import LABEL
from qiusuo.legal.lookup_check import WRITINGS, check_lookups
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.names import KNOWN_REPEALS, name_key
from qiusuo.legal.numbers import article_label
from qiusuo.legal.recognise import STATUTE_NAMES, looks_legal
from qiusuo.legal.regulations import RegulationSearch

# Read before the fixtures hide the user's settings.
STATUTES = legal_folder(os.environ).joinpath("downloads", "china-law-0.1.1.db")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "legal"

pytestmark = pytest.mark.xdist_group("legal-real-data")


@pytest.fixture(scope="session")
def statutes(tmp_path_factory: pytest.TempPathFactory) -> LegalIndex:
    if not STATUTES.is_file():
        pytest.skip(f"the statutes are not installed ({STATUTES}); run: qiusuo legal install --yes")
    folder = IndexFolder(tmp_path_factory.mktemp("statutes"))
    report = Importer(folder).run([STATUTES], LABEL)
    assert report.articles > 26_000
    assert report.seconds < 60
    return IndexHandle(folder).get()


def test_every_article_is_found_by_its_reference(statutes: LegalIndex) -> None:
    """Each article in one of twelve writings, by turns; ``python -m eval.legal`` tries all twelve for all."""
    checked, wrong = check_lookups(statutes, writings_per_article=1)
    assert checked > 26_000
    assert wrong == []
    assert len(WRITINGS) == 12


@pytest.mark.parametrize(
    ("query", "law", "label", "words"),
    [
        ("民法典第577条", "中华人民共和国民法典", "第五百七十七条", "应当承担继续履行"),
        ("刑法第133条之一第一款第（二）项", "中华人民共和国刑法", "第一百三十三条之一", "醉酒驾驶机动车"),
        ("消法第55条", "中华人民共和国消费者权益保护法", "第五十五条", "三倍"),
    ],
)
def test_known_articles(statutes: LegalIndex, query: str, law: str, label: str, words: str) -> None:
    (result,) = RegulationSearch(statutes).search(query).results
    assert (result.law_name, result.article_number) == (law, label)
    assert words in result.content


def test_words_find_the_probation_period(statutes: LegalIndex) -> None:
    answer = RegulationSearch(statutes).search("劳动合同试用期最长多久")
    assert any("试用期不得超过" in result.content for result in answer.results[:3])


@pytest.mark.parametrize(
    ("question", "law", "number"),
    [
        ("被狗咬了谁赔", "民法典", 1245),
        ("高空抛物砸伤人", "民法典", 1254),
        ("邻居装修噪音扰民", "民法典", 288),
        ("酒驾怎么处罚", "道路交通安全法", 91),
        ("网购七天无理由退货", "消费者权益保护法", 25),
        ("借条没写利息", "民法典", 680),
        ("信用卡逾期会坐牢吗", "刑法", 196),
        ("加班费怎么算", "劳动法", 44),
    ],
)
def test_everyday_questions_find_the_article_that_answers_them(
    statutes: LegalIndex, question: str, law: str, number: int
) -> None:
    results = RegulationSearch(statutes).search(question).results[:3]
    wanted = (f"中华人民共和国{law}", article_label(ArticleNumber(number)))
    assert wanted in [(result.law_name, result.article_number) for result in results]


def test_repealed_and_interpreted(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    assert search.search("合同法第107条").results[0].successor == "中华人民共和国民法典"
    assert search.search("环境保护法第一条").results[0].status == "已废止"
    assert search.search("民法典婚姻家庭编司法解释一第25条").results == ()


def test_words_take_milliseconds(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    search.search("试用期")
    started = time.process_time()
    for _ in range(20):
        search.search("借钱不还打官司要准备什么证据")
    assert (time.process_time() - started) / 20 < 0.03


@pytest.mark.skipif(
    not (SHARED / "stard_corpus.jsonl.gz").is_file(), reason=f"the shared collections are not in {SHARED}"
)
def test_the_shared_articles_show_the_known_gap(tmp_path: Path) -> None:
    with gzip.open(SHARED / "stard_corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [line for line in file if '"law": "刑事诉讼法"' in line]
    (tmp_path / "part.jsonl").write_text("".join(lines), "utf-8")
    report = Importer(IndexFolder(tmp_path / "index")).run([tmp_path / "part.jsonl"])
    assert report.gaps == (("刑事诉讼法", "", (128,)),)


# The clause by which a law says when it takes effect; an amended law keeps that of its first version.
OWN_DAY = re.compile(
    r"本(?:法典?|条例|决定|决议|修正案|规定|解释|办法|规则)自\s*([^,，。;；]{6,20}?日)\s*起(?:施行|实施|生效)"
)


def test_the_days_of_effect_are_those_that_the_texts_state(statutes: LegalIndex) -> None:
    checked, wrong = 0, []
    for version in statutes.store.versions.values():
        _, last = statutes.store.numbers(version)
        closing = statutes.store.articles(version, ArticleNumber(max(1, last - 8)), ArticleNumber(last + 1))
        days = {read_day(day) for article in closing for day in OWN_DAY.findall(article.text)}
        own = {day for day in days if day >= version.published}
        checked += bool(own)
        if own and version.effective not in own:
            wrong.append((version.law.name, version.published, version.effective, own))
    assert wrong == []
    assert checked > 150


def test_the_table_of_days_corrects_installed_versions_only_forward(statutes: LegalIndex) -> None:
    """Its entries cannot be read off the texts; at least each names a version that is there, and no earlier day."""
    installed = {
        (name_key(version.law.name), version.published): version for version in statutes.store.versions.values()
    }
    for key, day in KNOWN_EFFECTIVE.items():
        assert key[1] <= day
        assert installed[key].effective == day, key


def test_the_table_of_repeals_agrees_with_the_texts(statutes: LegalIndex) -> None:
    repeals = {name_key(repeal.name): repeal for repeal in statutes.store.repeals.values()}
    stated = [key for key in KNOWN_REPEALS if repeals[key].article]
    assert len(stated) > 14
    for key, (successor, day) in KNOWN_REPEALS.items():
        assert (repeals[key].successor, repeals[key].date) == (successor, day)
    # Texts that say 自公布之日起 leave the day open, unless it is known.
    assert repeals["民事诉讼法试行"].date == ""
    assert repeals["行政监察法"].date == "2018-03-20"


def test_the_names_of_statutes_are_installed_ones(statutes: LegalIndex) -> None:
    names = {name_key(version.law.name) for version in statutes.store.versions.values()}
    assert names >= STATUTE_NAMES


def test_whole_questions_reach_the_right_way(statutes: LegalIndex) -> None:
    """The two questions of a first visit, both by their rules and by the index."""
    search = RegulationSearch(statutes)
    assert looks_legal("民法典第577条")
    assert looks_legal("劳动合同试用期最长多久")
    assert "当事人一方不履行合同义务" in search.search("民法典第577条").results[0].content
    assert search.search("工伤保险条例").results == ()
