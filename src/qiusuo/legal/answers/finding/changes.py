"""What changed, told beside the articles: 仲裁法第十六条新旧对比, 旧仲裁法和新仲裁法关于仲裁协议有什么不同."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from qiusuo.legal.answers.compared import Change, Comparison, Part, compare_article
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.answers.standing import UNDATED
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import Article, LawVersion
from qiusuo.legal.reading.mentions import laws_in
from qiusuo.legal.reading.names import STATE
from qiusuo.legal.reading.numbers import read_label
from qiusuo.words import Fact

# So many articles are compared in one answer; who wants more names them.
MOST: Final = 3
MOST_BY_WORDS: Final = 2
# Of what stayed the same no more than its ends is shown.
_LONG: Final = 60
_END: Final = 15
ADDED: Final = "{+", "+}"
REMOVED: Final = "[-", "-]"
_DIFFERENT: Final = r"(?:不同|区别|差[别异]|变化|变动|对[比照]|比较|改[了动]|不一样)"
_OLD, _NEW = r"(?:旧|老|原来|以前|(?:修[订正改]|修法)[以之]?前)", r"(?:新|现行|现在|(?:修[订正改]|修法)[以之]?后)"
_COMPARES: Final = re.compile(
    rf"新[、和与]?旧|(?:修[订正改]|修法)[以之]?前后|{_OLD}.*{_NEW}.*{_DIFFERENT}|{_NEW}.*{_OLD}.*{_DIFFERENT}"
    r"|(?:改|修改|修订|修正|调整|变)了(?:什么|哪些|啥|哪里)|(?:什么|哪些|何|啥)(?:新?的?)?(?:变化|变动|修改|改动|修订)"
)


def asks_what_changed(question: str) -> bool:
    """Tell whether a question wants the old and the new text compared."""
    return _COMPARES.search(question) is not None


def changes_in(index: LegalIndex, question: str, results: Sequence[LawDetails]) -> tuple[Fact, ...]:
    """Return what changed in the articles that answer a question; what cannot be compared is said."""
    named = [law_id for law in laws_in(question, index.names.find) for law_id in law.law_ids]
    most = MOST_BY_WORDS if any(result.score is not None for result in results) else MOST
    found: dict[tuple[str, str, str, str], Fact] = {}
    articles = [article for article in _articles(index, results) if not named or article.version.law.id in named]
    shown = {article.version.id: article.version for article in articles}
    for article in articles:
        if len(found) == most:
            break
        one = compare_article(index.store, article, _beside(article.version, [*shown.values()]))
        if one.old is None:
            return one.notes
        key = (one.old.version, one.old.article_number, one.new.version, one.new.article_number)
        found.setdefault(key, _told(one))
    if not found and len(results) > 1 and not any(result.article_number for result in results):
        return (Fact("legal_diff.which", laws=results[0].law_name.removeprefix(STATE)),)
    return tuple(found.values())


def article_of(index: LegalIndex, result: LawDetails) -> Article | None:
    """Return the article that a result shows; None where it shows a law as a whole."""
    number = read_label(result.article_number)
    if number is None:
        return None
    for law_id in index.names.find(result.law_name):
        for version in index.store.versions_of(law_id):
            if version.published == result.version:
                return next(iter(index.store.articles(version, number)), None)
    return None


def _articles(index: LegalIndex, results: Sequence[LawDetails]) -> Iterator[Article]:
    for result in results:
        article = article_of(index, result) if result.article_number and not result.amends else None
        if article is not None:
            yield article


def _beside(version: LawVersion, shown: Sequence[LawVersion]) -> LawVersion | None:
    """Return the other version of the law that is shown, so that what is compared are the two that are quoted."""
    return next((one for one in shown if one.law.id == version.law.id and one.id != version.id), None)


def _told(found: Comparison) -> Fact:
    old, new = found.old, found.new
    assert old is not None  # noqa: S101 - whoever asks has looked
    days = {"old_day": old.version or UNDATED, "new_day": new.version or UNDATED}
    if not old.text or not new.text:
        there, other = (new, old) if new.text else (old, new)
        values = {"label": there.article_number, "day": there.version or UNDATED, "other": other.version or UNDATED}
        return Fact("legal_diff.told_alone", law=there.law_name, **values)
    labels = {"law": new.law_name, "first": old.article_number, "last": new.article_number, **days}
    if not found.changed:
        return Fact("legal_diff.told_same", **labels)
    text = "".join(_marked(part) for part in found.parts)
    return Fact("legal_diff.told", **labels, added="…".join(ADDED), removed="…".join(REMOVED), text=text)


def _marked(part: Part) -> str:
    text = re.sub(r"\s*\n\s*", "", part.text)
    if part.change is Change.SAME:
        return text if len(text) <= _LONG else f"{text[:_END]}……{text[-_END:]}"
    before, after = ADDED if part.change is Change.ADDED else REMOVED
    return f"{before}{text}{after}" if text else ""
