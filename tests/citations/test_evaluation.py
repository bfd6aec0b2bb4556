"""The labelled pairs, and what the support check must reach on the half that was set aside."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

EVALUATION = Path(__file__).parents[2] / "eval" / "citations"
SETS = ("tune", "tune_more", "held_out")
KINDS = {"true", "paraphrased", "number_changed", "negated", "unrelated", "entity_swapped"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EVALUATION / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def evaluate() -> dict[str, Any]:
    return runpy.run_path(str(EVALUATION / "evaluate.py"))


@pytest.mark.parametrize("name", SETS)
def test_each_set_has_both_languages_and_all_kinds(name: str) -> None:
    claims = [(row["lang"], claim) for row in rows(name) for claim in row["claims"]]
    assert len(claims) >= 150
    for language in ("zh", "en"):
        kinds = Counter(claim["kind"] for lang, claim in claims if lang == language)
        assert all(kinds[kind] >= 10 for kind in KINDS), kinds


def test_sets_share_no_source_and_no_claim() -> None:
    for key in ("id", "source"):
        found = [row[key] for name in SETS for row in rows(name)]
        assert len(found) == len(set(found))
    texts = [claim["text"] for name in SETS for row in rows(name) for claim in row["claims"]]
    assert len(texts) == len(set(texts)) >= 300


def test_label_follows_from_the_kind() -> None:
    wanted = {"true": "supported", "paraphrased": "supported", "partial": "weak"}
    for name in SETS:
        for row in rows(name):
            assert all(claim["label"] == wanted.get(claim["kind"], "not_found") for claim in row["claims"])


def test_held_out_half_reaches_the_floor(evaluate: dict[str, Any]) -> None:
    """Measured when this was written: F1 of not_found 0.914, precision of supported 0.907, changed numbers 50 of 51."""
    outcomes = evaluate["judge"](evaluate["load"]("held_out"))
    assert evaluate["score"](outcomes, "not_found").f1 >= 0.9
    assert evaluate["score"](outcomes, "supported").precision >= 0.9
    changed = [outcome for outcome in outcomes if outcome.pair.kind == "number_changed"]
    assert sum(outcome.right for outcome in changed) >= len(changed) - 2
    rephrased = [outcome for outcome in outcomes if outcome.pair.kind == "paraphrased"]
    assert sum(outcome.verdict.support.value == "not_found" for outcome in rephrased) <= 8
