"""Says how well passages cover a question: one number, and from where on they answer it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from qiusuo.passages.matching import Match
from qiusuo.passages.picking import Passage
from qiusuo.passages.question import Question, read_question
from qiusuo.passages.reading import Page, Text, same_length_fold
from qiusuo.passages.signs import Signs, signs

# Fitted so that about 4 % are refused of the questions that three sources in five answer (docs/passages.md).
ANSWERS_FROM: Final = 0.44
# Of single sources that have the answer 5 % are below this, of those of another question 97 %.
WEAK_BELOW: Final = 0.2
# A whole word or number counts more than a pair of Chinese characters, which is a part of a word.
_WHOLE_WORD: Final = 1.5
_OTHER_WORD: Final = 0.7
_LACKS_KIND: Final = 0.5
_KIND_FAR_AWAY: Final = 0.8
_LACKS_NAMES: Final = 0.6
_OTHER_YEAR: Final = 0.7
_ASKS_OR_FURNITURE: Final = 0.8


def coverage(question: str, passages: Iterable[Passage]) -> float:
    """Return how well the best of the passages covers a question, from 0 to 1.

    Counted are the words of the question in a sentence, in part those around it, less where the sentence lacks the kind
    of thing that is asked for or is about another year, or where the passage lacks the names in the question. Below
    `ANSWERS_FROM` the passages hardly answer. It is lexical: a passage in another language than the question covers
    nothing but names and numbers.
    """
    asked = read_question(question)
    return min(max((_covered_by(asked, passage) for passage in passages), default=0.0), 1.0)


def words_covered(question: str, passages: Iterable[Passage]) -> float:
    """Return the share of the question's words that one sentence has, from 0 to 1, whatever kind of thing is asked for.

    A passage that answers has nearly all of them; one that merely touches the question lacks what is asked of it.
    """
    asked = read_question(question)
    total = _sum(asked.words)
    shares = [
        _covered(asked, match, index) / total
        for passage in passages
        if total
        for match in [_matched(asked, passage)]
        for index in match.places()
    ]
    return min(max(shares, default=0.0), 1.0)


def _matched(question: Question, passage: Passage) -> Match:
    page = Page(Text(passage.number, f"{passage.title} {passage.heading}", passage.text), 0)
    return Match(page, question, question.words | question.related)


def _covered_by(question: Question, passage: Passage) -> float:
    best = max((share for share, _ in sentences_covering(question, passage)), default=0.0)
    known = same_length_fold(f"{passage.title} {passage.heading} {passage.text}")
    named = not question.names or any(name in known for name in question.names)
    return best if named else best * _LACKS_NAMES


def sentences_covering(question: Question, passage: Passage) -> list[tuple[float, str]]:
    """Return the sentences of a passage with how well each covers the question."""
    match = _matched(question, passage)
    page, total = match.page, _sum(question.words)
    return [
        (_covered(question, match, index) / total * _doubt(signs(question, page, index)), page.sentence(index))
        for index in (match.places() if total else ())
    ]


def _covered(question: Question, match: Match, index: int) -> float:
    own = match.hits.get(index, set())
    covered = _sum(own & question.words)
    # 执导 says the same as 导演.
    meant = question.asking & question.words if own & question.related else frozenset()
    covered += _OTHER_WORD * _sum(meant - own)
    around = sum(weight * _sum((words & question.words) - meant) for weight, words in match.surroundings(index))
    return covered + around


def _sum(words: Iterable[str]) -> float:
    return sum(1.0 if word[0] > "\u33ff" else _WHOLE_WORD for word in words)


def _doubt(seen: Signs) -> float:
    doubt = 1.0
    if seen.kind is False:
        doubt *= _LACKS_KIND
    elif seen.kind and not seen.near:
        doubt *= _KIND_FAR_AWAY
    if seen.other_year:
        doubt *= _OTHER_YEAR
    if seen.asks:
        doubt *= _ASKS_OR_FURNITURE
    if seen.furniture:
        doubt *= _ASKS_OR_FURNITURE
    return doubt
