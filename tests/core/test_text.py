"""Cleaning of text, and dates in it."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.text import (
    clean,
    iso_date,
    truncate,
    visible,
)


class TestClean:
    @pytest.mark.parametrize(
        ("raw", "plain"),
        [
            ("<b>bold</b> and <a href='x'>link</a>", "bold and link"),
            ("a < b and c > d", "a < b and c > d"),
            ("1 <2 & 3> 2", "1 <2 & 3> 2"),
            ("<!-- hidden -->shown", "shown"),
            ("AT&amp;T &quot;x&quot; &#39;y&#39; &nbsp; &#x4E2D;", "AT&T \"x\" 'y' 中"),
            ("&lt;script&gt; as text", "<script> as text"),
            ("line\r\n\tbreaks \u3000 and\u00a0blanks\u2028here", "line breaks and blanks here"),
            ("\x1b[31mred\x1b[0m \x07bell \x9b1m", "[31mred[0m bell 1m"),
            ("&#27;]0;title&#7;", "]0;title"),
            ("zero\u200bwidth \u202eright to left\u2066 \ufeffmark", "zerowidth right to left mark"),
            ("  ", ""),
            ("中文，标点。", "中文，标点。"),
            (None, ""),
            (7, ""),
            (["x"], ""),
        ],
    )
    def test_provider_text_becomes_one_plain_line(self, raw: object, plain: str) -> None:
        assert clean(raw) == plain

    @given(st.text())
    def test_any_text_comes_out_as_one_line_without_controls(self, raw: str) -> None:
        text = clean(raw)
        assert text == " ".join(text.split())
        assert not any(unicodedata.category(char) == "Cc" for char in text)

    @pytest.mark.parametrize("code", [*range(0x20), *range(0x7E, 0xA1), 0x200B, 0x202E, 0xFEFF])
    def test_no_control_is_left_among_plain_words(self, code: int) -> None:
        assert clean(f"a{chr(code)}b") in {"ab", "a b", "a~b"}

    @pytest.mark.parametrize("text", ['say "so"', "back\\slash", "搜索 引擎", "naïve", ""])
    def test_plain_words_stay_as_they_are(self, text: str) -> None:
        assert clean(text) == text

    def test_visible_takes_out_what_is_not_shown_and_nothing_else(self) -> None:
        assert (
            visible("https://a.example/\x1b]0;x\x07\n\u202e?q=a b&amp;c<d>") == "https://a.example/]0;x?q=a b&amp;c<d>"
        )
        assert visible("中文 café 😀") == "中文 café 😀"

    @given(st.text(), st.integers(1, 50))
    def test_the_limit_holds(self, raw: str, limit: int) -> None:
        assert len(clean(raw, limit)) <= limit

    @given(st.text(), st.integers(1, 50))
    def test_truncate_keeps_the_beginning_and_marks_the_cut(self, text: str, limit: int) -> None:
        cut = truncate(text, limit)
        assert len(cut) <= limit
        if len(text) <= limit:
            assert cut == text
        else:
            assert cut.endswith("…")
            assert text.startswith(cut[:-1])


class TestDates:
    @pytest.mark.parametrize(
        ("raw", "date"),
        [
            ("2026-11-15", "2026-11-15"),
            ("20261115", "2026-11-15"),
            ("2026-11-15T08:30:00Z", "2026-11-15T08:30:00+00:00"),
            ("2026-11-15 08:30:00", "2026-11-15T08:30:00"),
            ("11/05/2026", "2026-11-05"),
            ("13/05/2026", "13/05/2026"),
            ("3 days ago", "3 days ago"),
            ("三天前", "三天前"),
            (" <b>Oct 12, 2026</b> ", "Oct 12, 2026"),
            ("", None),
            (None, None),
            (1_800_000_000, None),
        ],
    )
    def test_readable_dates_become_iso_others_stay(self, raw: object, date: str | None) -> None:
        assert iso_date(raw) == date

    @given(st.text())
    def test_never_raises(self, raw: str) -> None:
        found = iso_date(raw)
        assert found is None or len(found) <= 60


def test_comments_without_an_end_take_no_time() -> None:
    started = time.thread_time()
    assert clean("<!--" * 50_000, 100).startswith("<!--")
    assert time.thread_time() - started < 1
    assert clean("a<!-- <b>x</b> -->b<!---->c <i>d</i>") == "abc d"
