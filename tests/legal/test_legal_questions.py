"""Questions as people type them, answered by an index: editions, laws as a whole, other scripts."""

from __future__ import annotations

import time

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.recognising.recognise import looks_legal
from qiusuo.legal.recognising.script import from_english, simplified
from tests.support.legal_samples import TODAY, said

pytest_plugins = ["tests.support.legal_fixtures"]


@pytest.fixture
def ask(samples: IndexHandle) -> RegulationSearch:
    return RegulationSearch(samples.get(), lambda: TODAY)


@pytest.mark.parametrize(
    ("query", "versions"),
    [
        ("茶叶法第三条", ["2010-03-01"]),
        ("2010年茶叶法第三条", ["2010-03-01"]),
        ("2025年修订的茶叶法第三条", ["2025-10-01"]),
        ("茶叶法（2025）第三条", ["2025-10-01"]),
        ("新茶叶法第三条", ["2025-10-01", "2010-03-01"]),
        ("茶叶法最新版本", ["2025-10-01", "2010-03-01"]),
        ("茶叶法(2010)", ["2010-03-01"]),
        ("旧茶叶法第三条", ["2010-03-01"]),
        ("茶叶法第三条（2025修订）", ["2025-10-01"]),
        ("茶叶法第三条修订前怎么规定", ["2010-03-01"]),
        ("茶叶法第三条 2025修订", ["2025-10-01"]),
        ("茶叶法第三条在2015年是怎么规定的", ["2010-03-01"]),
        ("茶叶法第三条 2027-06-01", ["2025-10-01"]),
        ("茶叶法第三条 2026年12月31日", ["2010-03-01"]),
        ("茶叶法第三条 旧法", ["2010-03-01"]),
        ("2015年时茶叶法第三条", ["2010-03-01"]),
        ("2027年以前茶叶法第三条", ["2010-03-01"]),
        ("茶叶法第三条 2015年新规", ["2010-03-01"]),
        ("新旧茶叶法第三条对比", ["2025-10-01", "2010-03-01"]),
        ("茶叶法新旧对比", ["2025-10-01", "2010-03-01"]),
    ],
)
def test_the_edition_that_is_asked_for(ask: RegulationSearch, query: str, versions: list[str]) -> None:
    assert [result.version for result in ask.search(query).results] == versions


@pytest.mark.parametrize(
    "query",
    [
        "旧水壶法第一条",
        "1999年茶叶法第三条",
        "茶叶法（2018修正）",
        "旧水壶法",
        "茶叶法第三条 2018修正",
        "茶叶法第三条 1999-01-01",
        "水壶法第一条 旧法",
        "2010年以前茶叶法第三条",
    ],
)
def test_an_edition_that_is_not_there_is_not_replaced(ask: RegulationSearch, query: str) -> None:
    answer = ask.search(query)
    assert answer.results == ()
    assert "版本，已有：" in said(answer)[0]
    assert not answer.final  # the web may have it


@pytest.mark.parametrize("query", ["茶叶法第三条 2025年", "2025年茶叶法", "茶叶法第三条 2025年10月1日"])
def test_a_text_of_a_year_in_which_it_did_not_hold_yet(ask: RegulationSearch, query: str) -> None:
    answer = ask.search(query, "2027-06-01")
    assert [(result.version, result.status) for result in answer.results] == [("2025-10-01", "现行有效")]
    (note,) = said(answer)
    assert "2025-10-01 公布的版本自 2027-01-01 起施行；2025" in note
    assert note.endswith("有效的是 2010-03-01 公布的版本。")
    assert said(ask.search("茶叶法第三条（2025修订）", "2027-06-01")) == ()


@pytest.mark.parametrize(
    ("query", "laws"),
    [
        ("茶叶法全文", ["茶叶法"]),
        ("茶叶法有多少条", ["茶叶法"]),
        ("《茶叶法》什么时候施行的？", ["茶叶法"]),
        ("采茶法现在还有效吗", ["采茶法"]),
        ("采茶法废止了吗", ["采茶法"]),
        ("茶叶法和水壶法", ["茶叶法", "水壶法"]),
    ],
)
def test_laws_as_a_whole(ask: RegulationSearch, query: str, laws: list[str]) -> None:
    answer = ask.search(query)
    assert [result.law_name.removeprefix("中华人民共和国") for result in answer.results] == laws
    assert [result.article_number for result in answer.results] == [""] * len(laws)


def test_words_behind_a_quoted_name_are_searched_for(ask: RegulationSearch) -> None:
    (first, *_) = ask.search("《茶叶法》压低等级收购").results
    assert first.article_number == "第四条之一"


def test_a_law_that_is_gone_is_told_of(ask: RegulationSearch) -> None:
    answer = ask.search("采茶法 采摘时间由谁决定")
    assert answer.results[0].law_name == "中华人民共和国茶叶法"
    assert "《中华人民共和国采茶法》已废止" in said(answer)[0]


def test_both_editions_where_there_is_one(ask: RegulationSearch) -> None:
    answer = ask.search("新旧水壶法第一条对比")
    assert len(answer.results) == 1
    assert "水壶法》修改前的版本" in said(answer)[0]


def test_what_is_cut_is_told(ask: RegulationSearch) -> None:
    answer = ask.search("茶叶法第一条至第四条", limit=2)
    assert len(answer.results) == 2
    assert said(answer)[-1].startswith("共 4 条结果，只列出前 2 条")


def test_two_paragraphs_of_one_article(ask: RegulationSearch) -> None:
    first, second = ask.search("茶叶法第三条第一款和第三条第二款").results
    assert first.excerpt.startswith("茶农有权")
    assert second.excerpt.startswith("采摘时间由")


@pytest.mark.parametrize(
    "query", ["茶叶司法解释（九）", "最高人民法院关于水壶的司法解释", "刑法修正案（十三）", "水壶管理条例"]
)
def test_a_name_that_is_not_there_is_not_answered_with_other_laws(ask: RegulationSearch, query: str) -> None:
    answer = ask.search(query)
    assert all(result.related for result in answer.results)
    assert said(answer)[0].startswith("索引中没有“")


def test_a_number_that_cannot_be_read(ask: RegulationSearch) -> None:
    answer = ask.search("茶叶法第二百六四条")
    assert answer.results == ()
    assert "“第二百六四条”" in said(answer)[0]


def test_traditional_characters(ask: RegulationSearch) -> None:
    assert simplified("中華人民共和國茶葉法第三條") == "中华人民共和国茶叶法第三条"
    (result,) = ask.search("茶葉法第三條").results
    assert result.article_number == "第三条"
    assert ask.search("茶葉法第三條").query == "茶葉法第三條"


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("Article 577 of the PRC Civil Code", ("民法典第577条", True)),
        ("What does art. 19 of China's Labour Contract Law say?", ("劳动合同法第19条", True)),
        ("Articles 577, 578 and 584 of the PRC Civil Code", ("民法典第577、578、584条", True)),
        ("Article 577 and Article 584 of the Civil Code of the PRC", ("民法典第577、584条", True)),
        ("PRC civil code articles 577 to 580", ("民法典第577至580条", True)),
        ("Article 133-1 of the PRC Criminal Law", ("刑法第133-1条", True)),
        ("Article 16 of the PRC Arbitration Law (2017)", ("仲裁法（2017）第16条", True)),
        ("old PRC Arbitration Law article 16", ("旧仲裁法第16条", True)),
        ("Civil Code article 577", ("民法典第577条", False)),
        ("PIPL article 13", ("个人信息保护法第13条", False)),
        ("company law of the People's Republic of China", ("公司法", True)),
        ("German Civil Code article 823", None),
        ("US Constitution article 1", None),
        ("constitution of the united states article 1", None),
        ("Republic of China criminal code article 271", None),
        ("China labor contract law probation period", None),
        ("PRC Civil Code art 577 and PRC Criminal Law art 232", None),
        ("civil code", None),
        ("民法典 article 5", None),
    ],
)
def test_english_names(query: str, meant: tuple[str, bool] | None) -> None:
    assert from_english(query) == meant


@pytest.mark.parametrize("query", ["第五百七七条", "第577条", "第三条、第四条", "第 三 条？"])
def test_a_number_alone_is_told_to_lack_its_law(ask: RegulationSearch, query: str) -> None:
    answer = ask.search(query)
    assert answer.results == ()
    assert said(answer)[0].startswith("没有指明是哪部法律的第")


def test_words_beside_a_number_that_is_none(ask: RegulationSearch) -> None:
    answer = ask.search("第五百七七条 水壶漏水")
    assert answer.results[0].law_name == "水壶法"
    assert "第五百七七条，以下按文字检索" in said(answer)[0]
    both = ask.search("茶叶法第三条怎么说？第五百七七条呢")
    assert [result.article_number for result in both.results] == ["第三条"]
    assert "没有“第五百七七条”" in said(both)[1]


@pytest.mark.parametrize(
    "query",
    [
        "德国民法典",
        "日本《水壶法》",
        "英国茶叶法第三条",
        "茶叶法（草案）第三条",
        "加州茶叶法第三条",
        "加州茶叶法",
        "茶叶法（日本）",
        "根据日本法律，茶叶法第三条怎么规定",
        "茶叶法第三条（日本）",
    ],
)
def test_the_law_of_others_and_drafts(ask: RegulationSearch, query: str) -> None:
    answer = ask.search(query)
    assert answer.results == ()
    assert said(answer)[0].startswith("索引中没有")


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ("茶叶法第三条 我在日本留学", ("按中国法律理解，没有收录日本的法律。",)),
        ("茶叶法第三条 日本企业适用吗", ("按中国法律理解，没有收录日本的法律。",)),
        ("茶叶法第三条 香港", ("按内地法律理解，没有收录香港的法律。",)),
        ("茶叶法第三条 香港企业适用吗", ()),
        ("茶叶法第三条", ()),
    ],
)
def test_a_question_that_speaks_of_others_is_told_whose_law_it_gets(
    ask: RegulationSearch, query: str, notes: tuple[str, ...]
) -> None:
    answer = ask.search(query)
    assert [result.article_number for result in answer.results] == ["第三条"]
    assert said(answer) == notes


def test_a_law_is_kept_for_the_next_sentence(ask: RegulationSearch) -> None:
    answer = ask.search("茶叶法第三条规定了什么？第二条呢？")
    assert [result.article_number for result in answer.results] == ["第三条", "第二条"]
    assert said(answer) == ("把第二条理解为《茶叶法》的条文。",)


def test_one_of_ours_and_one_of_others(ask: RegulationSearch) -> None:
    answer = ask.search("茶叶法和德国民法典")
    assert [result.law_name for result in answer.results] == ["中华人民共和国茶叶法"]
    assert said(answer) == ("索引中没有《德国民法典》，没有收录该法域的法律。",)


@pytest.mark.parametrize(
    ("query", "pinned"),
    [
        ("请问第三条在茶叶法中怎么规定的", True),
        ("茶叶法里关于告知的第三条", True),
        ("采摘合同里第三条违反茶叶法吗", False),
        ("采摘合同 第三条、第四条是否违反茶叶法", False),
        ("GDPR第3条和茶叶法有什么不同", False),
        ("茶农守则第3条符合茶叶法吗", False),
        ("茶园规矩第3条符合茶叶法吗", False),
    ],
)
def test_a_number_far_from_its_law(ask: RegulationSearch, query: str, pinned: bool) -> None:
    answer = ask.search(query)
    assert ("把第三条理解为《茶叶法》的条文。" in said(answer)) == pinned
    assert answer.final == pinned


@pytest.mark.parametrize(
    "query",
    [
        "茶叶法第577条 1 、 2 、 3 、 4 、 5 、 6 、 7 、 8 、 9 、 10",
        "茶叶法第1条 " + "一, " * 200 + "x",
        "茶叶法第" + "1 、 " * 500 + "1条",
        "茶叶法第" + "1 、 " * 500 + "x",
        "法" * 4000,
        "茶叶法" * 1300,
        "1条" * 2000,
        "第三条第二款第（一）" * 300,
        "(" * 4000,
        "《" * 2000 + "》" * 2000,
        "\ud800茶叶法第三条",
        "茶叶法第三条" + " ,?" * 1300,
        "茶叶法第三条 2018年" + "和与及" * 1300 + "条",
        "茶叶法第三条 2018年" * 100,
        "2018年" * 900 + "茶叶法第三条",
        "2018-10-26" * 400 + "茶叶法第三条",
        "茶叶法第三条（2018" + "修正" * 1900,
        "日本" * 1900 + "茶叶法第三条",
        "朝鲜" + "人民主义" * 900 + "茶叶法第三条",
        "日本" + "的里中法律" * 700 + "茶叶法第三条",
        "茶叶法第三条" + "在日本的法律" * 600,
        "茶叶法第三条 日本" + " ?" * 1900 + "x",
        "茶叶法第三条、" * 100 + "2018年",
    ],
)
def test_no_question_takes_long(ask: RegulationSearch, query: str) -> None:
    started = time.process_time()
    ask.search(query[:4000])
    looks_legal(query)
    assert time.process_time() - started < 1


def test_the_limit_has_a_limit(ask: RegulationSearch) -> None:
    assert len(ask.search("第三条 茶农", limit=100_000).results) <= 50


@pytest.mark.parametrize("query", ["1", "{{7*7}}", "hello world 19", "🍵"])
def test_what_holds_no_chinese_finds_nothing(ask: RegulationSearch, query: str) -> None:
    assert ask.search(query).results == ()
