"""What legal search answers, in one shape whether it comes from the index or from the web."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from qiusuo.legal.models import DateBasis
from qiusuo.models import SearchResultItem


class Origin(StrEnum):
    """Where an answer comes from."""

    INDEX = "index"
    WEB = "web"


@dataclass(frozen=True, slots=True)
class CitedArticle:
    """An article that another one cites, in brief; ``brief`` is empty where the index does not have it."""

    law_name: str
    article_number: str
    brief: str
    words: str = ""
    """How the text says it, where that is no number: 前款, 前条, 本章."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        data = {"lawName": self.law_name, "articleNumber": self.article_number, "brief": self.brief}
        return data | {"words": self.words} if self.words else data


@dataclass(frozen=True, slots=True)
class RegulationResult:
    """One article, or one law where ``article_number`` is empty."""

    law_name: str
    article_number: str
    content: str
    effective_date: str
    source: str
    status: str = ""
    version: str = ""
    chapter: str = ""
    url: str = ""
    excerpt: str = ""
    """The 款 or 项 that was asked for."""
    successor: str = ""
    cited: tuple[CitedArticle, ...] = ()
    notes: tuple[str, ...] = ()
    score: float | None = None
    origin: Origin = Origin.INDEX
    date_basis: DateBasis = DateBasis.STATED
    amends: str = ""
    """The article before it, which this item of an amendment changes."""

    @property
    def since(self) -> str:
        """The day since which it is in force, in words; where only the day of publication is known, that one."""
        if not self.effective_date:
            return ""
        return f"{self.effective_date} {'公布' if self.date_basis is DateBasis.PUBLISHED else '起施行'}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape; optional fields only where they are known."""
        data: dict[str, Any] = {
            "lawName": self.law_name,
            "articleNumber": self.article_number,
            "content": self.content,
            "effectiveDate": self.effective_date,
            "source": self.source,
            "origin": self.origin.value,
        }
        optional: dict[str, Any] = {
            "status": self.status,
            "version": self.version,
            "chapter": self.chapter,
            "url": self.url,
            "excerpt": self.excerpt,
            "successor": self.successor,
            "cited": [article.to_dict() for article in self.cited],
            "notes": list(self.notes),
            "amends": self.amends,
            "dateBasis": self.date_basis.value if self.date_basis is DateBasis.PUBLISHED else "",
        }
        data |= {name: value for name, value in optional.items() if value}
        if self.score is not None:
            data["score"] = round(self.score, 4)
        return data

    @classmethod
    def from_web(cls, item: SearchResultItem) -> RegulationResult:
        """Return a page of the web in the shape of a law."""
        return cls(item.title, "", item.snippet, "", item.source, url=item.url, origin=Origin.WEB)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One judgment."""

    case_number: str
    case_name: str
    court: str
    date: str
    case_type: str
    summary: str
    verdict: str
    url: str
    id: str = ""
    cause: str = ""
    procedure: str = ""
    source: str = ""
    text: str = ""
    """The whole document; only in details."""
    score: float | None = None
    origin: Origin = Origin.INDEX

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape; the fields of the seed always, the others where they are known."""
        data: dict[str, Any] = {
            "caseNumber": self.case_number,
            "caseName": self.case_name,
            "court": self.court,
            "date": self.date,
            "caseType": self.case_type,
            "summary": self.summary,
            "verdict": self.verdict,
            "url": self.url,
            "source": self.source,
            "origin": self.origin.value,
        }
        optional = {"id": self.id, "cause": self.cause, "procedure": self.procedure, "text": self.text}
        data |= {name: value for name, value in optional.items() if value}
        if self.score is not None:
            data["score"] = round(self.score, 4)
        return data

    @classmethod
    def from_web(cls, item: SearchResultItem) -> CaseResult:
        """Return a page of the web in the shape of a judgment."""
        return cls(
            "", item.title, "", item.published_at or "", "", item.snippet, "", item.url, source=item.source,
            origin=Origin.WEB,
        )  # fmt: skip


NO_ARTICLE = "索引中没有相关条文。"
NO_CASE = "索引中没有符合条件的裁判文书。"

# That a day is the one of publication stands in the title too, and what leaves an article as it is is no news.
_NO_NEWS = re.compile(r"没有提到本条。$|^来源未给出")

T = TypeVar("T", RegulationResult, CaseResult)


def is_news(note: str) -> bool:
    """Tell whether a note on a result is worth a remark behind a quotation; a card shows them all."""
    return _NO_NEWS.search(note) is None


@dataclass(frozen=True)
class LegalAnswer(Generic[T]):
    """Results with what was understood. ``final``: the index knows for sure, so the web need not be asked."""

    query: str
    results: tuple[T, ...]
    notes: tuple[str, ...] = ()
    final: bool = False
    origin: Origin = Origin.INDEX
    search_time: int = 0

    @property
    def says_nothing(self) -> bool:
        """Whether it neither found anything nor tells why."""
        return not self.results and set(self.notes) <= {NO_ARTICLE, NO_CASE}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape (camelCase)."""
        return {
            "query": self.query,
            "results": [result.to_dict() for result in self.results],
            "totalResults": len(self.results),
            "searchTime": self.search_time,
            "origin": self.origin.value,
            "notes": list(self.notes),
        }
