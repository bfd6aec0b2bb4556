"""Value objects that every layer speaks: the query, a result, the receipt and the response.

All are frozen structs (a changed copy: ``msgspec.structs.replace``): one is made for every result of every search.
Nothing here imports anything of ours but details and words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from qiusuo.details import Details, PlainDetails
from qiusuo.words import Fact, Language, said
from qiusuo.words.wording import Wording, wording

ReadDetails = Callable[[Mapping[str, Any]], Details | None]
"""Rebuilds the details of a result; :func:`qiusuo.plugins.read_details` knows the kinds that are installed."""
MAX_RETRY_AFTER: Final = 24 * 3600.0


def believed(seconds: float, most: float = MAX_RETRY_AFTER) -> float | None:
    """Return for how long a provider is left alone that asks for it: a day at most; "nan" is a float too."""
    return None if math.isnan(seconds) else min(max(seconds, 0.0), most)


class SearchType(StrEnum):
    """What kind of pages are wanted."""

    GENERAL = "general"
    NEWS = "news"
    REGULATION = "regulation"
    CASE = "case"


class Freshness(StrEnum):
    """How old a result may be."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Outcome(StrEnum):
    """How one attempt at one engine ended."""

    OK = "ok"
    EMPTY = "empty"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    AUTH = "auth"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    BAD_RESPONSE = "bad_response"
    DISABLED = "disabled"

    @property
    def fact(self) -> Fact:
        """The outcome as people say it."""
        return Fact(f"outcome.{self.value}")


class Query(msgspec.Struct, frozen=True):
    """What is asked of an engine. ``language`` is a BCP 47 tag (``zh-CN``), ``region`` a two-letter country."""

    text: str
    type: SearchType = SearchType.GENERAL
    language: str | None = None
    region: str | None = None
    freshness: Freshness | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    language_is_guess: bool = False
    """The language was read off the words; nobody asked for it."""
    added: str = ""
    """What a search type has added to the end of ``text``, to steer engines of the whole web."""

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but words."""
        return not (
            self.language
            or self.region
            or self.freshness
            or self.include_domains
            or self.exclude_domains
            or self.type is SearchType.NEWS
        )

    @property
    def own_words(self) -> str:
        """The words as they were asked, without what a search type has added."""
        return self.text.removesuffix(self.added)

    @property
    def wants_news(self) -> bool:
        return self.type is SearchType.NEWS


class SearchResultItem(msgspec.Struct, frozen=True):
    """One result. ``source`` is the site's host; ``engines`` lists who found it.

    ``details`` is what an engine knows of it beyond its words.
    """

    title: str
    url: str
    snippet: str
    source: str = ""
    published_at: str | None = None
    score: float | None = None
    engines: tuple[str, ...] = ()
    details: Details | None = None

    def __post_init__(self) -> None:
        if not self.source:
            msgspec.structs.force_setattr(self, "source", domain_of(self.url))

    @property
    def related(self) -> bool:
        """Whether it is merely near what was asked for, as its engine says."""
        return self.details is not None and self.details.related

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the item in its JSON shape; optional fields only where they are known."""
        data: dict[str, Any] = {
            "title": self.title,
            "url": self.url,
            "snippet": self.snippet,
            "source": self.source,
        }
        if self.published_at is not None:
            data["publishedAt"] = self.published_at
        if self.score is not None:
            data["score"] = self.score
        if self.engines:
            data["engines"] = list(self.engines)
        if self.details is not None:
            data["details"] = {"kind": self.details.kind, **self.details.to_dict(language)}
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], read_details: ReadDetails = PlainDetails.from_dict) -> SearchResultItem:
        """Rebuild an item from ``to_dict``."""
        return cls(
            title=data["title"],
            url=data["url"],
            snippet=data["snippet"],
            source=data["source"],
            published_at=data.get("publishedAt"),
            score=data.get("score"),
            engines=tuple(data.get("engines", ())),
            details=read_details(data["details"]) if data.get("details") else None,
        )


class Attempt(msgspec.Struct, frozen=True):
    """One line of the receipt: which engine was asked, how it ended, how long it took and why.

    ``fact`` says why, ``remedy`` what to do; ``reason`` and ``fix`` are the same in English. ``skipped`` means that no
    request was made (the engine was cooling down, out of quota, or over its pace). ``notes`` says what the engine could
    not honour or left out.
    """

    engine: str
    outcome: Outcome
    ms: int
    fact: Fact | None = None
    remedy: Fact | None = None
    retry_after: float | None = None
    skipped: bool = False
    notes: tuple[Fact, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why it ended so, in English."""
        return self.fact.text() if self.fact else ""

    @property
    def fix(self) -> str:
        """What to do, in English."""
        return self.wording().fix

    @property
    def summary(self) -> Fact:
        """The attempt as a clause of a sentence."""
        if self.fact:
            return Fact("search.tried", engine=self.engine, outcome=self.outcome.fact, reason=self.fact)
        return Fact("search.tried_only", engine=self.engine, outcome=self.outcome.fact)

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return the attempt in words."""
        return wording(self.fact or said(""), self.remedy, language)

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the attempt in its JSON shape: facts for programs, and words in a language."""
        data: dict[str, Any] = {"engine": self.engine, "outcome": self.outcome.value, "ms": self.ms}
        words = self.wording(language)
        if self.fact:
            data |= {"reason": words.what, **self.fact.to_dict()}
        if words.fix:
            data["fix"] = words.fix
        if self.remedy:
            data["remedy"] = self.remedy.to_dict()
        if self.retry_after is not None:
            data["retryAfter"] = round(self.retry_after, 1)
        if self.skipped:
            data["skipped"] = True
        if self.notes:
            data["notes"] = [note.text(language) for note in self.notes]
            data["noted"] = [note.to_dict() for note in self.notes]
        if self.commands:
            data["commands"] = list(self.commands)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Attempt:
        """Rebuild an attempt from ``to_dict``; words without a code are taken as somebody's own."""
        coded = "code" in data
        fix, remedy = data.get("fix", ""), data.get("remedy")
        noted = data.get("noted")
        return cls(
            engine=data["engine"],
            outcome=Outcome(data["outcome"]),
            ms=data["ms"],
            fact=Fact.from_dict(data) if coded else said(data["reason"]) if data.get("reason") else None,
            remedy=Fact.from_dict(remedy) if remedy else said(fix) if fix and not coded else None,
            retry_after=data.get("retryAfter"),
            skipped=data.get("skipped", False),
            notes=tuple(map(Fact.from_dict, noted) if noted else map(said, data.get("notes", ()))),
            commands=tuple(data.get("commands", ())),
        )


class SearchResponse(msgspec.Struct, frozen=True):
    """Results with their receipt. ``search_time`` is in milliseconds.

    ``cached`` marks an answer from the cache; ``stale`` one that is past its time and was served because no engine
    could answer. ``age`` is how many seconds ago a cached one was searched for, where that is known. ``related`` is
    what others ask or search for beside it, in the words of the provider, where it tells.
    """

    query: str
    results: tuple[SearchResultItem, ...]
    provider: str
    attempts: tuple[Attempt, ...] = ()
    type: SearchType = SearchType.GENERAL
    search_time: int = 0
    cached: bool = False
    stale: bool = False
    age: int | None = None
    related: tuple[str, ...] = ()

    @property
    def total_results(self) -> int:
        return len(self.results)

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the response in its JSON shape (camelCase), what we say ourselves in a language."""
        data: dict[str, Any] = {
            "query": self.query,
            "type": self.type.value,
            "results": [item.to_dict(language) for item in self.results],
            "totalResults": len(self.results),
            "searchTime": self.search_time,
            "cached": self.cached,
            "stale": self.stale,
            "provider": self.provider,
            "attempts": [attempt.to_dict(language) for attempt in self.attempts],
        }
        if self.age is not None:
            data["age"] = self.age
        if self.related:
            data["related"] = list(self.related)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], read_details: ReadDetails = PlainDetails.from_dict) -> SearchResponse:
        """Rebuild a response from ``to_dict``."""
        return cls(
            query=data["query"],
            results=tuple(SearchResultItem.from_dict(item, read_details) for item in data["results"]),
            provider=data["provider"],
            attempts=tuple(Attempt.from_dict(item) for item in data["attempts"]),
            type=SearchType(data["type"]),
            search_time=data["searchTime"],
            cached=data["cached"],
            stale=data["stale"],
            age=data.get("age"),
            related=tuple(data.get("related", ())),
        )


def domain_of(url: str) -> str:
    """Return the host of ``url`` without ``www.``, or an empty string if it has none."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.lower().removeprefix("www.") if host.isprintable() else ""
