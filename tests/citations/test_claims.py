"""Sentences, and which part of them a citation stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.citations import CitationProcessor
from qiusuo.citations.checking.claims import cited_claims
from qiusuo.citations.meaning.sentences import split_sentences
from qiusuo.models import SearchResultItem

PROCESSOR = CitationProcessor([SearchResultItem(f"T{n}", f"https://s{n}.cn/", "") for n in range(1, 4)])


def claims(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.numbers) for claim in cited_claims(answer, PROCESSOR.analyse(answer).markers)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("今天晴。明天呢？会下雨！", ["今天晴。", "明天呢？", "会下雨！"]),
        ("“会下雨。”他说。", ["“会下雨。”", "他说。"]),
        ("It costs $3.5 million. Dr. Smith paid.", ["It costs $3.5 million.", "Dr. Smith paid."]),
        ("See e.g. this. It is v2.0. Ok", ["See e.g. this.", "It is v2.0.", "Ok"]),
        ("The U.S. economy grew. Yes!", ["The U.S. economy grew.", "Yes!"]),
        ("# 标题\n\n- 第一点\n1. 第二点\n> 引文", ["标题", "第一点", "第二点", "引文"]),
        ("甲；乙。", ["甲；乙。"]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == sentences


def test_clauses_split_at_semicolons_too() -> None:
    assert [clause.text for clause in split_sentences("满一年的，一个月；满三年的，六个月。", clauses=True)] == [
        "满一年的，一个月；",
        "满三年的，六个月。",
    ]


@given(st.text(max_size=200))
def test_sentences_are_parts_of_the_text_in_order(text: str) -> None:
    position = 0
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert position <= sentence.start < sentence.end
        position = sentence.end


CLAIMS = {
    "whole sentence": ("北京今天最高气温30度[1]。", [("北京今天最高气温30度", (1,))]),
    "behind the full stop": ("北京今天最高气温30度。[1]明天下雨。", [("北京今天最高气温30度", (1,))]),
    "one part each": (
        "北京常住人口2185万人[1]，上海常住人口2487万人[2]。",
        [("北京常住人口2185万人", (1,)), ("上海常住人口2487万人", (2,))],
    ),
    "several together": ("The tower is 300 metres tall [1][2].", [("The tower is 300 metres tall", (1, 2))]),
    "joined by and": ("The tower is 300 metres tall [1] and [2].", [("The tower is 300 metres tall", (1, 2))]),
    "list of markers": ("塔高三百米，建于巴黎[1]、[3]。", [("塔高三百米，建于巴黎", (1, 3))]),
    "according to": ("根据官方报告[1]，塔高三百米。", [("根据官方报告，塔高三百米", (1,))]),
    "short lead": ("报告[1]指出，塔高三百米而且对外开放。", [("报告指出，塔高三百米而且对外开放", (1,))]),
    "beginning of a line": ("[1] 指出塔高三百米。", [("指出塔高三百米", (1,))]),
    "list item": ("- 塔高三百米[1]\n- 建于巴黎市中心[2]", [("塔高三百米", (1,)), ("建于巴黎市中心", (2,))]),
    "no statement": ("见[1]。", []),
    "uncited tail": ("塔高三百米[1]，游客众多，值得一看。", [("塔高三百米", (1,))]),
}


@pytest.mark.parametrize(("answer", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_claims(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert claims(answer) == expected
    assert claims(PROCESSOR.convert(answer)) == claims(answer)


def test_claim_tells_where_its_sentence_stands() -> None:
    answer = "序言。塔高三百米[1]。结尾。"
    (claim,) = cited_claims(answer, PROCESSOR.analyse(answer).markers)
    assert answer[claim.start : claim.end] == "塔高三百米[1]。"


@given(
    st.lists(
        st.sampled_from(["[1]", "[2, 3]", "。", "，", ". ", "\n", "塔高三百米", "The tower is tall", " "]), max_size=20
    )
)
def test_every_answer_can_be_read(pieces: list[str]) -> None:
    answer = "".join(pieces)
    for claim in cited_claims(answer, PROCESSOR.analyse(answer).markers):
        assert claim.numbers
        assert claim.text
        assert "[1]" not in claim.text
