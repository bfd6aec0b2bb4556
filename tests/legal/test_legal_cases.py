"""caseSearch and caseDetail: fields, filters, numbers, and what must not be shown."""

from __future__ import annotations

import pytest

from qiusuo.errors import InvalidQuery
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.judgments.cases import CaseFilters, CaseSearch
from qiusuo.legal.judgments.judgment_text import build_case, case_number, case_type
from qiusuo.legal.judgments.people import people_in
from qiusuo.legal.judgments.privacy import mask_text, masked_name
from qiusuo.legal.reading.dates import all_days, read_day
from tests.support.legal_samples import JUDGMENT, said

pytest_plugins = ["tests.support.legal_fixtures"]

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


@pytest.mark.parametrize(
    "number",
    [
        "（2019）某01民终88号",
        "(2019)某01民终88号",
        "〔2019〕某01民终88号",
        "[2019] 某01民终88号",
        "2019某01民终88号",
        "2019年某01民终88号",
        "２０１９某０１民终８８号",
        "（2019） 某 01 民终 88 号",
        "2019）某01民终88号",
        "（2019）某01民终88",
        "2019某01民终88",
        "案号：2019某01民终88号",
    ],
)
def test_a_case_by_its_number(ask: CaseSearch, number: str) -> None:
    (result,) = ask.search(number).results
    assert result.case_number == "（2019）某01民终88号"
    (whole,) = ask.detail(number).results
    assert "驳回上诉" in whole.text
    assert ask.detail(result.id).results == (whole,)


def test_an_unknown_number_is_said(ask: CaseSearch) -> None:
    answer = ask.search("（1999）某01民终1号")
    assert (answer.results, answer.final) == ((), False)
    assert "（1999）" in said(answer)[0]
    assert said(ask.detail("987654"))
    for unknown in ("2016京01刑初119号", "2016京01刑初119", "(2016)京01刑初119号"):
        for answer in (ask.search(unknown), ask.detail(unknown)):
            assert answer.results == ()
            assert "没有案号" in said(answer)[0]
            assert "条文" not in "".join(said(answer))


def test_a_number_that_the_filters_exclude_is_said(ask: CaseSearch) -> None:
    answer = ask.search("（2019）某01民终88号", CaseFilters("刑事"))
    assert (answer.results, answer.final) == ((), True)
    assert "不符合" in said(answer)[0]


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


# Where days stand at the end of judgments. 如不服… comes between the sentence and the signatures.
SENTENCE = "（刑期从判决执行之日起计算，即自二〇一六年三月九日起至二〇一八年九月八日止。）"
APPEAL = "如不服本判决，可在接到判决书的第二日起十日内提出上诉。"


@pytest.mark.parametrize(
    ("end", "day"),
    [
        (f"{SENTENCE}\n{APPEAL}", ""),
        (f"{SENTENCE} {APPEAL}", ""),
        (SENTENCE.replace("二〇一八", "二0一八").replace("二〇一六", "二O一六"), ""),
        ("（即自2016年1月18日起至2017年1月17日止。）", ""),
        ("（缓刑考验期限自判决确定之日起计算，至二〇一七年五月一日）", ""),
        ("限于二〇一六年十二月三十一日前付清。", ""),
        ("本案由审判员王一独任审判，于2016年4月2日公开开庭审理，书记员李二担任记录。", ""),
        ("本院审判员王一于二〇一六年四月二日公开开庭。", ""),
        (f"{SENTENCE}\n{APPEAL}\n审　判　长　王一\n人民陪审员　张三\n二〇一六年六月七日\n书记员　赵四", "2016-06-07"),
        (f"{SENTENCE} {APPEAL} 审判长王一 人民陪审员张三 二〇一六年六月七日 代理书记员赵四 附：《某法》", "2016-06-07"),
        (f"{APPEAL}审判长王一审判员李二二○一六年六月十七日书记员赵四", "2016-06-17"),
        (f"{APPEAL}\n审判员　王一\n（院印）\n二Ｏ一六年元月七日\n本件与原本核对无异\n书记员　赵四", "2016-01-07"),
        (f"{APPEAL}\n审判员：王一\n2016年6月7日\n法官助理：李二", "2016-06-07"),
        (f"{APPEAL}\n二〇一六年六月七日\n书记员　赵四", "2016-06-07"),
        (f"{SENTENCE}\n{APPEAL}\n    二〇一六年六月七日\n附：判决书一份", "2016-06-07"),
        (f"{SENTENCE}本判决为终审判决。 二〇一七年六月七日", "2017-06-07"),
        (f"{APPEAL}\n审判员　王一\n二〇一五年六月七日", ""),  # before the case began
        (f"{APPEAL}\n审判员　王一\n二〇二六年六月七日", ""),  # ten years after
        ("审判长王一\n二〇一七年三月三日\n书记员张三\n附：本判决适用的法律\n某法 2016年5月28日通过", "2017-03-03"),
        ("审判员　王一\n二〇一六年三月三日\n书记员　张三\n生效日期：2016年4月1日", "2016-03-03"),
        (f"{APPEAL}\n审判员　于在\n二〇一六年六月七日\n附相关法律条文：\n{'第一条　略。' * 300}", "2016-06-07"),
    ],
)  # fmt: skip
def test_the_day_of_a_judgment_stands_beside_the_signatures(end: str, day: str) -> None:
    text = (
        f"某县人民法院\n刑事判决书\n（2016）某0902刑初46号\n判决如下：\n被告人犯盗窃罪，判处有期徒刑二年六个月。{end}"
    )
    assert build_case({"text": text}).date == day


def test_a_day_that_the_row_states_is_taken() -> None:
    assert build_case({"text": SENTENCE, "date": "2016-05-01"}).date == "2016-05-01"


def test_without_a_case_number_only_a_signed_day_counts() -> None:
    assert build_case({"text": f"{APPEAL}\n二〇一六年六月七日"}).date == ""
    assert build_case({"text": f"{APPEAL}\n审判员　王一\n二〇一六年六月七日"}).date == "2016-06-07"


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
    assert case_number("刑事判决书 2018）湘0422刑初269号 公诉机关") == "（2018）湘0422刑初269号"
    assert case_number("2015旅刑初字346") == "（2015）旅刑初字346号"
    assert case_number("（2016）京01刑初119-1号") == "（2016）京01刑初119-1号"


@pytest.mark.parametrize(
    "text",
    [
        "第346号",
        "法释〔2016〕15号",
        "京某专鉴字（2016）第1号",
        "2016年人民路3号",
        "2016年因民间借贷纠纷住在人民路3号",
        "2016年刑法修正案9",
        "2020新民法典577",
        "刑法2020年第20条",
        "2021年1月1日",
    ],
)
def test_what_is_no_number_of_a_case(text: str) -> None:
    assert case_number(text) == ""


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
