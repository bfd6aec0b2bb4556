"""regulationSearch: the right article of the right version, or a clear word why not."""

from __future__ import annotations

import pytest

from qiusuo.errors import InvalidQuery
from qiusuo.legal.answers.finding.regulations import Answer, RegulationSearch
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.index.handle import IndexHandle, law_prior
from qiusuo.legal.models import LawKind
from qiusuo.legal.reading.paragraphs import paragraphs_of
from tests.support.legal_samples import said

pytest_plugins = ["tests.support.legal_fixtures"]

SEED_FIELDS = {"lawName", "articleNumber", "content", "effectiveDate", "source"}


@pytest.fixture
def ask(samples: IndexHandle) -> RegulationSearch:
    return RegulationSearch(samples.get(), samples.today)


def only(answer: Answer) -> LawDetails:
    (result,) = answer.results
    return result


@pytest.mark.parametrize("query", ["茶叶法第三条", "《中华人民共和国茶叶法》第3条", "请问茶叶法第 三 条是什么"])
def test_an_article_by_its_number(ask: RegulationSearch, query: str) -> None:
    answer = ask.search(query)
    result = only(answer)
    assert answer.final
    assert (result.law_name, result.article_number) == ("中华人民共和国茶叶法", "第三条")
    assert result.content.startswith("茶农有权自行决定采摘时间。")
    assert (result.status, result.version, result.effective_date) == ("现行有效", "2010-03-01", "2010-07-01")
    assert result.chapter == "第二章 茶农的权利"
    assert set(result.to_dict()) >= SEED_FIELDS
    assert any("2027-01-01" in note for note in said(result))


def test_paragraphs_and_items(ask: RegulationSearch) -> None:
    assert only(ask.search("茶叶法第三条第一款")).excerpt == "茶农有权自行决定采摘时间。"
    assert only(ask.search("茶叶法第三条第二款第（二）项")).excerpt == "（二）秋茶应当提前五日告知。"
    assert only(ask.search("茶叶法第三条第（一）项")).excerpt == "（一）春茶应当提前十日告知；"
    missing = only(ask.search("茶叶法第三条第七款"))
    assert (missing.excerpt, said(missing)[-1]) == ("", "该条只有 2 款，没有第 7 款。")


def test_versions_by_day_and_by_year(ask: RegulationSearch) -> None:
    later = only(ask.search("茶叶法第三条", as_of="2027-06-01"))
    assert (later.version, later.status) == ("2025-10-01", "现行有效")
    assert "采摘时间和方式" in later.content
    named = only(ask.search("茶叶法（2025修订）第三条"))
    assert (named.version, named.status) == ("2025-10-01", "尚未生效")
    old = only(ask.search("茶叶法（2010年修正）第三条", as_of="2027-06-01"))
    assert (old.version, old.status) == ("2010-03-01", "已修改")
    none = ask.search("茶叶法（1999修正）第三条")
    assert none.results == ()
    assert "1999" in said(none)[0]


def test_cited_articles_in_brief(ask: RegulationSearch) -> None:
    cited = only(ask.search("茶叶法第四条")).cited
    assert [(item.law_name, item.article_number) for item in cited] == [
        ("中华人民共和国茶叶法", "第三条"),
        ("水壶法", "第二条"),
    ]
    assert cited[1].brief.startswith("水壶漏水的")


def test_a_repealed_law_says_so_and_names_its_successor(ask: RegulationSearch) -> None:
    answer = ask.search("采茶法第一条")
    result = only(answer)
    assert (result.status, result.successor) == ("已废止", "中华人民共和国茶叶法")
    assert "未用其他法律" in said(answer)[0]
    assert only(ask.search("合同法第107条")).successor == "中华人民共和国民法典"


def test_unknown_and_ambiguous_are_said(ask: RegulationSearch) -> None:
    for query in ("茶叶法第九十九条", "茶叶法采茶编司法解释二第三条", "《咖啡法》第一条", "本法第三条"):
        answer = ask.search(query)
        assert answer.results == (), query
        assert said(answer), query
    assert not ask.search("《咖啡法》第一条").final
    assert ask.search("茶叶法第九十九条").final


def test_an_interpretation_by_its_spoken_name(ask: RegulationSearch) -> None:
    assert only(ask.search("茶叶法采摘编司法解释一第25条")).law_name.startswith("最高人民法院")


def test_a_number_without_a_law(ask: RegulationSearch) -> None:
    assert only(ask.search("茶叶法中关于采摘的第三条")).article_number == "第三条"
    assert "哪部法律" in said(ask.search("第三条"))[0]


def test_laws_by_name(ask: RegulationSearch) -> None:
    names = [result.law_name for result in ask.search("茶叶法").results]
    assert names[0] == "中华人民共和国茶叶法"
    assert len(names) == 2
    assert ask.search("《咖啡法》").results == ()
    assert all(result.article_number == "" for result in ask.search("茶叶法").results)


def test_ranges_and_lists(ask: RegulationSearch) -> None:
    found = ask.search("茶叶法第三条至第五条")
    assert [result.article_number for result in found.results] == ["第三条", "第四条", "第四条之一", "第五条"]
    found = ask.search("茶叶法第一条、第二条和水壶法第一条")
    assert [result.law_name for result in found.results][-1] == "水壶法"


def test_words(ask: RegulationSearch) -> None:
    answer = ask.search("水壶漏了怎么办，能要求更换吗")
    assert (answer.results[0].law_name, answer.results[0].article_number) == ("水壶法", "第二条")
    assert answer.results[0].score is not None
    assert {result.version for result in ask.search("茶农采摘时间").results if result.law_name.endswith("茶叶法")} == {
        "2010-03-01"
    }
    assert ask.search("quantum chromodynamics").results == ()


@pytest.mark.parametrize(
    ("query", "as_of", "limit"), [(" ", None, 5), ("x" * 5000, None, 5), ("茶", "yesterday", 5), ("茶", None, 0)]
)
def test_unusable_parameters(ask: RegulationSearch, query: str, as_of: str | None, limit: int) -> None:
    with pytest.raises(InvalidQuery):
        ask.search(query, as_of, limit)


def test_the_prior_knows_kinds_not_laws() -> None:
    assert law_prior(LawKind.STATUTE, 3, 100) > law_prior(LawKind.OTHER, 3, 100)
    assert law_prior(LawKind.STATUTE, 3, 250) == law_prior(LawKind.STATUTE, 3, 1260)


def test_items_belong_to_the_paragraph_before() -> None:
    paragraphs = paragraphs_of("一款：\n（一）甲；\n（二）乙。\n二款。")
    assert [len(paragraph.items) for paragraph in paragraphs] == [2, 0]
