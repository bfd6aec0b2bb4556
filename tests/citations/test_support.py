"""Whether a source says what a sentence says (C6)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.citations import (
    CitationProcessor,
    ClaimPair,
    Evidence,
    LexicalJudge,
    Reason,
    Support,
    Verdict,
    check_support,
    plan_check,
)
from qiusuo.models import SearchResultItem
from tests.support.examples import examples

LAW = "劳动合同期限一年以上不满三年的，试用期不得超过二个月；三年以上固定期限的，试用期不得超过六个月。"
TOWER = (
    "The Eiffel Tower was completed in 1889 by Gustave Eiffel's company. "
    "It is 330 metres tall and does not close in winter. Paris, not Lyon, hosts it."
)
BANK = "中国人民银行决定自2024年2月5日起下调存款准备金率0.5个百分点，本次下调由总行负责实施，不涉及农村信用社。"


def verdict(claim: str, text: str, title: str = "") -> Verdict:
    return LexicalJudge().judge(claim, Evidence(title, text))


SUPPORTED = [
    ("劳动合同期限一年以上不满三年的，试用期不得超过两个月。", LAW),
    ("劳动合同期限一年以上不满三年的，试用期不得超过2个月。", LAW),
    ("The Eiffel Tower was completed in 1889.", TOWER),
    ("It is 330 metres tall.", TOWER),
    ("自2024年2月5日起，存款准备金率下调0.5个百分点。", BANK),
    ("自2024年2月5日起，存款准备金率下调50个基点。", BANK),
]
NOT_FOUND = {
    "number": ("劳动合同期限一年以上不满三年的，试用期不得超过六个月。", LAW, Reason.NUMBER_DIFFERS),
    "unit": ("It is 330 feet tall.", TOWER, Reason.NUMBER_DIFFERS),
    "year": ("The Eiffel Tower was completed in 1899.", TOWER, Reason.NUMBER_DIFFERS),
    "month": ("自2024年3月5日起，存款准备金率下调0.5个百分点。", BANK, Reason.NUMBER_DIFFERS),
    "percent": ("存款准备金率下调0.25个百分点。", BANK, Reason.NUMBER_DIFFERS),
    "english name": ("The Eiffel Tower was completed by Auguste Perret's company.", TOWER, Reason.NAME_DIFFERS),
    "chinese name": ("美联储决定自2024年2月5日起下调存款准备金率。", BANK, Reason.NAME_DIFFERS),
    "negation added": ("本次下调不由总行负责实施。", BANK, Reason.DENIED),
    "negation dropped": ("本次下调涉及农村信用社。", BANK, Reason.DENIED),
    "english negation": ("The Eiffel Tower closes in winter.", TOWER, Reason.DENIED),
    "opposite": ("中国人民银行决定自2024年2月5日起上调存款准备金率。", BANK, Reason.OPPOSITE),
    "doer": ("本次下调由分行负责实施。", BANK, Reason.REPLACED),
    "other topic": ("猫咪不宜喝普通牛奶。", BANK, Reason.NO_PASSAGE),
}


@pytest.mark.parametrize(("claim", "text"), SUPPORTED)
def test_supported(claim: str, text: str) -> None:
    assert verdict(claim, text).support is Support.SUPPORTED


@pytest.mark.parametrize(("claim", "text", "reason"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_not_found(claim: str, text: str, reason: Reason) -> None:
    found = verdict(claim, text)
    assert found.support is Support.NOT_FOUND
    assert reason in found.reasons


TOLD_IN_OTHER_WORDS = {
    "a version in the title": (
        "Python 3.14 正式支持",
        "PEP 779：自由线程的 Python 得到正式支持。",
        "Python 3.14 有什么新变化",
    ),
    "the number in another clause": (
        "打开降噪的话，一次充满电大概只能听5个小时。",
        "在关闭降噪的条件下，单次充满可连续听歌约7小时，配合充电盒总续航约28小时；开启降噪后单次约5小时。",
        "续航说明",
    ),
    "much else is new too": (
        "返回器按计划落在了内蒙古的四子王旗。",
        "嫦娥六号返回器准确着陆于内蒙古四子王旗预定区域。",
        "嫦娥六号",
    ),
    "short for words": (
        "The award may be lost if a student's GPA falls below 3.0.",
        "The Horizon award is renewable, provided the student keeps a grade point average of 3.0 or higher.",
        "Scholarships at Northfield University",
    ),
    "the name does nothing": (
        "Visitors to the British Museum have been able to see the stone for over two centuries.",
        "British troops took it to London, where it has been displayed in the British Museum since 1802.",
        "Rosetta Stone",
    ),
}


@pytest.mark.parametrize(("claim", "text", "title"), TOLD_IN_OTHER_WORDS.values(), ids=TOLD_IN_OTHER_WORDS)
def test_what_is_only_told_in_other_words_is_weak_at_worst(claim: str, text: str, title: str) -> None:
    assert verdict(claim, text, title).support is not Support.NOT_FOUND


def test_a_word_that_was_cut_is_no_contradiction() -> None:
    text = "Throat cancer is a disease of the throat, and most patients are cured."
    assert verdict("Throat cancer is a disease of the throat, and most patients ar…", text).support is Support.SUPPORTED


def test_the_same_number_in_the_other_direction() -> None:
    text = "9月份全国居民消费价格指数同比上涨0.4%，涨幅比上月回落0.2个百分点。"
    found = verdict("9月份全国居民消费价格同比下降0.4%。", text)
    assert found.support is Support.NOT_FOUND
    assert Reason.OPPOSITE in found.reasons
    assert verdict("9月份全国居民消费价格同比上涨0.4%。", text).support is Support.SUPPORTED


def test_detail_that_the_source_lacks_makes_it_weak() -> None:
    found = verdict("The Eiffel Tower was completed in 1889 and weighs 10,100 tonnes.", TOWER)
    assert (found.support, found.reasons) == (Support.WEAK, (Reason.NUMBER_MISSING,))
    found = verdict("存款准备金率下调0.5个百分点，市场人士普遍认为流动性将会更加充裕。", BANK)
    assert found.support is Support.WEAK
    assert Reason.PART_MISSING in found.reasons


def test_best_passage_is_given_for_display() -> None:
    assert verdict("It is 330 metres tall.", TOWER).passage == "It is 330 metres tall and does not close in winter."


def test_other_language_is_never_better_than_weak() -> None:
    assert verdict("埃菲尔铁塔建成于1889年。", TOWER).support is Support.WEAK
    assert verdict("埃菲尔铁塔高324米。", TOWER).support is Support.NOT_FOUND
    assert Reason.OTHER_LANGUAGE in verdict("埃菲尔铁塔建成于1889年。", TOWER).reasons


def test_source_without_text_supports_nothing() -> None:
    assert verdict("It is 330 metres tall.", "").support is Support.NOT_FOUND


PROCESSOR = CitationProcessor(
    [SearchResultItem("铁塔", "https://a.cn", TOWER[:68]), SearchResultItem("央行", "https://b.cn", BANK)]
)
ANSWER = "The Eiffel Tower was completed in 1889 [1]. 存款准备金率下调0.25个百分点[2]。The tower is tall [7]."


def test_each_cited_sentence_is_checked() -> None:
    report = check_support(ANSWER, PROCESSOR)
    assert [(check.claim.numbers, check.support.value) for check in report.claims] == [
        ((1,), "supported"),
        ((2,), "not_found"),
    ]
    assert report.counts == {"supported": 1, "weak": 0, "not_found": 1}


def test_report_is_the_same_for_the_converted_answer() -> None:
    supports = [check.support for check in check_support(ANSWER, PROCESSOR).claims]
    assert [check.support for check in check_support(PROCESSOR.convert(ANSWER), PROCESSOR).claims] == supports


def test_reader_is_told_whether_only_a_snippet_was_seen() -> None:
    answer = "It is 330 metres tall and does not close in winter [1]."
    (seen,) = check_support(answer, PROCESSOR).claims
    assert (seen.support, seen.citations[0].snippet_only) == (Support.NOT_FOUND, True)
    (read,) = check_support(answer, PROCESSOR, pages={1: TOWER}).claims
    assert (read.support, read.citations[0].snippet_only) == (Support.SUPPORTED, False)


def test_sources_may_support_a_sentence_together() -> None:
    processor = CitationProcessor(
        [
            SearchResultItem("塔", "https://a.cn", "铁塔高330米。"),
            SearchResultItem("塔", "https://b.cn", "铁塔建成于1889年。"),
        ]
    )
    (check,) = check_support("铁塔高330米，建成于1889年[1][2]。", processor).claims
    assert {citation.verdict.support for citation in check.citations} == {Support.WEAK}
    assert check.support is Support.SUPPORTED


def test_report_has_a_json_shape() -> None:
    data = check_support(ANSWER, PROCESSOR).to_dict()
    assert data["counts"]["supported"] == 1
    citation = data["claims"][1]["citations"][0]
    assert citation["number"] == 2
    assert citation["support"] == "not_found"
    assert citation["reasons"] == ["number_differs"]
    assert citation["snippetOnly"] is True
    assert "0.5个百分点" in citation["passage"]


class EverythingIsWeak:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def judge_all(self, pairs: Sequence[ClaimPair]) -> list[Verdict]:
        self.asked += [pair.claim for pair in pairs]
        return [Verdict(Support.WEAK, 0.5) for _ in pairs]


def test_another_judge_can_be_plugged_in() -> None:
    judge = EverythingIsWeak()
    assert check_support(ANSWER, PROCESSOR, judge=judge).counts == {"supported": 0, "weak": 2, "not_found": 0}
    assert judge.asked == ["The Eiffel Tower was completed in 1889", "存款准备金率下调0.25个百分点"]


async def test_a_judge_that_must_be_awaited_works_on_the_plan() -> None:
    plan = plan_check(ANSWER, PROCESSOR)

    async def model(pairs: Sequence[ClaimPair]) -> list[Verdict]:
        return [Verdict(Support.SUPPORTED, 1.0) for _ in pairs]

    assert plan.report(await model(plan.pairs)).counts["supported"] == 2


def test_duplicate_results_are_one_source_in_the_report() -> None:
    processor = CitationProcessor([SearchResultItem("铁塔", "https://a.cn", TOWER)] * 2)
    (check,) = check_support("It is 330 metres tall [1][2].", processor).claims
    assert [citation.number for citation in check.citations] == [1]


@examples(2)
@given(st.text(max_size=120), st.text(max_size=200))
def test_no_text_makes_the_judge_fail(claim: str, text: str) -> None:
    assert 0 <= verdict(claim, text).score <= 1


@given(
    st.lists(
        st.sampled_from(["[1]", "[2]", "[9]", "三百", "不", "Paris", "。", "in 2020", " ", "增长5%", "由", "\n"]),
        max_size=25,
    )
)
def test_no_answer_makes_the_check_fail(pieces: list[str]) -> None:
    check_support("".join(pieces), PROCESSOR)


@pytest.mark.parametrize("unit", ["no ", "三百亿", "1-", "Ab ", "《", "由经", "a", "hundred "])
def test_long_hostile_pages_are_no_trouble(unit: str) -> None:
    check_support("塔高330米，不由三百家公司在 Paris 建成[1]。", PROCESSOR, pages={1: unit * 30_000})


def test_a_number_of_the_title_is_what_the_page_is_about() -> None:
    text = "自由线程构建从 Python 3.14 起不再是实验性的，转为正式支持，但仍然是可选的。"
    row = "自由线程 | 779 | 转为正式支持，仍然可选"
    assert verdict(row, text, "PEP 779 – Criteria for free-threaded Python").support is Support.SUPPORTED
    assert verdict(row, text, "PEP 703 – Making the GIL optional").support is Support.NOT_FOUND
