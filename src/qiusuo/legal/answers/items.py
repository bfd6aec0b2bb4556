"""Laws and judgments as results of a search, with all that is known of them as details."""

from __future__ import annotations

from qiusuo.legal.answers.results import JudgmentDetails, LawDetails, told
from qiusuo.models import SearchResultItem
from qiusuo.text import clean


def law_item(details: LawDetails, engine: str) -> SearchResultItem:
    """Return an article or a law as a result."""
    # What we say about the law is told apart from what it says, so that nobody quotes it as law.
    remark = told(details.news)
    # Of an article the 款 or 项 that was asked for; its details have the rest.
    words = details.excerpt or details.content
    text = f"{words}（检索注：{remark}）" if words and remark else words or remark
    return SearchResultItem(
        clean(details.title), details.url, clean(text), score=details.score, engines=_found_by(engine), details=details
    )


def judgment_item(details: JudgmentDetails, engine: str) -> SearchResultItem:
    """Return a judgment as a result."""
    return SearchResultItem(
        clean(details.title),
        details.url,
        clean(details.summary),
        published_at=details.date or None,
        score=details.score,
        engines=_found_by(engine),
        details=details,
    )


def _found_by(engine: str) -> tuple[str, ...]:
    return (engine,) if engine else ()
