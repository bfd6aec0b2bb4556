"""caseSearch and caseDetail: fields, filters, numbers, and what must not be shown."""

from __future__ import annotations

import pytest

from legal_samples import JUDGMENT
from qiusuo.errors import InvalidQuery
from qiusuo.legal.cases import CaseFilters, CaseSearch
from qiusuo.legal.dates import all_days, read_day
from qiusuo.legal.index import IndexHandle
from qiusuo.legal.judgments import build_case, case_number, case_type
from qiusuo.legal.privacy import mask_text, masked_name, people_in

pytest_plugins = ["legal_fixtures"]

SEED_FIELDS = {"caseNumber", "caseName", "court", "date", "caseType", "summary", "verdict", "url"}


@pytest.fixture
def ask(samples: IndexHandle) -> CaseSearch:
    return CaseSearch(samples.get())


def test_words_find_the_like_case(ask: CaseSearch) -> None:
    answer = ask.search("偷茶叶", limit=1)
    data = answer.results[0].to_dict()
    assert data["caseNumber"] == "（2020）某0102刑初1号"
    assert set(data) >= SEED_FIELDS
    assert data["caseType"] == "刑事"
    assert data["verdict"] == "被告人赵某某犯盗窃罪，判处拘役三个月。"


def test_filters(ask: CaseSearch) -> None:
    assert {result.case_type for result in ask.search("茶叶 茶款", CaseFilters("民事")).results} == {"民事"}
    assert [result.court for result in ask.search("盗窃", CaseFilters(court="清水市", case_type="刑事")).results] == [
        "某省清水市人民法院"
    ]
    assert ask.search("茶款", CaseFilters(date_from="2019-01-01", date_to="2019-12-31")).results
    assert ask.search("茶款", CaseFilters(date_from="2020-01-01")).results == ()
    for wrong in (CaseFilters("烹饪"), CaseFilters(date_from="soon")):
        with pytest.raises(InvalidQuery):
            ask.search("茶款", wrong)


@pytest.mark.parametrize("number", ["（2019）某01民终88号", "(2019)某01民终88号", "〔2019〕某01民终88号"])
def test_a_case_by_its_number(ask: CaseSearch, number: str) -> None:
    (result,) = ask.search(number).results
    assert result.case_number == "（2019）某01民终88号"
    (whole,) = ask.detail(number).results
    assert "驳回上诉" in whole.text
    assert ask.detail(result.id).results == (whole,)


def test_an_unknown_number_is_said(ask: CaseSearch) -> None:
    answer = ask.search("（1999）某01民终1号")
    assert (answer.results, answer.final) == ((), False)
    assert "（1999）" in answer.notes[0]
    assert ask.detail("987654").notes


def test_personal_data_is_masked_by_default(samples: IndexHandle, ask: CaseSearch) -> None:
    (shown,) = ask.detail("（2019）某01民终88号").results
    text = repr(shown)
    for secret in ("李四海", "王小明", "110101198005081234", "13812345678", "茶园路", "5月8日出生"):
        assert secret not in text, secret
    assert "李某某" in text
    (open_,) = CaseSearch(samples.get(), masked=False).detail("（2019）某01民终88号").results
    assert "李四海" in open_.text


def test_metadata_is_read_out_of_the_text() -> None:
    case = build_case({"text": JUDGMENT, "name": "李四海与王小明买卖合同纠纷二审民事判决书"})
    assert (case.court, case.number, case.case_type, case.procedure, case.date) == (
        "某省清水市中级人民法院",
        "（2019）某01民终88号",
        "民事",
        "二审",
        "2019-03-01",
    )
    assert case.verdict.startswith("一、驳回上诉")
    assert "终审" not in case.verdict
    assert case.facts.startswith("经审理查明")


def test_the_end_of_a_sentence_is_not_the_day_of_the_judgment() -> None:
    text = "判决如下：被告人犯盗窃罪，判处拘役。（即自2016年1月18日起至2031年1月17日止。）"
    assert build_case({"text": text}).date == ""


@pytest.mark.parametrize(
    ("title", "number", "kind"),
    [
        ("x刑事附带民事判决书", "", "刑事"),
        ("", "（2020）最高法行再1号", "行政"),
        ("", "（2020）沪执1号", "执行"),
        ("", "（2020）法委赔1号", "国家赔偿"),
        ("x", "", ""),
    ],
)
def test_types(title: str, number: str, kind: str) -> None:
    assert case_type(title, number) == kind


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("二〇一六年三月一日", "2016-03-01"),
        ("二○一六年十二月三十一日", "2016-12-31"),
        ("二零二零年元月十日", "2020-01-10"),
        ("2021年1月1日", "2021-01-01"),
        ("２０２１年１月１日", "2021-01-01"),
        ("2021-02-30", ""),
        ("", ""),
    ],
)
def test_days(text: str, day: str) -> None:
    assert read_day(text) == day


def test_all_days_in_order() -> None:
    assert all_days("自2016年1月18日起至二〇一七年一月十七日止") == ["2016-01-18", "2017-01-17"]


def test_numbers_of_cases() -> None:
    assert case_number("见（2015）旅刑初字第346号判决") == "（2015）旅刑初字第346号"
    assert case_number("第346号") == ""


def test_masking_rules() -> None:
    assert masked_name("欧阳小明") == "欧阳某某"
    assert masked_name("帕如克·帕尔哈提") == "帕某某"
    assert people_in("被告人帕如克·帕尔哈提醉酒驾驶，被害人刘超，公诉机关某检察院，被告某某公司") == (
        "刘超",
        "帕如克·帕尔哈提",
    )
    assert (
        mask_text("账号6222021234567890123，a.b@c.cn，京A12345，010-12345678")
        == "账号6222****123，***@***，京A*****，010-****5678"
    )
