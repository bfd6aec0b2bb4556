"""Value objects of legal search. All are frozen; nothing here opens a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class LawKind(StrEnum):
    """What kind of document a law is."""

    CONSTITUTION = "宪法"
    STATUTE = "法律"
    INTERPRETATION_BY_CONGRESS = "立法解释"
    AMENDMENT = "修正案"
    AMENDING_DECISION = "修改决定"
    REGULATION = "行政法规"
    JUDICIAL_INTERPRETATION = "司法解释"
    RULE = "部门规章"
    LOCAL = "地方性法规"
    OTHER = "其他"


class Validity(StrEnum):
    """How a version of a law stands on a day."""

    IN_FORCE = "现行有效"
    AMENDED = "已修改"
    REPEALED = "已废止"
    NOT_YET = "尚未生效"


class DateBasis(StrEnum):
    """Where the day on which a version took effect comes from."""

    STATED = "stated"
    CORRECTED = "corrected"  # the source gave the day of the original law; a decision or a known fact gave ours
    PUBLISHED = "published"  # the source gave the day of the original law; the day of publication stands in
    UNKNOWN = "unknown"


class ArticleNumber(NamedTuple):
    """The number of an article: 133 and 1 for 第一百三十三条之一."""

    number: int
    suffix: int = 0


@dataclass(frozen=True, slots=True)
class ArticleDraft:
    """An article as an importer reads it. ``number`` is None for a document without articles (its whole text)."""

    label: str
    text: str
    number: ArticleNumber | None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LawDocument:
    """One version of a law, or a part of one, as an importer reads it. Dates are ISO 8601 or empty."""

    name: str
    articles: tuple[ArticleDraft, ...]
    kind: LawKind = LawKind.OTHER
    issuer: str = ""
    department: str = ""
    published: str = ""
    effective: str = ""
    stated_status: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class CaseDocument:
    """One judgment as an importer reads it; what the row did not say was read out of the text."""

    name: str
    text: str
    number: str = ""
    court: str = ""
    case_type: str = ""
    procedure: str = ""
    date: str = ""
    parties: str = ""
    cause: str = ""
    legal_basis: str = ""
    facts: str = ""
    reasoning: str = ""
    verdict: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that could not be read, and why. ``excerpt`` is its beginning; the source keeps the whole."""

    reason: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Law:
    """A law in the index, whatever its versions."""

    id: int
    name: str
    kind: LawKind
    issuer: str
    department: str


@dataclass(frozen=True, slots=True)
class LawVersion:
    """One version of a law in the index."""

    id: int
    law: Law
    published: str
    effective: str
    basis: DateBasis
    stated_status: str
    source: str
    url: str
    article_count: int


@dataclass(frozen=True, slots=True)
class Article:
    """One article of one version."""

    id: int
    version: LawVersion
    number: ArticleNumber | None
    label: str
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Repeal:
    """That a law was repealed: by which law, when and where it says so."""

    name: str
    successor: str
    date: str
    article: str


@dataclass(frozen=True, slots=True)
class Case:
    """One judgment in the index."""

    id: int
    name: str
    number: str
    court: str
    case_type: str
    procedure: str
    date: str
    parties: str
    cause: str
    legal_basis: str
    facts: str
    reasoning: str
    verdict: str
    text: str
    url: str
    source: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked document: its id in the store and its score."""

    id: int
    score: float


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What an index holds."""

    laws: int
    versions: int
    articles: int
    citations: int
    cases: int
    rejected: int
    size_bytes: int
    built_at: str
    semantic: bool
    sources: tuple[SourceState, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class SourceState:
    """How far a source has been read."""

    path: str
    kind: str
    accepted: int
    duplicates: int
    rejected: int
    done: bool
