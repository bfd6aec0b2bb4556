"""Queries: shortened where an engine takes less, the same in all their spellings, and their language."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qiusuo.config import Settings
from qiusuo.pipeline.request import build_request
from qiusuo.text import (
    detect_language,
    normalise_query,
    region_for,
    shorten_query,
)

# Letters with exactly one form in either case, and everything without case: there upper case changes nothing else.
PLAIN_CASE = st.text(
    st.characters(exclude_categories=["Cs"]).filter(
        lambda c: c.upper().lower() == c.lower() and len(c.upper()) == len(c.lower()) == 1 and c not in "Σσς"
    )
)


class TestShortenQuery:
    @pytest.mark.parametrize(
        ("text", "chars", "words", "short"),
        [
            ("short", 10, None, "short"),
            ("exactly ten", 11, None, "exactly ten"),
            ("several words in a row", 15, None, "several words"),
            ("a verylongwordwithoutend", 12, None, "a verylongwo"),
            ("没有空格的中文查询", 4, None, "没有空格"),
            ("one two three four", None, 2, "one two"),
            ("one two three four", 9, 3, "one two"),
            ("cut before blank", 3, None, "cut"),
            ("any length", None, None, "any length"),
        ],
    )
    def test_cuts_at_a_word_where_that_loses_little(
        self, text: str, chars: int | None, words: int | None, short: str
    ) -> None:
        assert shorten_query(text, chars, words) == short

    @given(st.text(), st.integers(1, 30), st.none() | st.integers(1, 5))
    def test_limits_hold_and_nothing_is_made_up(self, text: str, chars: int, words: int | None) -> None:
        short = shorten_query(text, chars, words)
        assert len(short) <= chars
        if words is not None:
            assert len(short.split()) <= words
        assert " ".join(text.split()).startswith(" ".join(short.split()))


class TestNormaliseQuery:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Python 3.14", "  python   3.14 "),
            ("ＡＢＣ１２３", "abc123"),
            ("全角　空格", "全角 空格"),
            ("ﬁle", "file"),
            ("café", "cafe\u0301"),
            ("ｶﾞ", "ガ"),
            ("STRASSE", "strasse"),
        ],
    )
    def test_forms_of_the_same_query_are_one(self, one: str, other: str) -> None:
        assert normalise_query(one) == normalise_query(other)

    @given(st.text(), st.booleans())
    @example("İ", False)
    @example("ΑΣ", False)
    @example("\ud800", False)
    def test_a_second_pass_changes_nothing(self, text: str, sort_words: bool) -> None:
        once = normalise_query(text, sort_words=sort_words)
        assert normalise_query(once, sort_words=sort_words) == once

    def test_a_second_pass_changes_nothing_for_any_single_character(self) -> None:
        every = " ".join(map(chr, range(sys.maxunicode + 1)))
        once = normalise_query(every)
        assert normalise_query(once) == once

    @given(PLAIN_CASE)
    def test_case_does_not_matter(self, text: str) -> None:
        assert normalise_query(text.upper()) == normalise_query(text.lower()) == normalise_query(text)

    @given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E)))
    def test_width_does_not_matter(self, text: str) -> None:
        wide = "".join(chr(ord(char) + 0xFEE0) for char in text)
        assert normalise_query(wide) == normalise_query(text)

    @given(st.lists(st.text(st.characters(categories=["L"]), min_size=1), min_size=1), st.randoms())
    def test_sorted_words_have_no_order(self, words: list[str], random: object) -> None:
        shuffled = list(words)
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        assert normalise_query(" ".join(words), sort_words=True) == normalise_query(" ".join(shuffled), sort_words=True)

    def test_order_counts_unless_asked_otherwise(self) -> None:
        assert normalise_query("red apple") != normalise_query("apple red")


class TestQueryText:
    @pytest.mark.parametrize(
        ("given", "asked"),
        [
            ("half a \ud83d character", "half a \ufffd character"),
            ("both halves \ud83d\ude00", "both halves 😀"),
            ("caf\udce9 au lait", "caf\ufffd au lait"),
            ("  中文 \n 查询 ", "中文 查询"),
        ],
    )
    def test_what_cannot_be_sent_is_replaced(self, given: str, asked: str) -> None:
        request = build_request(Settings.load(), given)
        assert request.asked == request.query.text == asked
        request.key.encode()


class TestLanguage:
    @pytest.mark.parametrize(
        ("text", "language"),
        [
            ("quantum computing", None),
            ("量子计算", "zh-CN"),
            ("量子 computing", "zh-CN"),
            ("量子コンピュータ", "ja"),
            ("양자 컴퓨팅", "ko"),
            ("квантовый", None),
            ("café", None),
            ("", None),
        ],
    )
    def test_the_script_tells_the_language(self, text: str, language: str | None) -> None:
        assert detect_language(text) == language

    @pytest.mark.parametrize(
        ("language", "region", "country"),
        [
            ("zh-CN", None, "CN"),
            ("zh-CN", "us", "US"),
            ("zh-Hant-TW", None, "TW"),
            ("zh-Hant", None, None),
            ("en", None, None),
            (None, "gb", "GB"),
            (None, None, None),
            ("es-419", None, None),
        ],
    )
    def test_country_is_given_or_read_from_the_language(
        self, language: str | None, region: str | None, country: str | None
    ) -> None:
        assert region_for(language, region) == country


def test_preferred_and_demanded_sites_are_different_searches() -> None:
    settings = Settings.load()
    preferred = build_request(settings, "x", type="regulation")
    demanded = build_request(settings, "x", type="regulation", include_domains=settings.regulation_sites)
    assert preferred.key != demanded.key
