"""The stream gives the same for any cut of the text, holds back little, changes nothing but markers, in linear time."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qiusuo.citations import CitationProcessor
from qiusuo.models import SearchResultItem
from tests.support.examples import examples

PROCESSOR = CitationProcessor(
    [SearchResultItem(f"T{n}", f"https://s{n}.cn/a(b) c", "") for n in range(1, 4)]
    + [SearchResultItem("no link", "ftp://x", "")]
)
FRAGMENTS = [
    "[1]", "[2]", "[4]", "[9]", "[1, 9]", "[2,4]", "[1-3]", "【1】", "【2†source】", "［２］", "[^1]", "[[1]]",
    "[0]", "[abc]", "[", "]", "(", ")", "`", "``", "```", "~~~", "\n", "\n\n", "\r\n", "    ", "\t", "> ", "- ",
    "1. ", "# ", "<", ">", "\\", "!", ":", " ", "a", "foo", "x", "中文", "。", "=", ".", "|", "*", "_", '"',
    "'", "-", "1", ",", "†", "【", "】", "(2020)", "self.", "https://a.b/c", "www.x.y", "](https://u)",
    '](u "t")', "<https://x[1]>", '<a b="[1]">', "[foo]: ", "[t", "&", "[[1]](https://s1.cn/a%28b%29%20c)",
]  # fmt: skip
answers = st.one_of(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join), st.text(max_size=60))


def streamed(text: str, cuts: list[int]) -> str:
    stream = PROCESSOR.stream()
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [stream.feed(text[start:end]) for start, end in pairwise(edges)]
    return "".join(pieces) + stream.finish()


@examples(6)
@given(answers, st.lists(st.integers(0, 200), max_size=12))
@example("甲[1", [3])
@example("`[1]", [1, 2, 3])
@example("[a [1]](u)", [4, 7])
def test_any_chunking_gives_the_same_output(text: str, cuts: list[int]) -> None:
    whole = PROCESSOR.convert(text)
    assert streamed(text, cuts) == whole
    assert streamed(text, list(range(len(text)))) == whole


@examples(6)
@given(answers)
@example("[a](b[1, 9])")
@example("\\【1】")
@example("![1]")
@example("【1, 9】(https://x)")
@example("https://a.b/x【1】[foo [2]](https://b)")
def test_conversion_is_idempotent(text: str) -> None:
    once = PROCESSOR.convert(text)
    assert PROCESSOR.convert(once) == once


REPLACEMENT = r" ?(?:\[\[[1-3]\]\]\(https://s[1-3]\.cn/a%28b%29%20c\)|[\[［【]\^?[0-9, -]+[\]］】])+"


@examples(6)
@given(answers)
def test_text_outside_markers_is_never_altered(text: str) -> None:
    converted = PROCESSOR.analyse(text)
    pattern, position = "", 0
    for marker in sorted(converted.markers, key=lambda marker: marker.start):
        written = re.escape(text[marker.start : marker.end])
        pattern += f"{re.escape(text[position : marker.start])}(?:{written}|{REPLACEMENT})"
        position = marker.end
    assert re.fullmatch(pattern + re.escape(text[position:]), converted.text)


@given(st.text(alphabet=st.characters(exclude_characters="[【［"), max_size=200))
def test_text_without_brackets_passes_at_once(text: str) -> None:
    stream = PROCESSOR.stream()
    assert stream.feed(text) == text
    assert stream.finish() == ""


@pytest.mark.parametrize(
    ("pieces", "outputs"),
    [
        (["甲", "[", "1", "]", "。"], ["甲", "", "", "", "[[1]](https://s1.cn/a%28b%29%20c)。"]),
        (["甲[", "abc", "]"], ["甲", "[abc", "]"]),
        (["甲[12", ":30]"], ["甲", "[12:30]"]),
        (["**粗", "体** `co", "de` 尾"], ["**粗", "体** `co", "de` 尾"]),
        (["```\n", "x = a[1]\n", "```\n"], ["```\n", "x = a[1]\n", "```\n"]),
        (["见 `a [1", "]` 了"], ["见 `a ", "[1]` 了"]),
        (["甲[1]", "(u)"], ["甲", "[1](u)"]),
        (["甲[1]\n"], ["甲[[1]](https://s1.cn/a%28b%29%20c)\n"]),
    ],
)
def test_only_what_may_be_a_marker_is_held_back(pieces: list[str], outputs: list[str]) -> None:
    stream = PROCESSOR.stream()
    assert [stream.feed(piece) for piece in pieces] == outputs


def test_finish_gives_what_was_held_back_and_then_nothing() -> None:
    stream = PROCESSOR.stream()
    assert stream.feed("甲[1") == "甲"
    assert stream.finish() == "[1"
    assert stream.finish() == ""
    with pytest.raises(RuntimeError, match="finished"):
        stream.feed("乙")


def test_stream_tells_what_it_has_seen_so_far() -> None:
    stream = PROCESSOR.stream()
    stream.feed("甲[2] 乙[9]，")
    assert (list(stream.used), stream.invalid) == ([2], {9: 1})
    stream.feed("丙[1][9]。")
    stream.finish()
    assert (list(stream.used), stream.invalid) == ([1, 2], {9: 2})
    assert [marker.numbers for marker in stream.markers] == [(2,), (1,)]


HOSTILE = [
    "[",
    "[a[1]",
    "` `` ``` [1] ",
    "[1](a",
    "<a [1] ",
    "`[1] x",
    '![1](u "',
    "[1, ",
    "https://a/[1](",
    "```x",
    "]([1",
    "[a][",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_length_of_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        started = time.process_time()
        stream = PROCESSOR.stream()
        for start in range(0, size, 4):
            stream.feed(text[start : start + 4])
        stream.finish()
        return time.process_time() - started

    small = min(seconds(4_000) for _ in range(2))
    # Eight times the text: quadratic work would take 64 times as long. The margin is for a busy machine.
    assert seconds(32_000) < 24 * small + 0.2
