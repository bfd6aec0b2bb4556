"""Runs a judge over labelled pairs and counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qiusuo.citations import ClaimPair, Evidence, LexicalJudge, SupportJudge, Verdict

HERE = Path(__file__).parent
LABELS = ("supported", "weak", "not_found")


@dataclass(frozen=True)
class Pair:
    """A sentence, the source it cites, and what is true of the two."""

    source_id: str
    language: str
    kind: str
    label: str
    claim: str
    evidence: Evidence


@dataclass(frozen=True)
class Outcome:
    """A pair and the verdict on it."""

    pair: Pair
    verdict: Verdict

    @property
    def right(self) -> bool:
        return self.verdict.support.value == self.pair.label


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 of one label."""

    precision: float
    recall: float
    count: int

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def load(name: str) -> list[Pair]:
    """Return the pairs of ``tune``, ``tune_more`` or ``held_out``."""
    pairs = []
    for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        evidence = Evidence(row["title"], row["source"])
        pairs += [
            Pair(row["id"], row["lang"], claim["kind"], claim["label"], claim["text"], evidence)
            for claim in row["claims"]
        ]
    return pairs


def judge(pairs: Sequence[Pair], by: SupportJudge | None = None) -> list[Outcome]:
    """Return the verdict on each pair."""
    verdicts = (by or LexicalJudge()).judge_all([ClaimPair(pair.claim, pair.evidence) for pair in pairs])
    return [Outcome(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]


def score(outcomes: Iterable[Outcome], label: str) -> Score:
    """Return how well a label was found."""
    counts = Counter((o.pair.label == label, o.verdict.support.value == label) for o in outcomes)
    hits = counts[True, True]
    return Score(
        precision=hits / max(1, hits + counts[False, True]),
        recall=hits / max(1, hits + counts[True, False]),
        count=hits + counts[True, False],
    )
