"""What the sources of a turn have on its question: the passages that answer, how well, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from qiusuo.citations.meaning.wording import is_chinese
from qiusuo.passages import ANSWERS_FROM, WEAK_BELOW, Difference, Passage, Text, coverage, differences, pick

MOST_CHARS: Final = 6000
"""Characters of all passages together, where the model has room for them."""
LEAST_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Evidence:
    """Passages by the number of their source, the best one first, and what follows from them.

    ``covered``: they answer the question. ``weak``: sources that hardly touch it. ``differences``: where two sources
    say different things of what is asked.
    """

    passages: Mapping[int, tuple[Passage, ...]] = field(default_factory=dict)
    covered: bool = False
    weak: frozenset[int] = frozenset()
    differences: tuple[Difference, ...] = ()

    def of(self, number: int) -> tuple[Passage, ...]:
        """Return the passages of a source."""
        return self.passages.get(number, ())


def weigh(question: str, texts: Sequence[Text], budget: int = MOST_CHARS) -> Evidence:
    """Say what texts have on a question. Long pages take a while: call it in a thread."""
    passages = pick(question, texts, budget)
    share = coverage(question, passages)
    covered = share >= ANSWERS_FROM
    by_source: dict[int, list[Passage]] = {}
    for passage in passages:
        by_source.setdefault(passage.number, []).append(passage)
    return Evidence(
        {number: tuple(found) for number, found in by_source.items()},
        covered,
        weak_among(question, texts, by_source),
        tuple(differences(question, passages)) if covered else (),
    )


def weak_among(
    question: str, texts: Sequence[Text], picked: Mapping[int, Sequence[Passage]] | None = None
) -> frozenset[int]:
    """Return the sources that hardly touch a question; words of another language cannot be compared.

    ``picked`` are passages that were chosen already, by the number of their source.
    """
    own = is_chinese(question)
    weak: set[int] = set()
    for text in texts:
        if is_chinese(f"{text.title} {text.text[:1000]}") != own:
            continue
        # What was chosen among all is its best; of a source that was not chosen its own best counts.
        passages = (picked or {}).get(text.number) or pick(question, [text], len(text.text))
        if coverage(question, passages) < WEAK_BELOW:
            weak.add(text.number)
    return frozenset(weak)
