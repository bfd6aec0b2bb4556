"""Numbers, dates and amounts: how they are read and when they agree."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qiusuo.citations.meaning.quantities import quantities
from qiusuo.citations.meaning.quantity import Quantity
from qiusuo.numerals import han_number


def only(text: str) -> Quantity:
    found = quantities(text)
    assert len(found) == 1, found
    return found[0]


READ = {
    "1,935.3": ("number", 1935.3),
    "5.2%": ("percent", 5.2),
    "百分之五": ("percent", 5),
    "百分之五点八": ("percent", 5.8),
    "三分之一": ("percent", 100 / 3),
    "七成": ("percent", 70),
    "一半": ("percent", 50),
    "nine in ten": ("percent", 90),
    "three quarters": ("percent", 75),
    "a fifth": ("percent", 20),
    "3倍": ("percent", 300),
    "三百": ("number", 300),
    "一千二百": ("number", 1200),
    "twenty-five": ("number", 25),
    "three hundred": ("number", 300),
    "1.5万": ("number", 15_000),
    "3.2亿元": ("money:cny", 3.2e8),
    "$68.7 billion": ("money:usd", 68.7e9),
    "20 million euros": ("money:eur", 2e7),
    "215,900 yuan": ("money:cny", 215_900),
    "300公里": ("length", 300_000),
    "5 km": ("length", 5000),
    "1600万千瓦": ("power", 1.6e10),
    "30摄氏度": ("temperature", 30),
    "72 hours": ("time", 259_200),
    "三天": ("time", 259_200),
    "2023年": ("year", 2023),
    "二〇二四年": ("year", 2024),
    "2023": ("year", 2023),
    "1990s": ("decade", 90),
    "THE 1990S": ("decade", 90),
    "九十年代": ("decade", 90),
    "第十一": ("ordinal", 11),
    "11th": ("ordinal", 11),
    "周二": ("weekday", 2),
    "Tuesday": ("weekday", 2),
    "两个月": ("time", quantities("2 months")[0].value),
}


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_quantity_is_read(text: str, expected: tuple[str, float]) -> None:
    quantity = only(text)
    assert quantity.kind == expected[0]
    assert quantity.value == pytest.approx(expected[1])


@pytest.mark.parametrize(
    "text", ["2023年5月3日", "2023-05-03", "May 3, 2023", "3 May 2023", "2023/5/3", "2023 年 5 月 3 日"]
)
def test_dates_are_read_alike(text: str) -> None:
    assert {(q.kind, q.value) for q in quantities(text)} == {("year", 2023), ("month", 5), ("day", 3)}


@pytest.mark.parametrize(
    "text", ["四川", "三星堆", "统一", "唯一", "百度", "C919", "GPT-4o", "IP68", "B12", "you may go", "march on"]
)
def test_parts_of_words_and_names_are_no_quantities(text: str) -> None:
    assert quantities(text) == []


AGREE = [
    ("三百", "300"), ("百分之五", "5%"), ("两个月", "二个月"), ("three days", "72 hours"), ("约3200米", "3196米"),
    ("将近两公斤", "1935.3克"), ("超过47万亿元", "471495亿元"), ("nearly $69 billion", "$68.7 billion"),
    ("24%", "23.9%"), ("100 miles", "161 km"), ("50个基点", "0.5个百分点"), ("三个多小时", "3小时7分"),
]  # fmt: skip
DISAGREE = [
    ("两个月", "六个月"), ("300", "3000"), ("5%", "6%"), ("5万元", "5万美元"), ("5 km", "5 miles"), ("5月", "6月"),
    ("2023年", "2022年"), ("第一", "第二"), ("15%", "15"), ("超过900亿", "600亿"), ("7球", "8球"), ("周一", "周二"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source"), AGREE)
def test_same_amount_in_other_words_agrees(claim: str, source: str) -> None:
    assert any(quantities(claim)[0].agrees_with(quantity) for quantity in quantities(source))


@pytest.mark.parametrize(("claim", "source"), DISAGREE)
def test_other_amount_or_unit_does_not_agree(claim: str, source: str) -> None:
    agrees = any(quantities(claim)[0].agrees_with(quantity) for quantity in quantities(source))
    assert agrees == ((claim, source) == ("15%", "15"))  # a bare number may be anything


def test_both_ends_of_a_range_have_its_unit() -> None:
    assert [q.kind for q in quantities("six to eight weeks")] == ["time", "time"]
    assert [q.value for q in quantities("4075至5555公里")] == [4_075_000, 5_555_000]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "零"),
        (10, "十"),
        (12, "十二"),
        (20, "二十"),
        (105, "一百零五"),
        (10_000, "一万"),
        (120_000_000, "一亿二千万"),
        (2024, "二〇二四"),
    ],
)
def test_chinese_numerals(number: int, text: str) -> None:
    assert han_number(text) == number


@given(st.text(max_size=120))
@example("0M")  # a unit at the end is shorter than the longest that begins so
def test_no_text_makes_it_fail(text: str) -> None:
    for quantity in quantities(text):
        assert 0 <= quantity.start < quantity.end <= len(text)


@pytest.mark.parametrize("text", ["hundred " * 500, "亿" * 500, "9" * 6000, "1," * 5000, "零分之零", "9" * 400 + "%"])
def test_absurd_numbers_do_no_harm(text: str) -> None:
    quantities(text)
