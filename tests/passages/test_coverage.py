"""How well passages cover a question, and from where on they answer it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.passages import ANSWERS_FROM, Text, coverage, pick


def covered(question: str, *texts: str, title: str = "") -> float:
    return coverage(question, pick(question, [Text(number, title, text) for number, text in enumerate(texts, 1)], 1500))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("东方塔有多高", "东方塔高468米，共有35层。"),
        ("《长风》的导演是谁", "《长风》由李明华执导，2021年上映。"),
        ("2022年全国棉花产量", "2022年全国棉花总产量597.7万吨，比上年增长4.3%。"),
        ("暖流号什么时候发射", "5月30日，暖流号在东海发射升空。"),
        ("Who won the Northport Cup in 2019?", "Ann Lee won the 2019 Northport Cup on Sunday."),
        ("When was the Harlow Bridge opened?", "The Harlow Bridge was opened to traffic on 14 June 1935."),
        ("How tall is Mount Birch?", "Mount Birch is 3,020 metres tall."),
    ],
)
def test_what_answers_is_above_the_threshold(question: str, text: str) -> None:
    assert covered(question, "今天天气很好。The weather is fine.", text) >= ANSWERS_FROM


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("东方塔有多高", "今年的粮食产量有所增长，农民收入提高。"),
        ("《长风》的导演是谁", "北桥全长512米，1998年建成。"),
        ("2022年全国棉花产量", "暖流号在东海发射升空。"),
        ("Who won the Northport Cup in 2019?", "The recipe needs two eggs, flour and a little salt."),
        ("When was the Harlow Bridge opened?", "Stir well and bake for 40 minutes."),
        ("东方塔有多高", "The tower is 468 metres tall."),  # another language: nothing can be told
    ],
)
def test_what_does_not_answer_is_below_it(question: str, text: str) -> None:
    assert covered(question, text) < ANSWERS_FROM


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("2021年星海公司的销量", "星海公司2021年销量为252万辆。", "星海公司2022年销量为240万辆。"),
        ("2021年星海公司的销量", "星海公司2021年销量为252万辆。", "星海公司2021年销量很好。"),
        ("长桥的设计师是谁", "长桥的设计师是王海涛。", "长桥的设计师是谁？"),
        (
            "When was the Pelican 6 released?",
            "Pelican 6 was released on 19 May 2021.",
            "Pelican 6 was released in blue.",
        ),
        ("How many islands does Lake Ash have?", "Lake Ash has 12 islands.", "Lake Ash has many islands."),
    ],
)
def test_what_has_the_thing_asked_for_covers_more(question: str, better: str, worse: str) -> None:
    assert covered(question, better) > covered(question, worse)


def test_words_of_neighbours_and_of_the_title_count() -> None:
    apart = covered("东方塔有多高", "塔高468米。")
    assert covered("东方塔有多高", "东方塔在江边。塔高468米。") > apart
    assert covered("东方塔有多高", "塔高468米。", title="东方塔") > apart


def test_nothing_covers_nothing() -> None:
    assert coverage("东方塔有多高", []) == 0
    assert covered("", "东方塔高468米。") == 0
    assert covered("？", "东方塔高468米。") == 0


@given(st.text(max_size=50), st.lists(st.text(max_size=80), max_size=3))
def test_it_is_a_share(question: str, texts: list[str]) -> None:
    assert 0 <= covered(question, *texts) <= 1
    assert 0 <= covered(question, question) <= 1
