"""A source's text as sentences with their headings, and where words stand in it. Made for long pages."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qiusuo.citations.meaning.sentences import split_sentences
from qiusuo.citations.meaning.wording import STOP_WORDS, stem
from qiusuo.words.script import is_traditional, simplified

# Characters of a source that are read. Behind that there are lists and comments, and time matters more.
MOST_READ: Final = 300_000
_LONGEST_SENTENCE: Final = 240
_SHORTEST_PIECE: Final = 40
# Pages often have wide gaps where a line ended.
_GAP: Final = re.compile(r"\s{2,}|\u3000+|(?<=[；;])")
_PAUSE: Final = re.compile(r"[，,、：:|·]\s?|\s")
_LONGEST_HEADING: Final = 60
_LONGEST_MARK: Final = 12
_LINE_ENDS: Final = re.compile(r"[ \t\r*_#]*\n")
_NO_HEADING: Final = re.compile(r"[。.！!？?；;，,、…:：|]\Z")
_LETTERS: Final = re.compile(r"[a-z0-9]*")


@dataclass(frozen=True, slots=True)
class Text:
    """A source to look in: its number in the answer, its title, what is known of its text, its date."""

    number: int
    title: str
    text: str
    date: str = ""


class Page:
    """The sentences of a source, found by place."""

    __slots__ = ("folded", "heading_of", "headings", "length", "place", "source", "spans", "starts", "text")

    def __init__(self, source: Text, place: int) -> None:
        self.source = source
        self.place = place
        self.text = source.text[:MOST_READ]
        self.folded = same_length_fold(self.text)
        self.spans = [span for _, start, end in split_sentences(self.text) for span in _pieces(self.text, start, end)]
        self.starts = [start for start, _ in self.spans]
        self.length = sum(end - start for start, end in self.spans)
        self.headings: set[int] = set()
        self.heading_of: list[int] = []
        above = -1
        for index, (start, end) in enumerate(self.spans):
            if end - start <= _LONGEST_HEADING and _heads(self.text, start, end) and index + 1 < len(self.spans):
                above = index
                self.headings.add(index)
            self.heading_of.append(above)

    def sentence_at(self, position: int) -> int:
        """Return the sentence that has this position, or the one before it."""
        return max(bisect_right(self.starts, position) - 1, 0)

    def sentence(self, index: int) -> str:
        start, end = self.spans[index]
        return self.text[start:end]

    def heading(self, index: int) -> str:
        """Return the heading above a sentence, or nothing."""
        above = self.heading_of[index]
        return self.sentence(above) if above >= 0 and above != index else ""


def same_length_fold(text: str) -> str:
    """Return text in small letters and plain forms, each character in its old place."""
    lowered = text.lower()
    if len(lowered) != len(text):  # İ becomes two
        lowered = "".join(low if len(low := character.lower()) == 1 else character for character in text)
    return plain_forms(lowered)


def plain_forms(text: str) -> str:
    """Return text with full-width, traditional and other such characters in their plain form, each in its place."""
    if text.isascii():
        return text
    for character in set(text):
        if character > "\x7f":
            plain = unicodedata.normalize("NFKC", character)
            if plain != character and len(plain) == 1:
                text = text.replace(character, plain)
    text = text.replace("\u2019", "'")
    return simplified(text) if is_traditional(text) else text


def occurrences(folded: str, word: str) -> Iterator[int]:
    """Yield where a word (as `terms` gives it) stands in a folded text."""
    if word[0] == "#":
        yield from _numbers(folded, word[1:])
    elif word[0] > "\u33ff":
        position = folded.find(word)
        while position >= 0:
            yield position
            position = folded.find(word, position + 1)
    else:
        yield from _stems(folded, word)


def _numbers(folded: str, number: str) -> Iterator[int]:
    spellings = {number}
    if number.isdigit() and len(number) > 3:  # noqa: PLR2004 - 1,000
        spellings.add(f"{int(number):,}")
    for spelling in spellings:
        position = folded.find(spelling)
        while position >= 0:
            end = position + len(spelling)
            if not folded[max(position - 1, 0) : position].isdecimal() and not folded[end : end + 1].isdecimal():
                yield position
            position = folded.find(spelling, end)


def _stems(folded: str, word: str) -> Iterator[int]:
    # countries is a form of country: the last letter may have changed.
    beginning = word[:-1] if word.endswith("y") and len(word) > 3 else word  # noqa: PLR2004
    position = folded.find(beginning)
    while position >= 0:
        end = position + len(beginning)
        if not ("a" <= folded[max(position - 1, 0) : position] <= "z"):
            rest = _LETTERS.match(folded, end)
            written = folded[position : rest.end() if rest else end]
            if written == word or (written not in STOP_WORDS and stem(written) == word):
                yield position
        position = folded.find(beginning, end)


def _heads(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence is a heading: marked as one, or alone on its line, no part of a list, without a stop."""
    if not _LINE_ENDS.match(text, end):
        return False
    before = text[max(0, start - _LONGEST_MARK) : start]
    line_start = start - len(before) + before.rfind("\n") + 1
    if line_start and text[line_start - 1] != "\n":
        return False
    marks = text[line_start:start].strip()
    return marks.strip("#") == "" and (bool(marks) or not _NO_HEADING.search(text, start, end))


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, or where it is very long its parts: at gaps, else at pauses, else anywhere."""
    if end - start <= _LONGEST_SENTENCE // 2:
        yield start, end
        return
    at = start
    for gap in _GAP.finditer(text, start, end):
        if gap.start() - at >= _SHORTEST_PIECE:
            yield from _cut(text, at, gap.start())
            at = gap.end()
    if at < end:
        yield from _cut(text, at, end)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > _LONGEST_SENTENCE:
        limit = start + _LONGEST_SENTENCE
        pauses = [pause.end() for pause in _PAUSE.finditer(text, start + _LONGEST_SENTENCE // 2, limit)]
        stop = pauses[-1] if pauses else limit
        stripped = len(text[start:stop].rstrip())
        if stripped:
            yield start, start + stripped
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end
