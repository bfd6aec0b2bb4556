"""Where sources contradict one another on what is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.passages import Difference, Text, differences, pick


def told(question: str, *texts: str) -> list[Difference]:
    return differences(question, pick(question, [Text(number, "", text) for number, text in enumerate(texts, 1)], 1500))


@pytest.mark.parametrize(
    ("question", "one", "other", "values"),
    [
        ("东方塔有多高", "东方塔高468米。", "东方塔的高度为486米，游客很多。", {"468米", "486米"}),
        ("东方塔什么时候建成", "东方塔于2001年10月1日建成。", "2003年5月东方塔建成。", {"2001年10月1日", "2003年5月"}),
        ("北桥事故死亡人数", "北桥事故造成12人死亡。", "据报道，北桥事故死亡人数为15人。", {"12人", "15人"}),
        ("2021年我国人口出生率", "2021年人口出生率为7.52‰。", "2021年，人口出生率是8.52‰。", {"7.52‰", "8.52‰"}),
        ("首届海洋大会在哪举行", "首届海洋大会在青岛举行。", "首届海洋大会于5月在厦门开幕。", {"青岛", "厦门"}),
        ("《长风》的导演是谁", "《长风》的导演是李明华。", "《长风》由陈国强执导。", {"李明华", "陈国强"}),
        (
            "When was the Harlow Bridge opened?",
            "The Harlow Bridge was opened on 14 June 1935.",
            "In fact the Harlow Bridge opened on 2 May 1936, a year late.",
            {"14 June 1935", "2 May 1936"},
        ),
        (
            "Who won the Northport Cup in 2019?",
            "Ann Lee won the Northport Cup in 2019.",
            "The 2019 Northport Cup was won by Carla Mendes.",
            {"Ann Lee", "Carla Mendes"},
        ),
        (
            "What was Acme's revenue in 2021?",
            "Acme had revenue of $10.4 billion in 2021.",
            "In 2021 revenue of Acme reached $13.9 billion.",
            {"$10.4 billion", "$13.9 billion"},
        ),
    ],
)  # fmt: skip
def test_a_contradiction_is_told(question: str, one: str, other: str, values: set[str]) -> None:
    (difference,) = told(question, one, other)
    statements = (difference.first, difference.second)
    assert {statement.value for statement in statements} == values
    assert {statement.number for statement in statements} == {1, 2}
    assert all(statement.value in statement.sentence in (one, other) for statement in statements)


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        # the same in other words, units, or less exactly
        ("东方塔有多高", "东方塔高468米。", "高468米的东方塔有35层。"),
        ("2021年全国粮食产量", "2021年全国粮食产量13657亿斤。", "2021年全国粮食产量达1.3657万亿斤。"),
        ("东方塔什么时候建成", "东方塔于2001年10月1日建成。", "东方塔2001年建成。"),
        ("When was Harlow Bridge opened?", "It was opened on 14 June 1935.", "Harlow Bridge opened in June 1935."),
        ("Who won the cup in 2019?", "Ann Lee won the cup in 2019.", "Lee beat Carla Mendes to win the 2019 cup."),
        # some of several
        ("《长风》的主演有哪些", "《长风》由王涛、李明华主演。", "《长风》的主演是陈国强、王涛。"),
        # something else
        ("东方塔有多高", "东方塔高468米。", "东方塔的门票为180元，每天开放12小时。"),
        ("《长风》的导演是谁", "《长风》的导演是李明华。", "《长风》今天上映，票房很好。"),
        ("How long is Harlow Bridge?", "Harlow Bridge is 512 metres long.", "Harlow Bridge cost $12 million."),
        # one and the same source
        ("东方塔有多高", "东方塔高468米。东方塔的高度为486米。", ""),
    ],
)  # fmt: skip
def test_what_agrees_is_not_told(question: str, one: str, other: str) -> None:
    assert told(question, one, other) == []


def test_at_most_three_are_told() -> None:
    assert len(told("东方塔有多高", *(f"东方塔高{height}米。" for height in range(100, 160, 10)))) == 3


@given(st.text(max_size=40), st.lists(st.text(max_size=80), max_size=3))
def test_it_never_raises(question: str, texts: list[str]) -> None:
    for difference in told(question, *texts, question):
        assert difference.first.number != difference.second.number


@pytest.mark.parametrize("character", ["1", "A", "一", "·", "塔", "A ", "1年"])
@pytest.mark.parametrize("question", ["谁建的塔，有多少层，有多高", "who won the tower, when and how many?", "塔在哪"])
def test_one_character_again_and_again_takes_no_time(question: str, character: str) -> None:
    text = character * 100_000
    found = pick(question, [Text(1, text[:100], text), Text(2, "", text[1:])], 20_000)
    assert differences(question, found) is not None
