"""A check of exact look-up: every article of an index, in every writing of its reference, must be found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.names import STATE
from qiusuo.legal.reading.numbers import han_of
from qiusuo.legal.reading.references import find_references


def _wide(value: int) -> str:
    return "".join(chr(ord(digit) + 0xFEE0) for digit in str(value))


def _digit_by_digit(value: int) -> str:
    return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(value)) if value > 9 else han_of(value)  # noqa: PLR2004 - one digit


def _inserted(suffix: int, write: Callable[[int], str] = han_of) -> str:
    return f"之{write(suffix)}" if suffix else ""


WRITINGS: Final[tuple[Callable[[str, int, int], str], ...]] = (
    lambda law, n, s: f"《{STATE}{law}》第{han_of(n)}条{_inserted(s)}",
    lambda law, n, s: f"{STATE}{law}第{han_of(n)}条{_inserted(s)}",
    lambda law, n, s: f"{law}第{han_of(n)}条{_inserted(s)}",
    lambda law, n, s: f"{law}第{n}条{_inserted(s, str)}",
    lambda law, n, s: f"{law}{n}条{_inserted(s)}",
    lambda law, n, s: f"{law} 第 {n} 条{_inserted(s)}",
    lambda law, n, s: f"《{law}》第{_wide(n)}条{_inserted(s)}",
    lambda law, n, s: f"根据《{STATE}{law}》第{n}条{_inserted(s)}的规定",
    lambda law, n, s: f"请问{law}第{han_of(n)}条{_inserted(s)}是什么",
    lambda law, n, s: f"{law}第 {han_of(n)} 条 {_inserted(s)}",
    lambda law, n, s: f"《{law}》第{han_of(n)}条{_inserted(s)}第一款",
    lambda law, n, s: f"{law}第{_digit_by_digit(n)}条{_inserted(s, str)}",
)


def check_lookups(index: LegalIndex, writings_per_article: int = len(WRITINGS)) -> tuple[int, list[str]]:
    """Return how many references were tried, and those that did not lead to exactly their article."""
    checked = 0
    wrong: list[str] = []
    for version in index.store.versions.values():
        short = version.law.name.removeprefix(STATE)
        first, last = index.store.numbers(version)
        for article in index.store.articles(version, ArticleNumber(max(first, 1)), ArticleNumber(last, 99), limit=None):
            if article.number is None:
                continue
            for turn in range(writings_per_article):
                text = WRITINGS[(article.id + turn) % len(WRITINGS)](short, *article.number)
                found = find_references(text, index.names.find)
                checked += 1
                # Names of interpretations may hold references of their own; the last one is meant.
                meant = bool(found) and found[-1].law_ids == (version.law.id,) and found[-1].number == article.number
                if not meant or article not in index.store.articles(version, article.number):
                    wrong.append(text)
    return checked, wrong
