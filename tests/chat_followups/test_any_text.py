"""Whatever is typed: nothing is raised, a lone question stays, a query stays short."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qiusuo.chat.followups import Exchange, leans_on_what_was_said, resolve

PIECES = st.sampled_from(
    [
        *(
            "What is",
            "Who",
            "the",
            "Eiffel Tower",
            "it",
            "its",
            "they",
            "and",
            "what about",
            "why",
            "cancer",
            "types",
            "of",
        ),
        *(
            "in 2023",
            "?",
            ",",
            "no, I meant",
            "one",
            "this",
            "there",
            "that",
            "vs",
            "'s",
            "’",
            "D.C.",
            "most",
            "tomorrow",
        ),
        *(
            "那",
            "呢",
            "它",
            "的",
            "作者",
            "是谁",
            "西安",
            "天气",
            "第584条",
            "《民法典》",
            "不对",
            "我问的是",
            "为什么",
        ),
        *(
            "这本书",
            "和",
            "比",
            "2023年",
            "其",
            "他",
            "吗",
            "？",
            "，",
            "iPhone 15",
            "明天",
            "什么是",
            "还有",
            " ",
            "\n",
            "\x00",
            "*",
        ),
    ]
)
QUESTIONS = st.one_of(
    st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=12).map(" ".join)
)
EXCHANGES = st.builds(Exchange, QUESTIONS, QUESTIONS)
# The last question as it was understood, what was carried, and what joins them.
LONGEST_ADDITION = 400


@given(QUESTIONS, st.lists(EXCHANGES, max_size=6))
def test_any_conversation_is_survived(question: str, before: list[Exchange]) -> None:
    resolved = resolve(question, before)
    assert len(resolved.query) <= len(question) + LONGEST_ADDITION
    assert resolved.changed or (resolved.query, resolved.carried) == (question, ())
    assert leans_on_what_was_said(question, before) or not resolved.changed


@given(QUESTIONS)
def test_a_first_question_is_left_as_it_was_typed(question: str) -> None:
    assert resolve(question, []).query == question
    assert not leans_on_what_was_said(question, [])


def test_a_long_conversation_is_read_from_its_end() -> None:
    before = [Exchange(f"What is number {number}?", "x" * 4000) for number in range(500)]
    before.append(Exchange("What is throat cancer?", "y" * 100_000))
    assert resolve("Is it treatable?", before).query == "Is throat cancer treatable?"


def test_a_long_question_stands_alone() -> None:
    question = "Is it true that " + "very " * 60 + "long?"
    assert not resolve(question, [Exchange("What is throat cancer?")]).changed
