"""Times in parts with fixed bounds: near the truth, and the same whoever adds them up."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from qiusuo.usage.histogram import BOUNDS, PARTS, part_of, quantile

TIMES = st.lists(st.floats(0.0, 300.0), min_size=1, max_size=60)


def counted(times: list[float]) -> list[int]:
    counts = [0] * PARTS
    for each in times:
        counts[part_of(each)] += 1
    return counts


@given(TIMES, st.sampled_from([0.5, 0.95]))
def test_a_quantile_lies_in_the_part_of_the_true_one(times: list[float], share: float) -> None:
    told = quantile(counted(times), share)
    true = sorted(times)[math.ceil(len(times) * share) - 1]
    assert told is not None
    assert part_of(told) <= part_of(true) <= part_of(told + 1e-9)


@given(TIMES, TIMES)
def test_parts_add_up(one: list[float], other: list[float]) -> None:
    assert counted(one + other) == [a + b for a, b in zip(counted(one), counted(other), strict=True)]


def test_the_ends() -> None:
    assert quantile([0] * PARTS, 0.5) is None
    assert quantile(counted([10_000.0]), 0.5) == BOUNDS[-1]
    assert part_of(0.0) == 0
