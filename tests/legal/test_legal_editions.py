"""Which edition of a law is meant, in the ways that people say it."""

from __future__ import annotations

import pytest

from qiusuo.legal.models import DateBasis, Law, LawKind, LawVersion
from qiusuo.legal.reading.editions import CURRENT, Age, Edition
from qiusuo.legal.reading.mentions import law_named
from qiusuo.legal.reading.names import NameTable
from qiusuo.legal.reading.references import find_references

NAMES = [
    "中华人民共和国公司法",
    "中华人民共和国宪法修正案（1988年）",
    "中华人民共和国宪法修正案（2018年）",
    "中华人民共和国民法典",
]
TABLE = NameTable.build(enumerate(NAMES))
LAW = Law(0, NAMES[0], LawKind.STATUTE, "", "")
DAY = "2026-11-15"


def version(number: int, published: str, effective: str) -> LawVersion:
    return LawVersion(number, LAW, published, effective, DateBasis.STATED, "", "", "", 10)


VERSIONS = (
    version(1, "2005-10-27", "2006-01-01"),
    version(2, "2018-10-26", "2018-10-26"),
    version(3, "2023-12-29", "2024-07-01"),
    version(4, "2026-06-30", "2027-01-01"),
)


@pytest.mark.parametrize(
    ("said", "edition"),
    [
        ("公司法", CURRENT),
        ("现行公司法", CURRENT),
        ("公司法（2018修正）", Edition(2018, stated=True)),
        ("公司法（2018年10月26日修正）", Edition(2018, stated=True)),
        ("公司法2018修订版", Edition(2018, stated=True)),
        ("《公司法》2018年版", Edition(2018, stated=True)),
        ("《公司法（2018）》", Edition(2018)),
        ("公司法(2018)", Edition(2018)),
        ("公司法〔2018〕", Edition(2018)),
        ("公司法2018年", Edition(2018)),
        ("公司法2018", Edition(2018)),
        ("2018年公司法", Edition(2018)),
        ("2018公司法", Edition(2018)),
        ("2018年修正的《公司法》", Edition(2018, stated=True)),
        ("93年公司法", Edition(1993)),
        ("2018年时公司法", Edition(2018)),
        ("2018年的时候公司法", Edition(2018)),
        ("2018年有效的公司法", Edition(2018)),
        ("18年时的公司法", Edition(2018)),
        ("公司法在2018年", Edition(2018)),
        ("2018年10月26日公司法", Edition(day="2018-10-26")),
        ("公司法（2018-10-26）", Edition(day="2018-10-26")),
        ("2018年10月的公司法", Edition(day="2018-10-31")),
        ("2018年以前公司法", Edition(day="2017-12-31")),
        ("2018年之前的公司法", Edition(day="2017-12-31")),
        ("2018年10月26日以前的公司法", Edition(day="2018-10-25")),
        ("旧公司法", Edition(age=Age.OLD)),
        ("原《公司法》", Edition(age=Age.OLD)),
        ("修订前的公司法", Edition(age=Age.OLD)),
        ("公司法（旧）", Edition(age=Age.OLD)),
        ("新公司法", Edition(age=Age.NEW)),
        ("新修订的公司法", Edition(age=Age.NEW)),
        ("公司法最新版本", Edition(age=Age.NEW)),
    ],
)
def test_what_is_said(said: str, edition: Edition) -> None:
    named = law_named(said, TABLE.find)
    assert named is not None
    assert (named.law_ids, named.edition) == ((0,), edition)
    (reference,) = find_references(f"根据{said}第142条", TABLE.find)
    assert (reference.law_ids, reference.edition, reference.certain) == ((0,), edition, True)


@pytest.mark.parametrize(
    ("edition", "chosen"),
    [
        (CURRENT, [3]),
        (Edition(2018, stated=True), [2]),
        (Edition(2006, stated=True), [1]),  # the year of its effect
        (Edition(2010), [1]),  # that of the day
        (Edition(2010, stated=True), []),
        (Edition(1999), []),
        (Edition(day="2024-06-30"), [2]),
        (Edition(day="2023-12-29"), [3]),  # the day of its publication is its name
        (Edition(day="1999-01-01"), []),
        (Edition(age=Age.OLD), [3]),  # in force, but a newer one is published
        (Edition(age=Age.NEW), [4, 3]),
        (Edition(age=Age.BOTH), [4, 3]),
    ],
)
def test_what_is_chosen(edition: Edition, chosen: list[int]) -> None:
    assert [found.id for found in edition.of(VERSIONS, DAY)] == chosen


def test_without_an_older_or_newer_one() -> None:
    assert Edition(age=Age.OLD).of(VERSIONS[:1], DAY) == []
    assert [found.id for found in Edition(age=Age.NEW).of(VERSIONS[:3], DAY)] == [3]
    assert CURRENT.of((), DAY) == []


@pytest.mark.parametrize(
    "said", ["宪法修正案（1988年）", "宪法修正案(1988)", "1988年宪法修正案", "《宪法修正案（1988年）》"]
)
def test_a_year_that_belongs_to_the_name(said: str) -> None:
    named = law_named(said, TABLE.find)
    assert named is not None
    assert named.law_ids == (1,)
    assert TABLE.find("宪法修正案") == (1, 2)


@pytest.mark.parametrize(
    ("said", "edition"),
    [
        ("公司法第142条（2018修正）", Edition(2018, stated=True)),
        ("公司法第142条 2018修正", Edition(2018, stated=True)),
        ("公司法第142条2018修正版", Edition(2018, stated=True)),
        ("公司法第142条 2018年", Edition(2018)),
        ("公司法第142条，2018版", Edition(2018, stated=True)),
        ("公司法第142条 2018", Edition(2018)),
        ("公司法第142条，2018年的", Edition(2018)),
        ("公司法第142条 18年", Edition(2018)),
        ("公司法第142条 二〇一八年", Edition(2018)),
        ("公司法第142条 2018年的规定", Edition(2018)),
        ("公司法第142条 在2018年是怎么规定的", Edition(2018)),
        ("公司法第142条2018年怎么规定", Edition(2018)),
        ("公司法第142条怎么规定的？2018年", Edition(2018)),
        ("公司法第142条第一款 2018年是什么", Edition(2018)),
        ("公司法第142条 2018年10月26日", Edition(day="2018-10-26")),
        ("公司法第142条 2018-10-26", Edition(day="2018-10-26")),
        ("公司法第142条 2018-13-26", Edition(2018)),
        ("公司法第142条 二〇一八年十月二十六日", Edition(day="2018-10-26")),
        ("公司法第142条：2018 年", Edition(2018)),
        ("公司法第142条 2018年是否有效？", Edition(2018)),
        ("公司法，2018年，第142条", Edition(2018)),
        ("公司法第142条 2018年以前怎么规定", Edition(day="2017-12-31")),
        ("公司法第142条 旧法", Edition(age=Age.OLD)),
        ("公司法第142条以前是怎么规定的", Edition(age=Age.OLD)),
        ("公司法第142条修订前怎么规定", Edition(age=Age.OLD)),
        ("公司法第142条 新法", Edition(age=Age.NEW)),
        ("2018年，公司法第142条", Edition(2018)),
        ("在2018年的时候，公司法第142条怎么规定", Edition(2018)),
        ("公司法第142条 2018年以后的案例", CURRENT),
        ("公司法第142条 2018年案例", CURRENT),
        ("公司法第142条 2018年的案例", CURRENT),
        ("公司法第142条 2018年公布的案例", CURRENT),
        ("公司法第142条 2018年新规", CURRENT),
        ("公司法第142条，2018年我公司成立", CURRENT),
        ("公司法第142条（2018）某01民终5号", CURRENT),
        ("公司法第142条 判18年", CURRENT),
        ("公司法第142条 18年以上", CURRENT),
        ("公司法第142条 10年前怎么规定", CURRENT),
        ("10年前的公司法第142条", CURRENT),
        ("公司法第142条2018号", CURRENT),
        ("公司法第142条 15年", CURRENT),
        ("公司法第142条 20年", CURRENT),
        ("公司法第142条 2000", CURRENT),
        ("公司法第142条 旧法轻", CURRENT),
        ("公司法第142条 旧法院", CURRENT),
        ("我公司成立于2018年，公司法第142条", CURRENT),
    ],
)
def test_what_is_said_behind_the_article(said: str, edition: Edition) -> None:
    (reference,) = find_references(said, TABLE.find)
    assert (reference.law_ids, reference.edition) == ((0,), edition)


@pytest.mark.parametrize(
    ("said", "years"),
    [
        ("公司法第3条2018年和民法典第577条", [2018, None]),
        ("公司法第3条 2018年，民法典第577条", [2018, None]),
        ("公司法第3条 2018年 民法典第577条", [2018, None]),
        ("公司法第3条2018年和宪法修正案（2018年）第4条", [2018, None]),
        ("公司法第3条2018年与2023年公司法第3条", [2018, 2023]),
        ("民法典第577条 2018年公司法第3条", [None, 2018]),
        ("公司法第3条、第4条 2018年", [2018, 2018]),
        ("公司法第3条至第5条（2018修正）", [2018]),
        ("公司法第3条2018年和第4条", [2018, 2018]),
    ],
)
def test_which_articles_have_it(said: str, years: list[int | None]) -> None:
    assert [reference.edition.year for reference in find_references(said, TABLE.find)] == years
