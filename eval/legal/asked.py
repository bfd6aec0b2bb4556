"""The marks by which an article is known again, and how well its own questions find it.

``python -m eval.legal --mark-asked`` writes the marks anew from the installed statutes: run it after
``src/qiusuo/legal/data/asked.txt`` was changed, and read again the questions of articles that have changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import date

from qiusuo.legal.index.asked import MARKS, AskedArticle, asked_questions
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.ranking import tokens
from qiusuo.legal.models import Article, ArticleNumber

MOST_MARKS = 6
PAIR = 2
_HEAD = """\
# The articles that the questions of asked.txt were written for, as they stood in the default statutes when these
# were written: law, number, and the rarest pairs of characters of the text, by which the article is known again when
# numbers have changed. Made by python -m eval.legal --mark-asked; documents that only packs bring have no marks.
"""


def write_marks(index: LegalIndex) -> int:
    """Write the marks of all articles that have questions; return how many there are."""
    every = index.store.articles_by_id(
        [article_id for article_id, version in enumerate(index.store.version_ids()) if version]
    )
    often = Counter(pair for article in every for pair in _pairs(article.text))
    in_force = index.versions_in_force(date.today().isoformat())  # noqa: DTZ011 - the law of this place's day
    lines = []
    for asked in asked_questions():
        for held in articles_of(index, asked, in_force):
            rarest = sorted(_pairs(held.text), key=lambda pair: often[pair])[:MOST_MARKS]
            lines.append(f"{asked.law}\t{written(asked.number)}\t{' '.join(rarest)}\n")
    MARKS.write_text(_HEAD + "".join(lines), "utf-8")
    return len(lines)


def articles_of(index: LegalIndex, asked: AskedArticle, versions: Collection[int]) -> list[Article]:
    """Return the article that questions were written for, as one of these versions has it."""
    return [
        article
        for law_id in index.names.find(asked.law)
        for version in index.store.versions_of(law_id)
        if version.id in versions
        for article in index.store.articles(version, asked.number)[:1]
    ]


def written(number: ArticleNumber) -> str:
    """Return a number as the tables have it: 133-1."""
    return f"{number.number}-{number.suffix}" if number.suffix else str(number.number)


def _pairs(text: str) -> list[str]:
    """Return the pairs of Chinese characters of a text, each once, in their order."""
    return list(dict.fromkeys(pair for pair in tokens(text) if len(pair) == PAIR and not pair.isascii()))
