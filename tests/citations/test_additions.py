"""Citations given to answers that used results but carry none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.citations import CitationProcessor, add_citations
from qiusuo.citations.checking.additions import ADDED
from qiusuo.models import SearchResultItem
from qiusuo.words import Language
from tests.support.examples import examples

BEIJING = "截至2023年末，北京市常住人口2185.8万人，比上年末增加1.5万人。"
PARIS = "The Louvre in Paris received 8.9 million visitors in 2023, most of them from abroad."
PROCESSOR = CitationProcessor(
    [SearchResultItem("北京人口", "https://a.cn", BEIJING), SearchResultItem("Louvre", "https://b.cn", PARIS)]
)


def test_clearly_supported_sentences_get_their_source() -> None:
    answer = (
        "截至2023年末，北京市常住人口2185.8万人。谢谢！\n\nThe Louvre in Paris received 8.9 million visitors in 2023."
    )
    cited = add_citations(answer, PROCESSOR)
    assert cited.text == (
        "截至2023年末，北京市常住人口2185.8万人[1]。谢谢！\n\n"
        "The Louvre in Paris received 8.9 million visitors in 2023 [2]."
    )
    assert [(added.number, added.to_dict()["added"]) for added in cited.added] == [(1, True), (2, True)]
    assert all(cited.text[added.position :].startswith(f"[{added.number}]") for added in cited.added)
    assert cited.added[0].passage == BEIJING


def test_reader_sees_that_they_were_added() -> None:
    cited = add_citations("截至2023年末，北京市常住人口2185.8万人。", PROCESSOR)
    assert (
        cited.markdown
        == f'截至2023年末，北京市常住人口2185.8万人[[1]](https://a.cn "{ADDED.text(Language.CHINESE)}")。'
    )
    assert PROCESSOR.convert(cited.markdown) == cited.markdown
    assert PROCESSOR.references(cited.markdown) == PROCESSOR.references("[1]")


@pytest.mark.parametrize(
    "answer",
    [
        "截至2023年末，北京市常住人口2385.8万人。",
        "截至2023年末，上海市常住人口2185.8万人。",
        "截至2023年末，北京市常住人口是2185.8万人吗？",
        "```\n截至2023年末，北京市常住人口2185.8万人。\n```",
        "    截至2023年末，北京市常住人口2185.8万人。",
        "# 截至2023年末，北京市常住人口2185.8万人",
        "| 截至2023年末，北京市常住人口2185.8万人 |",
        "`截至2023年末，北京市常住人口2185.8万人`",
        "你好。",
        "",
    ],
)
def test_nothing_else_gets_one(answer: str) -> None:
    cited = add_citations(answer, PROCESSOR)
    assert (cited.text, cited.markdown, cited.added) == (answer, answer, ())


def test_answer_that_cites_is_left_as_it_is() -> None:
    answer = "截至2023年末，北京市常住人口2185.8万人。巴黎[2]。"
    cited = add_citations(answer, PROCESSOR)
    assert (cited.text, cited.added) == (answer, ())
    assert cited.markdown == PROCESSOR.convert(answer)


def test_first_of_equal_sources_is_taken() -> None:
    processor = CitationProcessor(
        [SearchResultItem("甲", "https://a.cn", BEIJING), SearchResultItem("甲", "https://b.cn", BEIJING)]
    )
    assert [added.number for added in add_citations(BEIJING, processor).added] == [1]


def test_page_text_is_used_where_it_was_read() -> None:
    processor = CitationProcessor([SearchResultItem("北京", "https://a.cn", "北京概况")])
    assert add_citations(BEIJING, processor).added == ()
    assert len(add_citations(BEIJING, processor, pages={1: BEIJING}).added) == 1


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("**截至2023年末，北京市常住人口2185.8万人。**", "**截至2023年末，北京市常住人口2185.8万人[1]。**"),
        ("- 截至2023年末，北京市常住人口2185.8万人", "- 截至2023年末，北京市常住人口2185.8万人[1]"),
        ("他说：“截至2023年末，北京市常住人口2185.8万人。”", "他说：“截至2023年末，北京市常住人口2185.8万人[1]。”"),
    ],
)
def test_citation_stands_before_the_full_stop(answer: str, text: str) -> None:
    assert add_citations(answer, PROCESSOR).text == text


PIECES = [BEIJING, PARIS, "。", "\n", "```\n", "> ", "x", " ", "**", "`", "[a](https://b.cn)"]


@examples(0.6)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_only_markers_are_added(answer: str) -> None:
    cited = add_citations(answer, PROCESSOR)
    plain, position = "", 0
    for added in cited.added:
        plain += cited.text[position : added.position].removesuffix(" ")
        position = added.position + len(f"[{added.number}]")
    assert plain + cited.text[position:] == answer
