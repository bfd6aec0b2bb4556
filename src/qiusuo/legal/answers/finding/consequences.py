"""What follows from breaking a rule stands apart from the rule: 试用期违反了怎么赔偿 asks for the former."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from qiusuo.legal.models import Article

_BROKEN: Final = re.compile("违反|违法|违规|不遵守|没有?遵守|不按|没有?按|超过")
# What is asked for, and how the law says it.
_WANTED: Final = tuple(
    (re.compile(asked), re.compile(said))
    for asked, said in (("赔", "赔偿"), ("罚", "罚款|处罚|罚金|有期徒刑"), ("责任|后果", "责任|责令|赔偿|罚款"))
)
_FOLLOWS: Final = re.compile("违反|违法")


def consequences_first(question: str, articles: Sequence[Article]) -> list[Article]:
    """Put the articles that say what follows before the rule itself, where they are of the same law.

    Ranking by words puts the rule first, which shares more words with the question. Where the first article says
    itself what follows, the order stands.
    """
    said = next((said for asked, said in _WANTED if asked.search(question)), None)
    if said is None or not articles or not _BROKEN.search(question) or said.search(articles[0].text):
        return list(articles)
    law = articles[0].version.law.id
    return sorted(articles, key=lambda each: not (each.version.law.id == law and _says(each.text, said)))


def _says(text: str, follows: re.Pattern[str]) -> bool:
    return bool(_FOLLOWS.search(text) and follows.search(text))
