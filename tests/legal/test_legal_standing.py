"""How a law stands on a day: days of effect, repeals, amendments, gaps of the source. The laws are invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from qiusuo.legal.models import ArticleDraft, ArticleNumber, LawDocument
from qiusuo.legal.reading.amendments import amended_articles, amended_names, own_words, with_quoted_articles_rejoined
from qiusuo.legal.reading.numbers import read_label
from qiusuo.legal.tools import regulations_text
from tests.support.legal_samples import Statute, build, opened, said, write_statutes

pytest_plugins = ["tests.support.legal_fixtures"]

SOURCE_DAY = "2024-05-01"
AT_ONCE = "本法自公布之日起施行。"
LANTERN_ITEMS = (
    ("条目一", '将灯塔法第二条修改为："灯塔每夜点亮。\n"依照本法第四条的规定熄灭。"'),
    ("条目二", '在灯塔法第三条后增加一条，作为第三条之一："灯塔应当有人看守。"'),
    ("条目三", "本修正案自2021年1月1日起施行。"),
)
STATUTES = (
    Statute("中华人民共和国茶具法", "2020-06-01", "2020-06-01", (("第一条", "茶具应当洁净。"), ("第二条", AT_ONCE))),
    Statute(
        "大会关于修改《中华人民共和国茶具法》的决定",
        "2020-06-01",
        "2020-09-01",
        (("条目一", '将第一条修改为："茶具应当洁净。"'), ("条目二", "本决定自2020年9月1日起施行。")),
        kind="修改决定",
    ),
    Statute("中华人民共和国筷子法", "2020-06-01", "2020-06-01", (("第一条", "筷子成双。"), ("第二条", AT_ONCE))),
    Statute(
        "中华人民共和国渡船法",
        "2001-03-01",
        "2001-06-01",
        (("第一条", "渡船不得超载，摆渡人应当备有救生衣。"), ("第三条", "渡船每年检验。")),
        status="已废止",
    ),
    Statute(
        "中华人民共和国灯塔法",
        "2015-03-01",
        "2015-06-01",
        tuple((f"第{number}条", f"灯塔之{number}。") for number in "一二三四"),
        status="已被修改",
    ),
    Statute("中华人民共和国灯塔法修正案（二）", "2020-11-01", "2021-01-01", LANTERN_ITEMS, kind="修正案"),
    Statute("中华人民共和国风车法", "1982-12-04", "1982-12-04", (("第一条", "风车朝东。"), ("第二条", "风车有四翼。"))),
    Statute(
        "中华人民共和国风车法修正案（1990年）",
        "1990-04-12",
        "1990-04-12",
        (("第一条", '风车法第一条"风车朝东。"修改为："风车朝西。"'),),
    ),
    Statute("中华人民共和国风车法", "2018-03-11", "2018-03-11", (("第一条", "风车朝西。"), ("第二条", "风车有四翼。"))),
    Statute("中华人民共和国算盘法", "2000-03-01", "2000-03-01", (("第一条", "算盘有珠。"),), status="已废止"),
    Statute(
        "中华人民共和国计数法",
        "2020-08-01",
        "2021-01-01",
        (("第一条", "本法自2021年1月1日起施行。《中华人民共和国算盘法》同时废止。"),),
    ),
    Statute(
        "中华人民共和国烛台法",
        "2016-03-01",
        "2016-06-01",
        (("第一条", "烛台应当稳固。"), ("第二条", "（删去）"), ("第三条", "删去蜡烛的，应当灭火。")),
    ),
    Statute("中华人民共和国钟表法", "2018-12-29", "1995-01-01", (("第一条", "钟表准时。"),)),
    Statute("中华人民共和国邮差法", SOURCE_DAY, "2024-08-01", (("第一条", "邮差送信。"),)),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LegalIndex:
    folder = tmp_path_factory.mktemp("standing")
    build(folder / "index", write_statutes(folder / "laws.db", STATUTES))
    return opened(folder / "index").get()


@pytest.fixture
def ask(index: LegalIndex, samples: IndexHandle) -> RegulationSearch:
    return RegulationSearch(index, samples.today)


@pytest.fixture
def tea(samples: IndexHandle) -> RegulationSearch:
    return RegulationSearch(samples.get(), samples.today)


def first(search: RegulationSearch, query: str, day: str | None = None) -> LawDetails:
    return search.search(query, day).results[0]


def in_one(result: LawDetails) -> str:
    return "\n".join(said(result))


class TestDaysOfEffect:
    def test_a_decision_of_the_same_day_knows_better_than_the_day_of_publication(self, ask: RegulationSearch) -> None:
        assert first(ask, "茶具法第一条").effective_date == "2020-09-01"
        assert ask.search("茶具法第一条", "2020-07-01").results == ()
        assert first(ask, "茶具法第一条", "2020-09-01").status == "现行有效"

    def test_a_law_that_begins_with_its_publication_stays(self, ask: RegulationSearch) -> None:
        assert first(ask, "筷子法第一条").effective_date == "2020-06-01"
        assert said(first(ask, "筷子法第一条")) == ()

    def test_a_day_of_publication_is_never_called_the_day_of_effect(self, ask: RegulationSearch) -> None:
        answer = ask.search("钟表法第一条")
        [result] = answer.results
        assert (result.effective_date, result.to_dict()["dateBasis"]) == ("2018-12-29", "published")
        assert "以公布日期代替" in in_one(result)
        assert "第一条（现行有效，2018-12-29 公布）" in regulations_text(answer)
        assert "dateBasis" not in first(ask, "筷子法第一条").to_dict()

    def test_deriving_again_changes_nothing(self, index: LegalIndex, tmp_path: Path) -> None:
        file = write_statutes(tmp_path / "laws.db", STATUTES)
        build(tmp_path / "index", file)
        build(tmp_path / "index", file)
        again = opened(tmp_path / "index").get().store
        days = {(version.law.name, version.published): version.effective for version in again.versions.values()}
        assert days == {(known.law.name, known.published): known.effective for known in index.store.versions.values()}


class TestTheWordOfASource:
    """渡船法: the source says 已废止, without a day, a reason or a successor."""

    def test_on_its_own_day_it_counts_and_is_told_as_its_word(self, ask: RegulationSearch) -> None:
        for day in (None, SOURCE_DAY):
            result = first(ask, "渡船法第一条", day)
            assert result.status == "已废止"
            assert said(result) == ("来源标为已废止，未给出日期和依据，请核对。",)

    def test_it_says_nothing_of_earlier_days(self, ask: RegulationSearch) -> None:
        result = first(ask, "渡船法第一条", "2010-01-01")
        assert result.status == "现行有效"
        assert "2010-01-01 是否已废止不详" in in_one(result)

    def test_words_find_the_law_with_the_note(self, ask: RegulationSearch) -> None:
        result = first(ask, "摆渡人救生衣")
        assert result.law_name.endswith("渡船法")
        assert "来源标为已废止" in in_one(result)


class TestAmendments:
    """灯塔法 of 2015 and an amendment of 2021, no text that holds both; 风车法 has one, of 2018."""

    def test_an_amended_article_comes_with_its_new_wording(self, ask: RegulationSearch) -> None:
        result, change = ask.search("灯塔法第二条").results
        assert (result.content, result.status) == ("灯塔之二。", "已修改")
        assert in_one(result) == (
            "本条已被《中华人民共和国灯塔法修正案（二）》条目一修改（2021-01-01 起施行），修改后的文字见该条。"
        )
        assert (change.law_name, change.article_number) == ("中华人民共和国灯塔法修正案（二）", "条目一")
        assert change.to_dict()["amends"] == "中华人民共和国灯塔法第二条"
        assert ask.search("灯塔法第二条", limit=1).results == (result, change), "never the old text alone"
        assert "灯塔每夜点亮" in change.content

    def test_so_it_does_where_words_find_it(self, ask: RegulationSearch) -> None:
        found = [(result.law_name, result.article_number) for result in ask.search("灯塔之二").results]
        place = found.index(("中华人民共和国灯塔法", "第二条"))
        assert found[place + 1] == ("中华人民共和国灯塔法修正案（二）", "条目一")
        assert len(set(found)) == len(found)

    @pytest.mark.parametrize("number", ["一", "三", "四"])
    def test_an_article_that_it_leaves_alone_is_in_force(self, ask: RegulationSearch, number: str) -> None:
        result = first(ask, f"灯塔法第{number}条")
        assert result.status == "现行有效"
        assert in_one(result).endswith("（2021-01-01 起施行）没有提到本条。")

    def test_before_its_day_nobody_is_told_of_it(self, ask: RegulationSearch) -> None:
        for query in ("灯塔法第二条", "灯塔法"):
            result = first(ask, query, "2020-12-31")
            assert (result.status, said(result)) == ("现行有效", ())

    def test_the_law_as_a_whole_is_amended(self, ask: RegulationSearch) -> None:
        result = first(ask, "灯塔法")
        assert result.status == "已修改"
        assert "索引中没有合并后的文本" in in_one(result)

    @pytest.mark.parametrize(
        ("day", "status", "note"),
        [("1985-01-01", "现行有效", ""), ("1995-01-01", "已修改", "风车朝西"), ("2019-01-01", "现行有效", "")],
    )
    def test_the_day_decides_which_amendments_count(
        self, ask: RegulationSearch, day: str, status: str, note: str
    ) -> None:
        result, *changes = ask.search("风车法第一条", day).results
        assert result.status == status
        assert ("修正案" in in_one(result)) == bool(note)
        assert [note in change.content for change in changes] == ([True] if note else [])

    def test_a_text_that_a_newer_one_replaced_is_told_of_that_one(self, ask: RegulationSearch) -> None:
        result = first(ask, "风车法（1982年公布）第一条")
        assert (result.status, result.version) == ("已修改", "1982-12-04")
        assert said(result) == ("已有新版本（2018-03-11 公布，2018-03-11 起施行）。",)


class TestOtherDays:
    def test_a_repealed_law_without_text_was_in_force_before(self, tea: RegulationSearch) -> None:
        before = tea.search("采茶法第一条", "2009-01-01")
        assert (before.results[0].status, before.results[0].successor) == ("现行有效", "")
        assert "当时有效（自 2010-07-01 起废止，由《中华人民共和国茶叶法》取代" in said(before)[0]
        assert "索引中没有它的条文" in said(before)[0]
        assert first(tea, "采茶法第一条", "2010-07-01").status == "已废止"

    def test_a_dated_repeal_is_told_before_and_after(self, ask: RegulationSearch) -> None:
        before, after = first(ask, "算盘法第一条", "2020-12-31"), first(ask, "算盘法第一条", "2021-01-01")
        assert (before.status, before.successor) == ("现行有效", "")
        assert said(before) == ("自 2021-01-01 起废止，由《中华人民共和国计数法》取代。",)
        assert (after.status, after.successor) == ("已废止", "中华人民共和国计数法")
        assert said(after) == ("《中华人民共和国算盘法》已废止（自 2021-01-01 起），由《中华人民共和国计数法》取代。",)

    def test_a_law_that_repealed_another_did_not_hold_before(self, tea: RegulationSearch) -> None:
        assert first(tea, "合同法第107条", "2019-06-01").status == "现行有效"
        assert first(tea, "合同法第107条", "1999-01-01").status == "尚未生效"

    def test_the_text_of_an_earlier_day_is_not_in_the_index(self, tea: RegulationSearch) -> None:
        for query, day in (("茶叶法第三条", "2005-01-01"), ("茶叶法第三条", "2010-05-01"), ("茶叶法", "2005-01-01")):
            answer = tea.search(query, day)
            assert (answer.results, answer.final) == ((), False)
            (note,) = said(answer)
            assert note == f"索引中没有《中华人民共和国茶叶法》{day} 有效的版本，已有：2010-03-01、2025-10-01。"

    def test_words_on_a_day_of_which_the_index_has_little(self, ask: RegulationSearch) -> None:
        assert "只有 1 部" in said(ask.search("风车朝东", "1983-01-01"))[0]
        assert said(ask.search("风车朝西")) == ()


class TestDeletedArticles:
    def test_a_deleted_article_does_not_hold(self, ask: RegulationSearch) -> None:
        result = first(ask, "烛台法第二条")
        assert (result.status, result.content, result.successor) == ("已废止", "（删去）", "")
        assert said(result) == ("本条已删去。",)

    def test_the_others_do(self, ask: RegulationSearch) -> None:
        for query in ("烛台法第一条", "烛台法第三条", "烛台法"):
            assert (first(ask, query).status, said(first(ask, query))) == ("现行有效", ())

    def test_before_its_day_it_is_not_in_force_either(self, ask: RegulationSearch) -> None:
        result = first(ask, "2016年烛台法第二条", "2016-04-01")
        assert result.status == "尚未生效"
        assert said(result)[0] == "本条已删去。"


class TestGaps:
    def test_a_number_between_others_is_missing_in_the_source(self, ask: RegulationSearch) -> None:
        answer = ask.search("渡船法第二条")
        assert answer.results == ()
        assert said(answer)[0].startswith("来源缺《中华人民共和国渡船法》（2001-03-01）第二条")
        assert "没有第九条" in said(ask.search("渡船法第九条"))[0]
        assert "没有第一条之一" in said(ask.search("渡船法第一条之一"))[0]

    def test_a_range_mentions_what_is_missing(self, ask: RegulationSearch) -> None:
        answer = ask.search("渡船法第一条至第三条")
        assert [result.article_number for result in answer.results] == ["第一条", "第三条"]
        assert any("来源缺" in note and "第二条" in note for note in said(answer))


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("中华人民共和国刑法修正案（十二）", ["中华人民共和国刑法"]),
        ("中华人民共和国刑法修正案", ["中华人民共和国刑法"]),
        ("大会关于修改《中华人民共和国茶具法》的决定", ["中华人民共和国茶具法"]),
        ("大会关于修改《茶具法》、《渡船法》的决定", ["茶具法", "渡船法"]),
        ("大会关于修改部分法律的决定", []),
        ("中华人民共和国茶具法", []),
    ],
)
def test_what_a_document_amends(name: str, laws: list[str]) -> None:
    assert amended_names(name) == laws


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('将刑法第三百九十条修改为："依照第三百八十三条处罚。"', [(390, 0)]),
        ('在刑法第一百三十三条后增加一条，作为第一百三十三条之一："……"', [(133, 1)]),
        ('第十条第二款后增加一款，作为第三款："……"', [(10, 0)]),
        ('将第六条改为第八条，第二款修改为："……"', [(6, 0)]),
        ("增加三条，分别作为第四十四条、第四十五条、第四十六条：", []),
        ("在第八十一条、第八十二条中的“甲”后增加“乙”。", [(81, 0), (82, 0)]),
        ("将茶具法第三条修改为：“……”", []),
        ("本修正案自公布之日起施行。", []),
    ],
)
def test_which_articles_an_item_changes(text: str, numbers: list[tuple[int, int]]) -> None:
    laws = {"刑法": (1,), "茶具法": (2,)}
    found = list(amended_articles(text, 1, lambda name: laws.get(name, ())))
    assert found == [(ArticleNumber(*number), ArticleNumber(*number)) for number in numbers]


def test_quotations_of_several_lines_are_closed_once() -> None:
    assert own_words('甲："一\n（一）二\n"三"乙“丁”丙') == '甲："\n\n""乙“”丙\n'


def test_articles_that_an_amendment_quotes_are_none_of_its_own() -> None:
    texts = {
        "第五十一条": "修改第四条。",
        "第五十二条": "增加两条，作为第九条、第十条：",
        "第九条": "九。",
        "第十条": "十。",
    }
    drafts = tuple(ArticleDraft(label, text, read_label(label)) for label, text in texts.items())
    joined = with_quoted_articles_rejoined(LawDocument("宪章修正案（2018年）", drafts)).articles
    assert [draft.label for draft in joined] == ["第五十一条", "第五十二条"]
    assert joined[1].text.endswith("\n第九条　九。\n第十条　十。")
    assert with_quoted_articles_rejoined(LawDocument("宪章", drafts)).articles == drafts
