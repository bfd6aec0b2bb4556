"""The grammar of markers, and brackets that only look like one."""

from __future__ import annotations

import pytest

from qiusuo.citations.linking.markers import MAX_NUMBERS, marker_at, may_become_marker

NUMBERS = {
    "[1]": (1,),
    "[12]": (12,),
    "[1, 2]": (1, 2),
    "[1,2]": (1, 2),
    "[1，2]": (1, 2),
    "[1、2]": (1, 2),
    "[1; 2]": (1, 2),
    "[1-3]": (1, 2, 3),
    "[1–3]": (1, 2, 3),
    "[1—3]": (1, 2, 3),
    "[1~3]": (1, 2, 3),
    "[1至3]": (1, 2, 3),
    "[1, 3-5]": (1, 3, 4, 5),
    "[ 1 ]": (1,),
    "[01]": (1,),
    "[^1]": (1,),
    "[^1, ^2]": (1, 2),
    "【1】": (1,),
    "【1，2】": (1, 2),
    "【1†source】": (1,),
    "【3†L12-L5】": (3,),
    "［１］": (1,),
    "［１，２］": (1, 2),
    "[１]": (1,),
}

NO_MARKERS = [
    "[abc]", "[1a]", "[12:30]", "[1.5]", "[]", "[ ]", "[x]", "[0]", "[00]", "[0, 1]", "[1-]", "[-1]", "[3-1]", "[1",
    "1]", "[1 2]", "[1\n]", "[1234567890]", "[1-999999999]", "[1】", "【1]", "(1)", "[1,,2]", "[来源1]",
    "【1†a very long tail】",
]  # fmt: skip


@pytest.mark.parametrize(("text", "numbers"), NUMBERS.items())
def test_marker_names_its_numbers(text: str, numbers: tuple[int, ...]) -> None:
    marker = marker_at(f"x{text}y", 1)
    assert marker is not None
    assert marker.numbers == numbers
    assert (marker.start, marker.end) == (1, 1 + len(text))


@pytest.mark.parametrize("text", NO_MARKERS)
def test_other_brackets_are_no_markers(text: str) -> None:
    assert marker_at(text, 0) is None


def test_ranges_cannot_explode() -> None:
    assert marker_at(f"[1-{MAX_NUMBERS}]", 0) is not None
    assert marker_at(f"[1-{MAX_NUMBERS + 1}]", 0) is None
    assert marker_at("[" + ", ".join(f"{i * 50}-{i * 50 + 49}" for i in range(1, 9)) + "]", 0) is None


@pytest.mark.parametrize("text", NUMBERS)
def test_every_beginning_of_a_marker_may_become_one(text: str) -> None:
    for end in range(1, len(text)):
        assert may_become_marker(text[:end], 0), text[:end]


@pytest.mark.parametrize("text", ["[a", "[1a", "[12:", "[" + "1" * 200, "(1"])
def test_text_is_not_held_back_for_what_cannot_become_a_marker(text: str) -> None:
    assert not may_become_marker(text, 0)
