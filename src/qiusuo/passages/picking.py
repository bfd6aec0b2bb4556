"""Picks the passages of sources that answer a question best, within a number of characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from qiusuo.passages.question import read_question
from qiusuo.passages.ranking import SHORTEST, Candidate, rank
from qiusuo.passages.reading import Page, Text

# The best sentence is read together with the one before it and the one behind it, unless these are long.
_LONGEST_NEIGHBOUR: Final = 100
_ENOUGH_ROOM: Final = 900
_FIRST_SENTENCES: Final = 3
# A page may say the same a thousand times; behind so many nothing is chosen.
_MOST_LOOKED_AT: Final = 400
_FIRST_SOURCES: Final = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a source: ``text`` is ``source.text[start:end]``.

    ``sentence`` is the one in it that answers best, ``heading`` what stands above that, ``title`` the source's.
    ``also`` are the numbers of other sources that have the same sentence. Scores can be compared within one call only;
    0 means no word in common.
    """

    number: int
    text: str
    start: int
    end: int
    score: float
    sentence: str
    title: str = ""
    heading: str = ""
    also: tuple[int, ...] = ()


def pick(question: str, texts: Iterable[Text], budget: int, *, ordered: bool = True) -> list[Passage]:
    """Return the passages that answer a question best, the best one first, of ``budget`` characters together.

    Sentences are chosen in the order of their rank, unless one is longer than what is left of the budget; those that
    stand side by side are one passage. Of each text the first `MOST_READ` characters are read. Where no text has a word
    of the question (most often it is in another language), the beginnings of the first texts are returned.
    ``ordered``: earlier texts are likelier to answer, as results of a search are; not so the pages of a file.
    """
    pages = [Page(text, place) for place, text in enumerate(texts)]
    choice = _Choice(budget)
    ranked = rank(read_question(question), pages, ordered=ordered)
    for candidate in ranked[:_MOST_LOOKED_AT] or _beginnings(pages):
        if choice.is_full:
            break
        choice.take(candidate)
    return choice.passages()


def ranked_sentences(question: str, texts: Iterable[Text]) -> list[tuple[int, str, float]]:
    """Return the sentences that have something of the question, the best one first: source's number, text, score."""
    pages = [Page(text, place) for place, text in enumerate(texts)]
    ranked = rank(read_question(question), pages)
    return [(each.page.source.number, each.page.sentence(each.index), each.score) for each in ranked]


def _beginnings(pages: Sequence[Page]) -> Iterator[Candidate]:
    for page in pages[:_FIRST_SOURCES]:
        for index in range(min(_FIRST_SENTENCES, len(page.spans))):
            yield Candidate(page, index, 0.0)


class _Choice:
    """The sentences chosen so far, and what room is left."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._left = budget
        self._pages: dict[int, dict[int, Candidate]] = {}
        self._taken: dict[str, Candidate] = {}
        self._also: dict[str, list[int]] = {}

    @property
    def is_full(self) -> bool:
        return self._left < SHORTEST

    def take(self, candidate: Candidate) -> None:
        page, index = candidate.page, candidate.index
        key = _key(page.sentence(index))
        twin = self._taken.get(key)
        if twin is not None:
            if twin.page.source.number != page.source.number:
                self._also.setdefault(key, []).append(page.source.number)
            return
        first = not self._taken
        if self._add(candidate, key) and first and self._budget >= _ENOUGH_ROOM:
            for near in range(max(index - 1, 0), min(index + 2, len(page.spans))):
                sentence = page.sentence(near)
                if near in page.headings or page.heading_of[near] != page.heading_of[index]:
                    continue  # another section
                if len(sentence) <= _LONGEST_NEIGHBOUR and _key(sentence) not in self._taken:
                    self._add(Candidate(page, near, 0.0), _key(sentence))

    def _add(self, candidate: Candidate, key: str) -> bool:
        page, index = candidate.page, candidate.index
        chosen = self._pages.setdefault(page.place, {})
        start, end = page.spans[index]
        # Between sentences that become one passage, what stands between them counts too.
        cost = end - start
        cost += start - page.spans[index - 1][1] if index - 1 in chosen else 0
        cost += page.spans[index + 1][0] - end if index + 1 in chosen else 0
        if cost > self._left:
            return False
        self._left -= cost
        chosen[index] = candidate
        self._taken[key] = candidate
        return True

    def passages(self) -> list[Passage]:
        found = [self._passage(run) for chosen in self._pages.values() for run in _runs(chosen)]
        return sorted(found, key=lambda passage: -passage.score)

    def _passage(self, run: list[Candidate]) -> Passage:
        best = max(run, key=lambda candidate: candidate.score)
        page = best.page
        start, end = page.spans[run[0].index][0], page.spans[run[-1].index][1]
        sentence = page.sentence(best.index)
        also = {number for one in run for number in self._also.get(_key(page.sentence(one.index)), ())}
        return Passage(
            number=page.source.number,
            text=page.text[start:end],
            start=start,
            end=end,
            score=best.score,
            sentence=sentence,
            title=page.source.title,
            heading=page.heading(best.index),
            also=tuple(sorted(also - {page.source.number})),
        )


def _runs(chosen: dict[int, Candidate]) -> Iterator[list[Candidate]]:
    """Yield the sentences that stand side by side, in their order."""
    run: list[Candidate] = []
    for index in sorted(chosen):
        if run and index != run[-1].index + 1:
            yield run
            run = []
        run.append(chosen[index])
    if run:
        yield run


def _key(sentence: str) -> str:
    """Return a sentence without what differs between copies of it."""
    return "".join(character for character in sentence.lower() if character.isalnum()) or sentence
