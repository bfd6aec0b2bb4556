"""Prints the evaluation of passages."""

from __future__ import annotations

import argparse
import sys

from eval.passages import evaluate
from eval.passages.data import MISSING, SETS, Row, available, load

HALVES = ("even", "odd", "all")


def _halves(rows: list[Row]) -> dict[str, list[Row]]:
    even = [row for row in rows if row.even]
    return {"even": even, "odd": [row for row in rows if not row.even], "all": rows}


def _line(name: str, values: dict[str, float], goal: str = "") -> None:
    print(f"{name:<64}" + "".join(f"{values[half]:>7.3f}" for half in HALVES if half in values) + f"   {goal}")


def _head(title: str) -> None:
    print(f"\n== {title} ==\n{'':<64}" + "".join(f"{half:>7}" for half in HALVES) + "   goal")


def _picking(sets: dict[str, dict[str, list[Row]]]) -> None:
    _head("Is the answer in what is picked?")
    for budget, goal in ((600, "at least .86"), (1500, "at least .97")):
        found = {half: evaluate.in_page(rows, budget) for half, rows in sets["zh_refine"].items()}
        _line(f"zh_refine, page of 1 right and 14 wrong, best {budget} characters", found, goal)
    for name, right, wrong, goal in (
        ("zh_refine", 3, 2, "at least .72"),
        ("zh_refine", 1, 4, "at least .56"),
        ("zh_fact", 1, 4, ""),
        ("en_fact", 1, 4, ""),
    ):
        found_quotes = {half: evaluate.quotes(rows, right, wrong) for half, rows in sets[name].items()}
        title = f"{name}, {right} right and {wrong} wrong: "
        _line(f"{title}first sentence", {half: one.first_sentence for half, one in found_quotes.items()}, goal)
        _line(f"{title}first passage", {half: one.first_passage for half, one in found_quotes.items()})
        _line(f"{title}900 characters", {half: one.all_of_it for half, one in found_quotes.items()})


def _coverage(sets: dict[str, dict[str, list[Row]]]) -> None:
    together = {half: [row for name in SETS for row in sets[name][half]] for half in ("even", "odd")}
    fitted = evaluate.refusals(together["even"], None).threshold
    for title, threshold in (
        (f"at 5 % false refusals of the even rows ({fitted:.3f})", fitted),
        (f"at ANSWERS_FROM ({evaluate.ANSWERS_FROM})", evaluate.ANSWERS_FROM),
    ):
        _head(f"Questions that are refused {title}, all sets")
        found = {half: evaluate.refusals(rows, threshold) for half, rows in together.items()}
        _line("answer in three passages of five", {half: one.answered for half, one in found.items()}, "about .05")
        _line("answer in one passage of five", {half: one.answered_by_one for half, one in found.items()})
        _line("passages of another question", {half: one.other_question for half, one in found.items()}, "at least .98")
        _line("wrong passages on the topic", {half: one.same_topic for half, one in found.items()}, "at least .20")


def _differences(sets: dict[str, dict[str, list[Row]]]) -> None:
    _head("Is it told that sources differ?")
    facts = {half: [*sets["zh_fact"][half], *sets["en_fact"][half]] for half in HALVES}
    for name, rows in (("zh_fact", sets["zh_fact"]), ("en_fact", sets["en_fact"]), ("both", facts)):
        found = {half: evaluate.told(of_half) for half, of_half in rows.items()}
        goals = ("at least .60", "at most .10") if name == "both" else ("", "")
        _line(
            f"{name}, right and wrong passage of different texts", {h: o.other_text for h, o in found.items()}, goals[0]
        )
        _line(f"{name}, the same, with the right or wrong answer as value", {h: o.rightly for h, o in found.items()})
        _line(f"{name}, the same text right and wrong", {h: o.same_text for h, o in found.items()})
        _line(f"{name}, false: right passages only", {h: o.clean for h, o in found.items()}, goals[1])
        _line(f"{name}, false: one right, one without the answer", {h: o.unanswered for h, o in found.items()})
    _line("zh_refine, right passages only", {h: evaluate.clean(rows) for h, rows in sets["zh_refine"].items()})


def _times(sets: dict[str, dict[str, list[Row]]]) -> None:
    print("\n== Times of picking (ms; the goal is 40 ms for a page of 200 kB) ==")
    for name, query in (
        ("zh_refine", "2022年北京冬奥会高校志愿者有多少人"),
        ("en_fact", "Who won the US Open in 2021?"),
    ):
        text = "\n\n".join(text for row in sets[name]["all"] for text in row.positive + row.negative)
        text *= 1 + 5_000_000 // len(text)
        kilobytes = text.encode()[:200_000].decode(errors="ignore")
        print(f"{name}: 200 kB {evaluate.seconds(query, [kilobytes]) * 1e3:.0f}", end=", ")
        print(f"200,000 characters {evaluate.seconds(query, [text[:200_000]]) * 1e3:.0f}", end=", ")
        print(f"five pages of 5 million characters {evaluate.seconds(query, [text[:5_000_000]] * 5) * 1e3:.0f}")


def main() -> int:
    """Evaluate all, where the data is there."""
    argparse.ArgumentParser(prog="python -m eval.passages", description=__doc__).parse_args()
    if not available():
        print(f"eval.passages: skipped, {MISSING}")
        return 0
    sets = {name: _halves(load(name)) for name in SETS}
    _picking(sets)
    _coverage(sets)
    _differences(sets)
    _times(sets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
