"""Measures of ranked lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

STARD_DEPTHS = (5, 10, 20, 100)


def stard_measures(ranked: Sequence[Sequence[int]], gold: Sequence[set[int]]) -> dict[str, float]:
    """Return recall at several depths, MRR@10 and nDCG@10, averaged over questions."""
    totals = {**{f"R@{depth}": 0.0 for depth in STARD_DEPTHS}, "MRR@10": 0.0, "nDCG@10": 0.0}
    for found, right in zip(ranked, gold, strict=True):
        for depth in STARD_DEPTHS:
            totals[f"R@{depth}"] += len(right.intersection(found[:depth])) / len(right)
        places = [place for place, document in enumerate(found[:10]) if document in right]
        totals["MRR@10"] += 1 / (places[0] + 1) if places else 0.0
        ideal = sum(1 / math.log2(place + 2) for place in range(min(len(right), 10)))
        totals["nDCG@10"] += sum(1 / math.log2(place + 2) for place in places) / ideal
    return {name: total / len(ranked) for name, total in totals.items()}


def lecard_measures(ranked: Sequence[Sequence[str]], grades: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Return P@5 and MAP (grade 3 is relevant) and NDCG at three depths, over each query's 30 candidates."""
    totals = {"P@5": 0.0, "MAP": 0.0, "NDCG@10": 0.0, "NDCG@20": 0.0, "NDCG@30": 0.0}
    for found, grade in zip(ranked, grades, strict=True):
        relevant = [place for place, case in enumerate(found) if grade[case] == 3]
        totals["P@5"] += sum(place < 5 for place in relevant) / 5
        hits = [(rank + 1) / (place + 1) for rank, place in enumerate(relevant)]
        totals["MAP"] += sum(hits) / len(hits) if hits else 0.0
        for depth in (10, 20, 30):
            best = sorted(grade.values(), reverse=True)[:depth]
            ideal = sum(value / math.log2(place + 2) for place, value in enumerate(best))
            gained = sum(grade[case] / math.log2(place + 2) for place, case in enumerate(found[:depth]))
            totals[f"NDCG@{depth}"] += gained / ideal if ideal else 0.0
    return {name: total / len(ranked) for name, total in totals.items()}
