"""Whether articles that words have found answer a question at all: below a measure they are no answer.

The measure is how much of the question one of the first articles says, in the question's words or the law's for them,
where rare words tell more than common ones. How much is enough depends on whether the question is one of law: of one
that is recognised little is asked, of one without any word of law so much that its subject must be the article's.
Fitted on the train part of STARD and on everyday questions (docs/legal.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.ranking import question_tokens
from qiusuo.legal.index.wording import legal_pairs, widened
from qiusuo.legal.models import Article
from qiusuo.legal.reading.names import name_key
from qiusuo.legal.recognising.lay import speaks_of_law, wants_no_law
from qiusuo.legal.recognising.recognise import is_plainly_legal
from qiusuo.legal.recognising.script import has_han

_COMPARED: Final = 3
# From where on an article answers a question, and from where on it is near enough to be named.
_RECOGNISED: Final = (10.0, 5.0)
_SPEAKS_OF_LAW: Final = (14.0, 7.0)
_ANY_QUESTION: Final = (40.0, 20.0)
_NO_LAW_WANTED: Final = (float("inf"), 20.0)
# So like a written question must be; of everyday questions (odd ids of our list) the likest reaches .38.
_SAME_QUESTION: Final = 0.42
# In a small index no word is rare: there a hit has nothing to do with a question of whose pairs it has less than this.
LEAST_COVERAGE: Final = 0.05


class Match(Enum):
    """What articles are to a question."""

    ANSWER = "answer"
    RELATED = "related"
    NOTHING = "nothing"


def match_of(question: str, articles: Sequence[Article], index: LegalIndex) -> Match:
    """Tell what the articles that a search by words puts first are to the question."""
    if not articles or not has_han(question):  # the texts are Chinese
        return Match.NOTHING
    texts = [_text(article) for article in articles[:_COMPARED]]
    pairs = {token: weight for token, weight in widened(question, index.wording).items() if len(token) > 1}
    rarities = {pair: rarity for pair in pairs if (rarity := index.rarity(pair)) is not None}
    if not pairs and index.rarity("") is not None:
        return Match.RELATED  # a single character: whatever it is about, it asks nothing
    if not rarities:
        return Match.ANSWER if _coverage(question, texts) >= LEAST_COVERAGE else Match.NOTHING
    said = max(_said(text, pairs, rarities) for text in texts)
    answers, near = _enough_for(question)
    if said >= answers or (answers <= _ANY_QUESTION[0] and _is_written_for(question, articles[0], index)):
        return Match.ANSWER
    return Match.RELATED if said >= near else Match.NOTHING


def _is_written_for(question: str, article: Article, index: LegalIndex) -> bool:
    """Tell whether nearly the same question was written for an article: how a thing is asked needs no word of law."""
    return index.asked is not None and index.asked.likeness(question).get(article.id, 0.0) >= _SAME_QUESTION


def _enough_for(question: str) -> tuple[float, float]:
    if is_plainly_legal(question):
        return _RECOGNISED
    if wants_no_law(question):
        return _NO_LAW_WANTED
    return _SPEAKS_OF_LAW if speaks_of_law(question) else _ANY_QUESTION


def _said(text: str, pairs: Mapping[str, float], rarities: Mapping[str, float]) -> float:
    return sum(weight * rarities[pair] for pair, weight in pairs.items() if pair in text)


def _coverage(question: str, texts: Sequence[str]) -> float:
    """Return how much of the question, its pairs of characters or the law's for them, one of the texts holds."""
    pairs = {token for token in question_tokens(question) if len(token) > 1}
    if not pairs:
        return 1.0
    meant = pairs.union(legal_pairs(question))
    return max(sum(pair in text for pair in meant) for text in texts) / len(meant)


def _text(article: Article) -> str:
    return article.text + " ".join(article.headings) + name_key(article.version.law.name)
