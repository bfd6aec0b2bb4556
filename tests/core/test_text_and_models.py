"""Cleaning of text, shaping of queries, and the value objects with their JSON shape."""

from __future__ import annotations

import json
import pickle
import sys
import unicodedata
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qiusuo.config import Settings
from qiusuo.models import (
    Attempt,
    Freshness,
    Outcome,
    Query,
    SearchResponse,
    SearchResultItem,
    SearchType,
    domain_of,
)
from qiusuo.pipeline.request import build_request
from qiusuo.text import (
    clean,
    detect_language,
    iso_date,
    normalise_query,
    region_for,
    shorten_query,
    truncate,
    visible,
)
from qiusuo.words import Fact, said

# Letters with exactly one form in either case, and everything without case: there upper case changes nothing else.
PLAIN_CASE = st.text(
    st.characters(exclude_categories=["Cs"]).filter(
        lambda c: c.upper().lower() == c.lower() and len(c.upper()) == len(c.lower()) == 1 and c not in "Σσς"
    )
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


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
ITEMS = st.builds(
    SearchResultItem,
    title=WORDS,
    url=WORDS.map(lambda path: f"https://example.com/{path}"),
    snippet=WORDS,
    source=WORDS,
    published_at=st.none() | WORDS,
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    engines=st.lists(WORDS).map(tuple),
)
FACTS = st.builds(said, WORDS) | st.builds(Fact, st.just("engine.ignored"), features=st.lists(WORDS, min_size=1))
ATTEMPTS = st.builds(
    Attempt,
    engine=WORDS,
    outcome=st.sampled_from(Outcome),
    ms=st.integers(0, 10**6),
    fact=st.none() | FACTS,
    remedy=st.none() | FACTS,
    retry_after=st.none() | st.integers(0, 864000).map(lambda tenths: tenths / 10),
    skipped=st.booleans(),
    notes=st.lists(FACTS).map(tuple),
    commands=st.lists(WORDS).map(tuple),
)
RESPONSES = st.builds(
    SearchResponse,
    query=WORDS,
    results=st.lists(ITEMS, max_size=3).map(tuple),
    provider=WORDS,
    attempts=st.lists(ATTEMPTS, max_size=3).map(tuple),
    type=st.sampled_from(SearchType),
    search_time=st.integers(0, 10**6),
    cached=st.booleans(),
    stale=st.booleans(),
)


class TestModels:
    @given(RESPONSES)
    def test_a_response_survives_json(self, response: SearchResponse) -> None:
        assert SearchResponse.from_dict(json.loads(json.dumps(response.to_dict()))) == response

    def test_the_json_shape_of_a_response(self) -> None:
        item = SearchResultItem(
            "标题",
            "https://www.example.com/a",
            "snippet",
            published_at="2026-11-15",
            score=0.5,
            engines=("exa", "brave"),
        )
        bare = SearchResultItem("t", "https://b.example/", "")
        attempts = (
            Attempt(
                "tavily", Outcome.RATE_LIMITED, 12, said("slow"), said("wait"), 7.04, skipped=True, notes=(said("n"),)
            ),
            Attempt("exa", Outcome.OK, 300),
        )
        response = SearchResponse("q", (item, bare), "exa", attempts, SearchType.NEWS, 321, cached=True)
        assert response.total_results == 2
        assert response.to_dict() == {
            "query": "q",
            "type": "news",
            "results": [
                {
                    "title": "标题",
                    "url": "https://www.example.com/a",
                    "snippet": "snippet",
                    "source": "example.com",
                    "publishedAt": "2026-11-15",
                    "score": 0.5,
                    "engines": ["exa", "brave"],
                },
                {"title": "t", "url": "https://b.example/", "snippet": "", "source": "b.example"},
            ],
            "totalResults": 2,
            "searchTime": 321,
            "cached": True,
            "stale": False,
            "provider": "exa",
            "attempts": [
                {
                    "engine": "tavily",
                    "outcome": "rate_limited",
                    "ms": 12,
                    "reason": "slow",
                    "code": "said",
                    "values": {"text": "slow"},
                    "fix": "wait",
                    "remedy": {"code": "said", "values": {"text": "wait"}},
                    "retryAfter": 7.0,
                    "skipped": True,
                    "notes": ["n"],
                    "noted": [{"code": "said", "values": {"text": "n"}}],
                },
                {"engine": "exa", "outcome": "ok", "ms": 300},
            ],
        }

    def test_outcomes_types_and_times_have_their_fixed_names(self) -> None:
        assert [outcome.value for outcome in Outcome] == [
            "ok", "empty", "blocked", "rate_limited", "quota", "auth", "timeout", "unavailable", "bad_response",
            "disabled",
        ]  # fmt: skip
        assert [kind.value for kind in SearchType] == ["general", "news", "regulation", "case"]
        assert [fresh.value for fresh in Freshness] == ["hour", "day", "week", "month", "year"]

    @pytest.mark.parametrize(
        ("value", "name"),
        [(Query("x"), "text"), (SearchResultItem("t", "u", "s"), "url"), (Attempt("e", Outcome.OK, 1), "engine")],
    )
    def test_values_are_frozen(self, value: object, name: str) -> None:
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, "other")

    @pytest.mark.parametrize(
        "value",
        [
            Query("x", language="zh-CN"),
            SearchResultItem("t", "https://www.a.example/b", "s"),
            Attempt("e", Outcome.OK, 1, notes=(said("n"),)),
            SearchResponse("q", (SearchResultItem("t", "u", "s"),), "e"),
        ],
    )
    def test_values_are_equal_by_their_fields_and_travel_between_processes(self, value: Query) -> None:
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own
        assert replace(value) == value
        assert hash(replace(value)) == hash(value)
        assert not hasattr(value, "__dict__"), "thousands of them are kept"

    def test_values_may_be_extended(self) -> None:
        @dataclass(frozen=True, slots=True)
        class More(SearchResultItem):
            extra: int = 0

        class Plain(SearchResultItem):
            pass

        assert More("t", "https://a.example", "s", extra=3).extra == 3
        plain = Plain("t", "https://www.a.example", "s")
        assert (type(plain), plain.source) == (Plain, "a.example")
        with pytest.raises(FrozenInstanceError):
            plain.title = "u"  # type: ignore[misc]

    def test_a_value_that_lacks_something_is_not_made(self) -> None:
        with pytest.raises(TypeError, match="missing 2 required"):
            SearchResultItem("t")  # type: ignore[call-arg]

    @pytest.mark.parametrize(
        ("url", "domain"),
        [
            ("https://www.example.com/a?b#c", "example.com"),
            ("http://Sub.Example.COM", "sub.example.com"),
            ("https://ada:pw@example.com:8443/x", "example.com"),
            ("https://example.com?q=1", "example.com"),
            ("https://[2001:db8::1]:80/x", "2001:db8::1"),
            ("https://例子.中国/路径", "例子.中国"),
            ("https://www2.example.com/", "www2.example.com"),
            ("javascript:alert(1)", ""),
            ("example.com/no-scheme", ""),
            ("/go?to=https://elsewhere.example/", ""),
            ("https://", ""),
            ("https://[broken", ""),
            ("", ""),
        ],
    )
    def test_domain_of(self, url: str, domain: str) -> None:
        assert domain_of(url) == domain

    @given(st.text())
    def test_domain_of_never_raises(self, url: str) -> None:
        assert domain_of(url) == domain_of(url).lower()
