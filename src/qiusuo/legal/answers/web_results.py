"""Pages of the web in the shape of laws and judgments: what their titles and snippets say of these."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.legal.answers.results import JudgmentDetails, LawDetails, Origin
from qiusuo.legal.judgments.judgment_text import build_case, cause_in
from qiusuo.legal.reading.dates import read_day
from qiusuo.legal.reading.documents import documents_in
from qiusuo.legal.reading.mentions import LawMention, laws_in
from qiusuo.legal.reading.numbers import article_label
from qiusuo.legal.reading.references import LawReference, find_references
from qiusuo.legal.recognising.recognise import known_name
from qiusuo.models import SearchResultItem

_DECIDED: Final = re.compile(
    r"(?:裁判|判决|裁定|审结|宣判)(?:日期|时间)?[:：于\s]{0,3}([12]\d{3}\s?[年./-]\s?\d{1,2}\s?[月./-]\s?\d{1,2}日?)"
)


def law_page(item: SearchResultItem) -> LawDetails:
    """Return a page in the shape of a law, with the law and the article that its title, else its snippet, names."""
    law, article = "", ""
    for text in (item.title, item.snippet):
        named = _article_in(text)
        if named is not None and (not law or law == named.law_name):
            law, article = named.law_name, article_label(named.number)
            break
        law = law or _law_in(text)
    return LawDetails(
        law or item.title, article, item.snippet, "", item.source, url=item.url, origin=Origin.WEB, page=item.title
    )


def judgment_page(item: SearchResultItem) -> JudgmentDetails:
    """Return a page in the shape of a judgment, with what its title and snippet tell of court, 案号, day and type."""
    text = f"{item.title}\n{item.snippet}"
    known = build_case({"title": item.title, "head": text, "text": text})
    decided = _DECIDED.search(text)
    day = (read_day(decided[1]) if decided else "") or known.date or item.published_at or ""
    return JudgmentDetails(
        case_number=known.number,
        case_name=item.title,
        court=known.court,
        date=day,
        case_type=known.case_type,
        summary=item.snippet,
        verdict="",
        url=item.url,
        cause=known.cause or cause_in(item.snippet),
        procedure=known.procedure,
        source=item.source,
        origin=Origin.WEB,
    )


def _article_in(text: str) -> LawReference | None:
    found = find_references(text, known_name)
    return next((one for one in found if one.law_name and one.mention in {LawMention.NAMED, LawMention.UNKNOWN}), None)


def _law_in(text: str) -> str:
    """Return the law or the document that a text names first."""
    documents = [(one.start, one.name) for one in documents_in(text)]
    statutes = [(one.start, one.law_name) for one in laws_in(text, known_name)]
    return min((*documents, *statutes), default=(0, ""))[1]
