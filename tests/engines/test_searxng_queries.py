"""What becomes of a query for SearXNG: its language, its commands, and what cannot be honoured."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.engines.base import Joins
from qiusuo.engines.searxng import SearxngEngine, plain_words, searxng_language
from qiusuo.models import Query
from qiusuo.words import Fact


def test_facts() -> None:
    assert SearxngEngine.joins is Joins.DETECTED
    assert not SearxngEngine.costs_money
    assert SearxngEngine.url_env == ("SEARXNG_URL",)
    assert SearxngEngine().endpoint.base_url == "http://localhost:8080"


@pytest.mark.parametrize(
    ("language", "region", "sent"),
    [
        (None, None, "all"),
        (None, "CN", "all"),
        ("all", "CN", "all"),
        ("auto", None, "all"),
        ("zh", None, "zh"),
        ("zh-CN", "US", "zh-CN"),
        ("zh_cn", None, "zh-CN"),
        ("zh-Hans-CN", None, "zh-CN"),
        ("zh-Hans", None, "zh-CN"),
        ("zh-Hant", None, "zh-TW"),
        ("zh-Hant", "hk", "zh-HK"),
        ("en", "gb", "en-GB"),
        ("es-419", None, "es"),
        ("sr-Latn", None, "sr"),
        ("x", None, "all"),
        ("中文", None, "all"),
        ("english", None, "all"),
    ],
)
def test_language_is_one_that_searxng_takes(language: str | None, region: str | None, sent: str) -> None:
    assert searxng_language(Query("x", language=language, region=region)) == sent


def test_what_cannot_be_honoured_is_noted() -> None:
    engine = SearxngEngine()
    assert engine.notes(Query("x", language="zh-CN", region="CN"), 10) == ()
    assert engine.notes(Query("x", region="CN"), 10) == (Fact("searxng.region_alone"),)
    assert engine.notes(Query("x", language="english"), 10) == (Fact("searxng.unknown_language"),)
    assert engine.notes(Query("!images x"), 99) == (
        Fact("engine.at_most", count=50),
        Fact("searxng.plain_words"),
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("cats and dogs", "cats and dogs"),
        ("!!g cats", "g cats"),
        ("cats !!g", "cats g"),
        ("!images cats", "images cats"),
        ("css !important", "css important"),
        (":fr paris", "fr paris"),
        ("!:fr paris", "fr paris"),
        (":root selector", "root selector"),
        ("I <3 you", "I < 3 you"),
        ("!<3", "< 3"),
        ("<850 :zh !news 新闻", "< 850 zh news 新闻"),
        ("a != b", "a != b"),
        ("a < b : c ! :)", "a < b : c ! :)"),
        ("<div> std::vector foo:bar wow!", "<div> std::vector foo:bar wow!"),
        ("!!", '"!!"'),
        ("!!? why", '"!!?" why'),
        ("tab\t!g\nline", "tab\tg\nline"),
    ],
)
def test_commands_become_words(text: str, plain: str) -> None:
    assert plain_words(text) == plain


@given(st.text(alphabet=st.sampled_from("!:<3²aé中 \t\u2003\x1c?@./'\"=)"), max_size=30))
def test_no_command_survives_and_no_word_is_lost(text: str) -> None:
    plain = plain_words(text)
    for token in re.split(r"\s+", plain):
        assert not token.startswith("!!")
        assert not (token[:1] in {"!", ":"} and any(char.isalnum() for char in token))
        assert not (token[:1] == "<" and token[1:].isdigit())
    assert [char for char in plain if char.isalnum()] == [char for char in text if char.isalnum()]
    assert plain_words(plain) == plain
