"""What legal search answers, in one shape whether it comes from the index or from the web: laws and judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Generic, Self, TypeVar

from qiusuo.details import Card, CardFact, Details, Quotation, Tone, list_in, text_in
from qiusuo.legal.models import DateBasis, Validity
from qiusuo.words import Fact, Language, said

_TONES: Final = {
    Validity.IN_FORCE: Tone.HOLDS,
    Validity.AMENDED: Tone.CHANGES,
    Validity.NOT_YET: Tone.CHANGES,
    Validity.REPEALED: Tone.GONE,
}
_BADGES: Final = {
    Validity.IN_FORCE: Fact("law.badge_in_force"),
    Validity.AMENDED: Fact("law.badge_amended"),
    Validity.NOT_YET: Fact("law.badge_not_yet"),
    Validity.REPEALED: Fact("law.badge_repealed"),
}
# That a day is the one of publication stands in the title too, and what leaves an article as it is is no news.
_NO_NEWS: Final = frozenset({"law.day_of_publication", "law.day_unknown", "law.untouched_by"})
RELATED: Final = Fact("law.related")
"""Said of an article that is near what was asked for, and not it."""
_NOTHING_SAID: Final = frozenset({"law.no_article_found", "law.no_case_found"})


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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from ``to_dict``."""
        return cls(*(text_in(data, name) for name in ("lawName", "articleNumber", "brief", "words")))


@dataclass(frozen=True, slots=True)
class LawDetails(Details):
    """One article, or one law where ``article_number`` is empty."""

    kind = "law"

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
    notes: tuple[Fact, ...] = ()
    """What a reader must know of it."""
    score: float | None = None
    origin: Origin = Origin.INDEX
    date_basis: DateBasis = DateBasis.STATED
    amends: str = ""
    """The article before it, which this item of an amendment changes."""
    page: str = ""
    """The title of the page, of one of the web."""
    diff: str = ""
    """Where on a server its text is compared with that of another version, of an article with more than one."""

    @property
    def since(self) -> str:
        """The day since which it is in force, in words; where only the day of publication is known, that one."""
        if not self.effective_date:
            return ""
        return f"{self.effective_date} {'公布' if self.date_basis is DateBasis.PUBLISHED else '起施行'}"

    @property
    def title(self) -> str:
        """Its name with how it stands and since when; of a page of the web its own title."""
        if self.page:
            return self.page
        facts = "，".join(part for part in (self.status, self.since) if part)
        return self.name + (f"（{facts}）" if facts else "")

    @property
    def name(self) -> str:
        """The law and the article."""
        return f"{self.law_name} {self.article_number}".rstrip()

    @property
    def news(self) -> tuple[Fact, ...]:
        """Those of the notes that belong beside a quotation; a card shows them all."""
        return tuple(note for note in self.notes if note.code not in _NO_NEWS)

    @property
    def related(self) -> bool:
        return RELATED in self.notes

    def with_note(self, note: Fact) -> LawDetails:
        """Return it with one more thing that a reader must know, before the others."""
        return self if note in self.notes else replace(self, notes=(note, *self.notes))

    def quotation(self, language: Language = Language.ENGLISH) -> Quotation | None:
        if not self.content or self.origin is Origin.WEB:
            return None
        # What is simply in force need not be said of an article.
        plain = self.article_number and self.status in {"", Validity.IN_FORCE}
        return Quotation(
            self.name if plain else self.title,
            self.excerpt or self.content,
            told(self.news, language),
            follows=bool(self.amends),
        )

    def card(self, language: Language = Language.ENGLISH) -> Card | None:
        if self.origin is Origin.WEB:
            return None
        day = "law.published" if self.date_basis is DateBasis.PUBLISHED else "law.effective"
        facts = (
            CardFact(self.chapter),
            CardFact(self.version, _labels("law.version")),
            CardFact(self.effective_date, _labels(day), day=True),
        )
        return Card(
            self.name,
            self.content,
            badge=_BADGES[self.validity].text(language) if self.validity else self.status,
            tone=_TONES.get(self.validity, Tone.HOLDS) if self.validity else Tone.HOLDS,
            facts=tuple(fact for fact in facts if fact.value),
            notes=tuple(note.text(language) for note in self.notes if note != RELATED),
            mark=Fact("law.related_mark").text(language) if self.related else "",
            compare=self.diff,
        )

    @property
    def validity(self) -> Validity | None:
        """How it stands; None where that is not known."""
        return Validity(self.status) if self.status in list(Validity) else None

    def to_dict(self, language: Language = Language.CHINESE) -> dict[str, Any]:
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
            "notes": [note.text(language) for note in self.notes],
            "noted": [note.to_dict() for note in self.notes],
            "amends": self.amends,
            "title": self.page,
            "diff": self.diff,
            "related": self.related,
            "dateBasis": self.date_basis.value if self.date_basis is DateBasis.PUBLISHED else "",
        }
        data |= {name: value for name, value in optional.items() if value}
        if self.score is not None:
            data["score"] = round(self.score, 4)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from ``to_dict``; notes without a code are taken as they are."""
        noted = list_in(data, "noted")
        return cls(
            law_name=str(data["lawName"]),
            article_number=text_in(data, "articleNumber"),
            content=text_in(data, "content"),
            effective_date=text_in(data, "effectiveDate"),
            source=text_in(data, "source"),
            status=text_in(data, "status"),
            version=text_in(data, "version"),
            chapter=text_in(data, "chapter"),
            url=text_in(data, "url"),
            excerpt=text_in(data, "excerpt"),
            successor=text_in(data, "successor"),
            cited=tuple(map(CitedArticle.from_dict, list_in(data, "cited"))),
            notes=tuple(map(Fact.from_dict, noted) if noted else map(said, list_in(data, "notes"))),
            score=data.get("score"),
            origin=Origin(data.get("origin", Origin.INDEX)),
            date_basis=DateBasis(data.get("dateBasis", DateBasis.STATED)),
            amends=text_in(data, "amends"),
            page=text_in(data, "title"),
            diff=text_in(data, "diff"),
        )


@dataclass(frozen=True, slots=True)
class JudgmentDetails(Details):
    """One judgment."""

    kind = "judgment"

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

    @property
    def title(self) -> str:
        """Its name and number."""
        return f"{self.case_name} {self.case_number}".strip()

    def quotation(self, language: Language = Language.ENGLISH) -> Quotation | None:
        if self.origin is Origin.WEB or not self.summary:
            return None
        known = "，".join(part for part in (self.court, self.date, self.case_type, self.cause) if part)
        verdict = Fact("law.verdict", words=self.verdict).text(language) if self.verdict else ""
        return Quotation(self.title, "\n".join(part for part in (known, self.summary, verdict) if part))

    def card(self, language: Language = Language.ENGLISH) -> Card | None:
        if self.origin is Origin.WEB:
            return None
        facts = (
            CardFact(self.case_number, _labels("law.case_number")),
            CardFact(self.court, _labels("law.court")),
            CardFact(self.date, _labels("law.decided"), day=True),
        )
        notes = (Fact("law.verdict", words=self.verdict).text(language),) if self.verdict else ()
        return Card(
            self.case_name or self.case_number,
            self.summary,
            badge=self.case_type,
            facts=tuple(fact for fact in facts if fact.value),
            notes=notes,
        )

    def to_dict(self, language: Language = Language.CHINESE) -> dict[str, Any]:  # noqa: ARG002 - nothing here is ours
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
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from ``to_dict``."""
        return cls(
            case_number=str(data["caseNumber"]),
            case_name=str(data["caseName"]),
            court=text_in(data, "court"),
            date=text_in(data, "date"),
            case_type=text_in(data, "caseType"),
            summary=text_in(data, "summary"),
            verdict=text_in(data, "verdict"),
            url=text_in(data, "url"),
            id=text_in(data, "id"),
            cause=text_in(data, "cause"),
            procedure=text_in(data, "procedure"),
            source=text_in(data, "source"),
            text=text_in(data, "text"),
            score=data.get("score"),
            origin=Origin(data.get("origin", Origin.INDEX)),
        )


NO_ARTICLE: Final = Fact("law.no_article_found")
NO_CASE: Final = Fact("law.no_case_found")

T = TypeVar("T", LawDetails, JudgmentDetails)


def told(notes: Iterable[Fact], language: Language = Language.CHINESE) -> str:
    """Return notes as one text."""
    return language.after_sentence.join(note.text(language) for note in notes)


def _labels(code: str) -> dict[str, str]:
    return {language.value: Fact(code).text(language) for language in Language}


@dataclass(frozen=True)
class LegalAnswer(Generic[T]):
    """Results with what was understood. ``final``: the index knows for sure, so the web need not be asked."""

    query: str
    results: tuple[T, ...]
    notes: tuple[Fact, ...] = ()
    final: bool = False
    origin: Origin = Origin.INDEX
    search_time: int = 0
    cached: bool = False

    @property
    def answers(self) -> bool:
        """Whether it has more than what is merely related to the question."""
        return any(not result.related for result in self.results)

    @property
    def says_nothing(self) -> bool:
        """Whether it neither found anything nor tells why."""
        return not self.results and {note.code for note in self.notes} <= _NOTHING_SAID

    def to_dict(self, language: Language = Language.CHINESE) -> dict[str, Any]:
        """Return the JSON shape (camelCase)."""
        return {
            "query": self.query,
            "results": [result.to_dict(language) for result in self.results],
            "totalResults": len(self.results),
            "searchTime": self.search_time,
            "cached": self.cached,
            "origin": self.origin.value,
            "notes": [note.text(language) for note in self.notes],
        }
