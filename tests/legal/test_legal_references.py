"""References to articles, in every writing that people and laws use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.editions import Edition
from qiusuo.legal.reading.mentions import laws_in
from qiusuo.legal.reading.names import NameTable, name_key
from qiusuo.legal.reading.numbers import article_label, han_of, number_of, read_label
from qiusuo.legal.reading.references import LawMention, LawReference, find_references

NAMES = [
    "中华人民共和国民法典",
    "中华人民共和国劳动合同法",
    "中华人民共和国合同法",
    "中华人民共和国刑法",
    "中华人民共和国刑法修正案",
    "中华人民共和国刑法修正案（十一）",
    "最高人民法院关于适用《中华人民共和国民法典》婚姻家庭编的解释（一）",
    "中华人民共和国消费者权益保护法",
    "最高人民法院关于审理民间借贷案件适用法律若干问题的规定",
    "最高人民法院、最高人民检察院关于办理盗窃刑事案件适用法律若干问题的解释",
    "中华人民共和国公司法",
    "最高人民法院关于适用《中华人民共和国民事诉讼法》的解释",
    "中华人民共和国澳门特别行政区基本法",
    "中华人民共和国香港特别行政区基本法",
]
TABLE = NameTable.build(enumerate(NAMES))
WITHOUT_INTERPRETATION = NameTable.build((place, name) for place, name in enumerate(NAMES) if "婚姻" not in name)


def read(text: str) -> list[LawReference]:
    return find_references(text, TABLE.find)


def law_of(reference: LawReference) -> str:
    return NAMES[reference.law_ids[0]].removeprefix("中华人民共和国") if reference.law_ids else ""


@pytest.mark.parametrize(
    ("text", "law", "number"),
    [
        ("民法典第五百七十七条", "民法典", (577, 0)),
        ("民法典第577条", "民法典", (577, 0)),
        ("民法典第５７７条", "民法典", (577, 0)),
        ("民法典577条", "民法典", (577, 0)),
        ("民法典 第 五百七十七 条", "民法典", (577, 0)),
        ("民法典第一〇四三条", "民法典", (1043, 0)),
        ("《中华人民共和国民法典》第一千零四十三条", "民法典", (1043, 0)),
        ("《中华人民共和国民法典》（以下简称民法典）第二条", "民法典", (2, 0)),
        ("民法典合同编第577条", "民法典", (577, 0)),
        ("民法典第三编第577条", "民法典", (577, 0)),
        ("刑法第一百二十条之一", "刑法", (120, 1)),
        ("刑法133条之1", "刑法", (133, 1)),
        ("刑法第一百三十三之一条", "刑法", (133, 1)),
        ("劳动合同法第39条", "劳动合同法", (39, 0)),
        ("刑法修正案（十一）第五条", "刑法修正案（十一）", (5, 0)),
        ("刑法修正案十一第5条", "刑法修正案（十一）", (5, 0)),
        ("消法第55条", "消费者权益保护法", (55, 0)),
        ("澳门特别行政区基本法第一条", "澳门特别行政区基本法", (1, 0)),
        ("民间借贷司法解释第25条", NAMES[8], (25, 0)),
        ("盗窃司法解释第一条", NAMES[9], (1, 0)),
        ("民诉法解释第90条", NAMES[11], (90, 0)),
        ("民法典婚姻家庭编司法解释一第25条", NAMES[6], (25, 0)),
        ("《最高人民法院关于适用〈中华人民共和国民法典〉婚姻家庭编的解释（一）》第二十五条", NAMES[6], (25, 0)),
        ("《最高人民法院关于适用〈民法典〉婚姻家庭编的解释》（一）第二十五条", NAMES[6], (25, 0)),
    ],
)
def test_one_article(text: str, law: str, number: tuple[int, int]) -> None:
    (reference,) = read(text)
    assert (law_of(reference), reference.number) == (law, number)
    assert reference.certain


@pytest.mark.parametrize(
    ("text", "paragraphs", "items"),
    [
        ("民法典第577条第二款第（二）项", (2,), (2,)),
        ("民法典第1062条第一、四款", (1, 4), ()),
        ("民法典第1062条第一款至第三款", (1, 2, 3), ()),
        ("民法典第1079条第三款第（一）、（三）项", (3,), (1, 3)),
        ("民法典第1079条第3项", (), (3,)),
        ("民法典563条1款2项", (1,), (2,)),
        ("民法典第20条三款", (3,), ()),
        ("民法典第二十条的第三款", (3,), ()),
        ("民法典第二十条，第三款", (3,), ()),
        ("民法典第39条第（二）（三）项", (), (2, 3)),
        ("民法典1062条(一)", (), (1,)),
    ],
)
def test_paragraphs_and_items(text: str, paragraphs: tuple[int, ...], items: tuple[int, ...]) -> None:
    (reference,) = read(text)
    assert (reference.paragraphs, reference.items) == (paragraphs, items)


@pytest.mark.parametrize(
    "text",
    ["民法典第577条至第580条", "民法典第577-580条", "民法典第577条～第580条", "民法典第五百七十七条—第五百八十条"],
)
def test_ranges(text: str) -> None:
    (reference,) = read(text)
    assert (reference.number, reference.last) == ((577, 0), (580, 0))


def test_lists_inherit_the_law_until_another_is_named() -> None:
    found = read("依照民法典第577条、第584条和劳动合同法第39条、40条的规定")
    assert [(law_of(item), item.number.number) for item in found] == [
        ("民法典", 577),
        ("民法典", 584),
        ("劳动合同法", 39),
        ("劳动合同法", 40),
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("民法典第1042条到1045条", [(1042, 1045)]),
        ("民法典第580条到577条", [(577, 580)]),
        ("民法典第577条起至第580条止", [(577, 580)]),
        ("民法典从第577条到第580条", [(577, 580)]),
        ("民法典第577到580", [(577, 580)]),
        ("民法典577", [(577, None)]),
        ("民法典 577", [(577, None)]),
        ("民法典§577", [(577, None)]),
        ("577条民法典", [(577, None)]),
        ("第577条 民法典", [(577, None)]),
        ("民法典577是什么？", [(577, None)]),
        ("民法典577和584的区别", [(577, None), (584, None)]),
        ("民法典第1,079条", [(1079, None)]),
        ("民法典十三条", [(13, None)]),
        ("民法典第三编合同第二分编典型合同第595条", [(595, None)]),
        ("《刑法》(第264条)", [(264, None)]),
        ("被告的行为违反了刑法第264条的规定", [(264, None)]),
        ("民法典577和584", [(577, None), (584, None)]),
        ("民法典第577条/584条", [(577, None), (584, None)]),
        ("民法典第577条跟584条", [(577, None), (584, None)]),
        ("民法典第577条，还有584条", [(577, None), (584, None)]),
        ("民法典第577条。第584条", [(577, None), (584, None)]),
        ("民法典第585条约定的违约金", [(585, None)]),
        ("民法典第502条例外情形", [(502, None)]),
        ("民法典第577条文", [(577, None)]),
        ("民法典第一○六二条", [(1062, None)]),
        ("民法典\u200b第577条", [(577, None)]),
        ("「民法典」第577条", [(577, None)]),
        ("刑法总则第20条", [(20, None)]),
        ("打架,刑法第264条", [(264, None)]),
        ("我想知道刑法第264条", [(264, None)]),
    ],
)
def test_how_people_type(text: str, numbers: list[tuple[int, int | None]]) -> None:
    found = read(text)
    assert [(item.number.number, item.last.number if item.last else None) for item in found] == numbers
    assert {law_of(item) for item in found} <= {"民法典", "刑法"}
    assert all(item.certain for item in found)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("刑法第120条之一至之六", [((120, 1), (120, 6))]),
        ("刑法第一百二十条之一、之三", [((120, 1), None), ((120, 3), None)]),
        ("刑法133-1", [((133, 1), None)]),
        ("刑法第一百三十三之一", [((133, 1), None)]),
    ],
)
def test_inserted_articles(text: str, numbers: list[tuple[tuple[int, int], tuple[int, int] | None]]) -> None:
    assert [(item.number, item.last) for item in read(text)] == numbers


@pytest.mark.parametrize(
    "written", ["五百七七", "二百六四", "一千零六二", "一百一百", "五百七", "零", "0", "10000", "99999999"]
)
def test_a_number_that_is_none_is_not_guessed(written: str) -> None:
    (reference,) = read(f"民法典第{written}条")
    assert (law_of(reference), reference.unreadable) == ("民法典", f"第{written}条")
    assert number_of(written) is None


@pytest.mark.parametrize("written", ["一百十二", "一百一十二", "一一二", "１１２", "一 百 一 十 二"])
def test_numbers_that_are_written_otherwise(written: str) -> None:
    (reference,) = read(f"民法典第{written}条")
    assert reference.number == (112, 0)


@pytest.mark.parametrize("text", ["合同第三条违约金太高", "公司章程第五条", "保险条款第五条怎么理解", "协议书第2条"])
def test_a_clause_of_a_paper_is_no_article(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "美国刑法第一条",
        "日本《刑法》第199条",
        "德国民法典第823条",
        "中华民国刑法第271条",
        "香港公司法第10条",
        "在日本，刑法第199条",
        "新西兰的刑法第一条",
        "蒙古刑法第一条",
        "蒙古国刑法第3条",
        "俄罗斯联邦刑法第105条",
        "朝鲜民主主义人民共和国刑法第3条",
        "日本国刑法典第199条",
        "日本国《刑法》第199条",
        "特拉华州公司法第102条",
        "美国加州公司法第102条",
        "纽约公司法第3条",
        "德州公司法第3条",
        "根据日本法律，刑法第199条怎么规定",
        "在日本的法律中，《刑法》第199条",
        "按照香港法律，公司法第3条",
        "（日本）刑法第199条",
        "【日本】《刑法》第199条",
        "刑法（日本）第199条",
        "《刑法》（日本）第199条",
        "刑法第199条（日本）",
        "刑法第199条怎么规定的（日本）",
        "刑法第199条 日本",
        "刑法第199条在日本怎么规定",
        "刑法第199条日本法律怎么说",
        "民法典第823条 德国？",
        "公司法第3条（香港）",
        "公司法第3条在香港怎么规定",
    ],
)
def test_the_law_of_others_is_not_ours(text: str) -> None:
    (reference,) = read(text)
    assert (reference.mention, reference.law_ids) == (LawMention.UNKNOWN, ())


def test_the_law_of_others_is_named_with_them() -> None:
    first, second = read("刑法第199条、第200条（日本）")
    assert (first.law_name, second.law_name) == ("日本刑法", "日本刑法")
    assert read("根据俄罗斯联邦法律，刑法第105条")[0].law_name == "俄罗斯联邦刑法"


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("澳门基本法第23条", "澳门特别行政区基本法"),
        ("基本法第23条（澳门）", "澳门特别行政区基本法"),
        ("基本法（澳门）第23条", "澳门特别行政区基本法"),
        ("澳门特别行政区基本法第23条在澳门怎么规定", "澳门特别行政区基本法"),
        ("公司法第3条 香港", "公司法"),
        ("公司法第3条 日本企业适用吗", "公司法"),
        ("刑法第199条 我在日本留学", "刑法"),
        ("中华人民共和国刑法第199条 日本", "刑法"),
        ("公司法第3条国有企业怎么规定", "公司法"),
        ("内蒙古刑法第3条", "刑法"),
        ("公司法第3条 德州", "公司法"),
        ("依法国家赔偿，刑法第3条", "刑法"),
    ],
)
def test_what_only_speaks_of_others_is_ours(text: str, law: str) -> None:
    (reference,) = read(text)
    assert (reference.mention, law_of(reference)) == (LawMention.NAMED, law)


@pytest.mark.parametrize(
    "text", ["民法典十条新规", "违反劳动合同法两条规定", "劳动合同法规定的三条理由", "民法典100条重点"]
)
def test_counts(text: str) -> None:
    assert read(text) == []


def test_names_anywhere() -> None:
    found = laws_in("请问第1062条在民法典中怎么规定的，劳动合同法实施条例和《刑法》呢", TABLE.find)
    assert [law_of(law) for law in found] == ["民法典", "刑法"]


def test_year_tags_choose_a_version() -> None:
    for text in ("公司法（2018修正）第20条", "《公司法》（2018年修正）第20条", "《公司法(2018修正)》第20条"):
        (reference,) = read(text)
        assert (law_of(reference), reference.edition) == ("公司法", Edition(2018, stated=True))


def test_an_unknown_interpretation_is_not_the_code_it_interprets() -> None:
    (reference,) = find_references("民法典婚姻家庭编司法解释一第25条", WITHOUT_INTERPRETATION.find)
    assert reference.mention is LawMention.UNKNOWN
    assert reference.law_name == "民法典婚姻家庭编司法解释一"
    (reference,) = read("劳动合同法实施条例第3条")
    assert reference.mention is LawMention.UNKNOWN


def test_words_that_may_belong_to_the_name_make_it_uncertain() -> None:
    assert not read("员工被辞退劳动合同法第39条")[0].certain
    assert read("依照劳动合同法第39条")[0].certain


def test_inside_a_law_a_bare_number_is_its_own() -> None:
    found = find_references("依照本法第三条和第五条的规定", TABLE.find, inside_law=True)
    assert [(item.mention, item.number.number) for item in found] == [(LawMention.SELF, 3), (LawMention.SELF, 5)]
    assert find_references("有下列三条理由", TABLE.find, inside_law=True) == read("有下列三条理由") == []


@pytest.mark.parametrize("text", ["三条理由", "条例第", "合同条款第3条款", "第条", "", "治安管理条例", "五百七七条"])
def test_what_is_no_reference(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", ["第五百七七条", "第零条"])
def test_a_number_that_is_none_without_a_law(text: str) -> None:
    (reference,) = read(text)
    assert (reference.mention, reference.unreadable) == (LawMention.NONE, text)


@given(st.integers(1, 9999))
def test_numerals_there_and_back(value: int) -> None:
    assert number_of(han_of(value)) == value
    assert number_of(str(value)) == value


@given(st.integers(1, 1300), st.integers(0, 20))
def test_labels_there_and_back(number: int, suffix: int) -> None:
    assert read_label(article_label(ArticleNumber(number, suffix))) == (number, suffix)


@given(st.text(alphabet="第条款项之一二十百千零〇0123456789《》〈〉（）()、至民法典刑的本 \n", max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    for reference in read(text):
        assert reference.unreadable or reference.number.number >= 1


def test_names_are_the_same_whatever_their_dress() -> None:
    assert name_key("《中华人民共和国公司法》（2018修正）") == name_key("公司法") == "公司法"
    assert name_key("中华人民共和国宪法修正案（2018年）") != name_key("宪法修正案（2004年）")


@pytest.mark.parametrize(
    "text",
    [
        "我丈夫在日本，刑法第264条怎么规定",
        "公司在香港 公司法第20条",
        "山东德州，刑法第264条",
        "劳动法国庆节加班，刑法第264条",
        "逾期30日本金怎么算，刑法第264条",
    ],
)
def test_where_somebody_is_does_not_make_a_law_another_s(text: str) -> None:
    (reference,) = read(text)
    assert reference.mention is LawMention.NAMED


def test_our_laws_about_other_countries_stay_ours() -> None:
    found = find_references("反外国制裁法第4条 美国", lambda name: (1,) if name == "反外国制裁法" else ())
    assert [one.mention for one in found] == [LawMention.NAMED]
