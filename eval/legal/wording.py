"""Fit the table of ``qiusuo.legal.index.wording`` on questions with known answers.

``python -m eval.legal --fit-wording`` writes it anew from all train questions of STARD. A pair of characters is taken
up when articles whose questions have it hold another pair clearly more often than other answering articles do. Several
questions and several articles must show it: what is learnt is how law is worded, not which article is popular.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.legal.data import Question
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.ranking import question_tokens, tokens
from qiusuo.legal.index.wording import TABLE, Table

SEEN = 3
"""How many questions, and how many articles, must have both pairs."""
SURENESS = 4.0
"""How many standard deviations above chance that must be."""
DOUBT = 2.0
"""How many articles' worth of doubt weakens what few articles show."""
KEPT = 5
_ORDINAL = re.compile(r"第[零一二三四五六七八九十百]+(?:分?编|章|节)")


def article_pairs(index: LegalIndex, questions: Sequence[Question]) -> dict[int, set[str]]:
    """Return the pairs of characters of every answering article and its headings, without numbers of chapters."""
    ids = sorted({article for question in questions for article in question.gold})
    return {
        article.id: _pairs(_ORDINAL.sub(" ", " ".join((article.text, *article.headings))))
        for article in index.store.articles_by_id(ids)
    }


def fit(questions: Sequence[Question], articles: Mapping[int, set[str]]) -> Table:
    """Return the table that these questions teach."""
    by_article, by_question = _Sightings(), _Sightings()
    asked: dict[int, set[str]] = defaultdict(set)
    for question in questions:
        words = {token for token in question_tokens(question.text) if len(token) > 1}
        by_question.add(words, set().union(*(articles[article] for article in question.gold)))
        for article in question.gold:
            asked[article] |= words
    for article, words in asked.items():
        by_article.add(words, articles[article])
    table = {}
    for word, others in sorted(by_article.both.items()):
        total = max(by_article.words[word], by_question.words[word])
        found = []
        for other, seen in others.items():
            both = min(seen, by_question.both[word][other])
            share = by_article.others[other] / len(asked)
            chance = by_article.words[word] * share
            if other != word and both >= SEEN and both - chance > SURENESS * math.sqrt(chance * (1 - share)):
                found.append((round((both / total - share) * both / (both + DOUBT), 3), other))
        if found:
            found.sort(key=lambda pair: (-pair[0], pair[1]))
            table[word] = {other: strength for strength, other in found[:KEPT]}
    return table


class _Sightings:
    """How often words of questions, pairs of articles, and both together were seen."""

    def __init__(self) -> None:
        self.words = Counter[str]()
        self.others = Counter[str]()
        self.both: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, words: set[str], others: set[str]) -> None:
        self.words.update(words)
        self.others.update(others)
        for word in words:
            self.both[word].update(others)


def write(index: LegalIndex, questions: Sequence[Question], path: Path = TABLE) -> None:
    """Fit the table on all questions and put it into the package."""
    table = fit(questions, article_pairs(index, questions))
    rows = (
        f"{json.dumps(word, ensure_ascii=False)}: {json.dumps(others, ensure_ascii=False)}"
        for word, others in table.items()
    )
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


def _pairs(text: str) -> set[str]:
    return {token for token in tokens(text) if len(token) == 2 and not token.isascii()}
