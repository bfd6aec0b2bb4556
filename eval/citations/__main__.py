"""Prints the evaluation of the support check."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from eval.citations.evaluate import LABELS, Outcome, judge, load, score

SETS = ("tune", "tune_more", "held_out")

CANNOT_CATCH = """\
What the default (lexical) check cannot catch, by its nature:
  - roles exchanged inside one sentence of the source (梅西以8球获得金靴奖, where the source says 姆巴佩 did), unless
    two Latin names change places around the same verb
  - a number or title that is in the passage but belongs to something else, where the words next to it are the same
  - a common noun exchanged for another in a sentence that is rephrased anyway (beta blockers for statins)
  - a statement turned round without a negation, an opposite or a number
  - whether a paraphrase with hardly a word in common is right: it is called weak, or not found
  - anything but numbers when claim and source are in different languages: at best weak
  - Traditional against Simplified Chinese characters; sums, comparisons, conclusions over several sentences
"""


def _table(title: str, outcomes: list[Outcome]) -> None:
    right = sum(outcome.right for outcome in outcomes)
    print(f"\n== {title}: {len(outcomes)} pairs, {right / len(outcomes):.1%} labelled exactly right ==")
    print(f"{'label':<12}{'pairs':>6}{'precision':>11}{'recall':>8}{'F1':>7}")
    for label in LABELS:
        found = score(outcomes, label)
        print(f"{label:<12}{found.count:>6}{found.precision:>11.3f}{found.recall:>8.3f}{found.f1:>7.3f}")
    share = sum(o.pair.label == "not_found" for o in outcomes) / len(outcomes)
    print(f"(calling everything not_found would have F1 {2 * share / (1 + share):.3f})")
    print(f"\n{'kind':<16}{'wanted':<11}{'pairs':>6}" + "".join(f"{label:>11}" for label in LABELS))
    kinds = Counter((o.pair.kind, o.pair.label) for o in outcomes)
    for (kind, label), count in sorted(kinds.items(), key=lambda entry: (LABELS.index(entry[0][1]), entry[0][0])):
        given = Counter(o.verdict.support.value for o in outcomes if o.pair.kind == kind)
        print(f"{kind:<16}{label:<11}{count:>6}" + "".join(f"{given[each]:>11}" for each in LABELS))
    languages = sorted({o.pair.language for o in outcomes})
    scores = (
        (language, score([o for o in outcomes if o.pair.language == language], "not_found")) for language in languages
    )
    print("\nF1 of not_found by language: " + ", ".join(f"{language} {found.f1:.3f}" for language, found in scores))


def main() -> None:
    """Evaluate all sets, or list the mistakes of one."""
    parser = argparse.ArgumentParser(prog="python -m eval.citations", description=__doc__)
    parser.add_argument("--mistakes", choices=list(SETS), help="list the wrong verdicts of one set")
    asked = parser.parse_args()
    for name in SETS:
        if asked.mistakes not in {None, name}:
            continue
        pairs = load(name)
        started = time.perf_counter()
        outcomes = judge(pairs)
        spent = (time.perf_counter() - started) / len(pairs)
        _table(f"{name} ({spent * 1e6:.0f} µs per pair)", outcomes)
        if asked.mistakes:
            print()
            for outcome in (o for o in outcomes if not o.right):
                reasons = ", ".join(reason.value for reason in outcome.verdict.reasons)
                pair = outcome.pair
                print(f"{pair.source_id} {pair.kind}: {pair.label} called {outcome.verdict.support.value} ({reasons})")
                print(f"    {pair.claim}")
    print(f"\n{CANNOT_CATCH}")


if __name__ == "__main__":
    main()
