"""Which words of a question stand in which sentences of a page, and around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from qiusuo.passages.question import Question
from qiusuo.passages.reading import Page, occurrences, same_length_fold

# Stands for the number of what the question counts, as if it were a word.
COUNTED: Final = "#counted"
# How much words count that stand so many sentences away.
_AWAY: Final = ((1, 0.5), (2, 0.2), (3, 0.1), (4, 0.1))
_REACH: Final = 2
_HEADING: Final = 0.4
_TITLE: Final = 0.35


class Match:
    """A page and the words in its sentences."""

    __slots__ = ("hits", "page", "title")

    def __init__(self, page: Page, question: Question, words: frozenset[str]) -> None:
        self.page = page
        self.hits: dict[int, set[str]] = defaultdict(set)
        for word in words:
            for position in occurrences(page.folded, word):
                self.hits[page.sentence_at(position)].add(word)
        if question.counted:
            for match in re.finditer(question.counted, page.folded):
                self.hits[page.sentence_at(match.start())].add(COUNTED)
        # What stands above a whole page is its title as well; its date tells the year.
        top = page.sentence(0) if 0 in page.headings else ""
        title = same_length_fold(f"{page.source.title}\n{page.source.date}\n{top}")
        self.title = {word for word in words if next(occurrences(title, word), None) is not None}

    def places(self) -> list[int]:
        """Return the sentences that have a word or stand next to one that does; all where only the title has any."""
        last = len(self.page.spans)
        if not self.hits and self.title:
            return list(range(min(last, 2 * _REACH)))
        return sorted({near for hit in self.hits for near in range(max(hit - _REACH, 0), min(hit + _REACH + 1, last))})

    def surroundings(self, index: int) -> Iterator[tuple[float, set[str]]]:
        """Yield the words that a sentence does not have but its neighbours, heading or title do, with their weight."""
        seen = set(self.hits.get(index, ()))
        parts = [
            (weight, self.hits.get(index - away, set()) | self.hits.get(index + away, set())) for away, weight in _AWAY
        ]
        heading = self.page.heading_of[index]
        parts += [(_HEADING, self.hits.get(heading, set())), (_TITLE, self.title)]
        for weight, words in parts:
            more = words - seen
            if more:
                yield weight, more
                seen |= more
