"""The value objects with their JSON shape."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

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
from qiusuo.words import Fact, said

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
FACTS = st.builds(said, WORDS) | st.builds(Fact, st.just("engine.ignored"), features=st.lists(WORDS, min_size=1))

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
        with pytest.raises(AttributeError):
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
        class More(SearchResultItem, frozen=True):
            extra: int = 0

        class Plain(SearchResultItem, frozen=True):
            pass

        assert More("t", "https://a.example", "s", extra=3).extra == 3
        plain = Plain("t", "https://www.a.example", "s")
        assert (type(plain), plain.source) == (Plain, "a.example")
        with pytest.raises(AttributeError):
            plain.title = "u"  # type: ignore[misc]

    def test_a_value_that_lacks_something_is_not_made(self) -> None:
        with pytest.raises(TypeError, match="Missing required argument 'url'"):
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
