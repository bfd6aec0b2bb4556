"""What legal search shall reach, beside what it reaches."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """A figure, and whether it shall be at least or at most so large."""

    name: str
    wanted: float
    at_most: bool = False


GOALS = {
    "words": Goal("words R@10, fitted on other folds", 0.59),
    "hybrid": Goal("hybrid R@10, fitted on other folds", 0.66),
    "hybrid mrr": Goal("hybrid MRR@10, fitted on other folds", 0.56),
    "hybrid apart": Goal("hybrid R@10, no article in two folds", 0.63),
    "ms": Goal("hybrid CPU ms p95 of a search", 40.0, at_most=True),
    "lay": Goal("lay questions held out: right article among the first two", 0.55),
    "recognised": Goal("lay questions held out: recognised as legal", 0.90),
    "confident": Goal("everyday questions held out: answered out of statutes", 0.02, at_most=True),
    "false": Goal("everyday questions held out: taken for legal", 0.01, at_most=True),
    "NDCG@10": Goal("cases NDCG@10, variant chosen on the other queries", 0.79),
    "MAP": Goal("cases MAP, variant chosen on the other queries", 0.53),
}


@dataclass
class Reached:
    """What was measured in this run."""

    values: dict[str, float] = field(default_factory=dict)
    plain: dict[str, float] = field(default_factory=dict)
    """The same without the questions that were written for articles."""

    def note(self, key: str, value: float, *, without: bool) -> None:
        """Keep the first figure of a goal of which several are measured, the last for lay questions (held out)."""
        kept = self.plain if without else self.values
        if key == "lay" or key not in kept:
            kept[key] = value

    def table(self) -> list[str]:
        """Return a line for each goal: what is wanted, what was without the written questions, what was reached."""
        lines = [f"{'goal':<62}{'wanted':>10}{'without':>10}{'reached':>10}"]
        for key, goal in GOALS.items():
            value = self.values.get(key)
            wanted = f"{'<=' if goal.at_most else '>='} {goal.wanted:g}"
            if value is None:
                lines.append(f"{goal.name:<62}{wanted:>10}{'-':>10}{'-':>10}")
                continue
            before = f"{self.plain[key]:.3f}" if key in self.plain else "-"
            met = value <= goal.wanted if goal.at_most else value >= goal.wanted
            lines.append(f"{goal.name:<62}{wanted:>10}{before:>10}{value:>10.3f}{'' if met else '   missed'}")
        return lines
