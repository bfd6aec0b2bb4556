"""What the sources of a turn have on its question: the passages that answer, how well, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from qiusuo.citations.meaning.wording import is_chinese
from qiusuo.passages import ANSWERS_FROM, WEAK_BELOW, Difference, Passage, Text, coverage, differences, pick

MOST_CHARS: Final = 6000
"""Characters of all passages together, where the model has room for them."""
LEAST_CHARS: Final = 300
# A snippet that names the thing and some number covers much of a question without answering it.
_AMPLE: Final = 0.75
# Passages that rank lower than this share of the best one only take room.
_KEPT_SHARE: Final = 0.2
# What a source is about is seen from so many characters.
_BEGINNING: Final = 2000


@dataclass(frozen=True, slots=True)
class Evidence:
    """Passages by the number of their source, the best one first, and what follows from them.

    ``covered``: they answer the question; ``amply``: so well that nothing else need be read. ``weak``: sources that
    hardly touch it. ``differences``: where two sources say different things of what is asked.
    """

    passages: Mapping[int, tuple[Passage, ...]] = field(default_factory=dict)
    covered: bool = False
    amply: bool = False
    weak: frozenset[int] = frozenset()
    differences: tuple[Difference, ...] = ()

    def of(self, number: int) -> tuple[Passage, ...]:
        """Return the passages of a source."""
        return self.passages.get(number, ())


def body(passage: Passage) -> str:
    """Return the sentences of a passage without the headings and the title that stand among them, a line each."""
    above = {heading.strip("# ").lower() for heading in (passage.heading, passage.title)}
    lines = (line.strip() for line in passage.text.splitlines())
    return "\n".join(line for line in lines if line and line[0] != "#" and line.lower() not in above) or passage.text


def weigh(question: str, texts: Sequence[Text], budget: int = MOST_CHARS) -> Evidence:
    """Say what texts have on a question. Long pages take a while: call it in a thread."""
    found = pick(question, texts, budget)
    best = max((passage.score for passage in found), default=0.0)
    passages = [passage for passage in found if passage.score >= _KEPT_SHARE * best]
    share = coverage(question, passages)
    covered = share >= ANSWERS_FROM
    return Evidence(
        _by_source(passages),
        covered,
        share >= _AMPLE,
        weak_among(question, texts, _by_source(found)),
        tuple(differences(question, passages)) if covered else (),
    )


def _by_source(passages: Iterable[Passage]) -> dict[int, tuple[Passage, ...]]:
    found: dict[int, tuple[Passage, ...]] = {}
    for passage in passages:
        found[passage.number] = (*found.get(passage.number, ()), passage)
    return found


def weak_among(
    question: str, texts: Sequence[Text], picked: Mapping[int, Sequence[Passage]] | None = None
) -> frozenset[int]:
    """Return the sources that hardly touch a question; words of another language cannot be compared.

    ``picked`` are passages that were chosen already, by the number of their source.
    """
    own = is_chinese(question)
    weak: set[int] = set()
    for text in texts:
        if is_chinese(f"{text.title} {text.text[:_BEGINNING]}") != own:
            continue
        # What was chosen among all is its best; of a source that was not chosen, how it begins.
        beginning = replace(text, text=text.text[:_BEGINNING])
        passages = (picked or {}).get(text.number) or pick(question, [beginning], _BEGINNING)
        if coverage(question, passages) < WEAK_BELOW:
            weak.add(text.number)
    return frozenset(weak)
