"""The JSON of a conversation that is taken along, as it must be where somebody brings it back.

It may have been made by anybody: every field has a type and a size, and what is not named here is left out. That the
words in it are shown as words is the page's part, as with all that is found on the web.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic.alias_generators import to_camel

from qiusuo.chat.sessions.session import MAX_TITLE
from qiusuo.chat.turns.related import LONGEST, MOST
from qiusuo.urls import link_url

FORMAT: Final = "qiusuo-conversation"
VERSION: Final = 1
MOST_TURNS: Final = 100_000
_MOST_ROWS: Final = 2000
_LONGEST: Final = 1_000_000
_DEEPEST: Final = 30


def _web_address(url: str) -> str:
    """Return an address of the web; of any other kind nothing is kept."""
    return url if link_url(url) else ""


def _shallow(value: JsonValue) -> JsonValue:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [item for each in level if isinstance(each, list | dict) for item in _items(each)]
        if not level:
            return value
    raise ValueError("too deep")


def _items(value: list[Any] | dict[str, Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


Text = Annotated[str, Field(max_length=_LONGEST)]
Line = Annotated[str, Field(max_length=4000)]
Name = Annotated[str, Field(max_length=200)]
Url = Annotated[str, Field(max_length=8000), AfterValidator(_web_address)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Number = Annotated[int, Field(ge=0, le=1_000_000)]
Amount = Annotated[float, Field(ge=-(10**12), le=10**12)]
Plain = Annotated[JsonValue, AfterValidator(_shallow)]
Values = dict[Name, Plain]


class _Part(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="ignore", alias_generator=to_camel, populate_by_name=False, allow_inf_nan=False
    )


class PortableFact(_Part):
    """A fact: its code, and what it is about."""

    code: Name
    values: Values = {}


class PortableAttempt(_Part):
    """A line of a receipt."""

    engine: Name
    outcome: Name
    ms: Count
    reason: Line = ""
    code: Name = ""
    values: Values = {}
    fix: Line = ""
    remedy: PortableFact | None = None
    retry_after: Amount | None = None
    skipped: bool = False
    notes: list[Line] = Field(default=[], max_length=100)
    noted: list[PortableFact] = Field(default=[], max_length=100)


class PortableRound(_Part):
    """A search or a page read."""

    number: Number
    kind: Name
    query: Text
    state: Literal["done", "empty", "failed"]
    engine: Name = ""
    engine_label: Name = ""
    found: Count = 0
    numbers: list[Number] = Field(default=[], max_length=_MOST_ROWS)
    ms: Count = 0
    cached: bool = False
    stale: bool = False
    age: Count | None = None
    asked: Text = ""
    attempts: list[PortableAttempt] = Field(default=[], max_length=100)
    reason: Line = ""
    ago: Name = ""
    code: Name = ""
    values: Values = {}

    @field_validator("state", mode="before")
    @classmethod
    def _ended(cls, value: object) -> object:
        return "failed" if value == "running" else value


class PortableCardFact(_Part):
    """A line of a card, with what it is called in each language."""

    value: Line
    labels: dict[Name, Name]
    day: bool = False


class PortableCard(_Part):
    """What is shown of a source in the place of its snippet."""

    title: Line
    text: Text
    badge: Name = ""
    tone: Name = ""
    facts: list[PortableCardFact] = Field(default=[], max_length=100)
    notes: list[Line] = Field(default=[], max_length=100)
    mark: Line = ""
    compare: Line = ""


class PortableSource(_Part):
    """A numbered source."""

    number: Number
    title: Line
    url: Url
    domain: Name = ""
    snippet: Text = ""
    round: Number = 1
    published_at: Name | None = None
    engines: list[Name] = Field(default=[], max_length=100)
    page_read: bool = False
    passages: list[Text] = Field(default=[], max_length=_MOST_ROWS)
    weak: bool = False
    card: PortableCard | None = None
    law: dict[Name, Text | list[Line] | None] | None = None
    """In the place of a card, in older conversations."""


class PortablePage(_Part):
    """A page that was read."""

    number: Number
    url: Url
    domain: Name
    title: Line
    state: Literal["used", "unused", "failed"]
    ms: Count = 0
    cached: bool = False
    reason: Line = ""
    code: Name = ""
    values: Values = {}

    @field_validator("state", mode="before")
    @classmethod
    def _ended(cls, value: object) -> object:
        return "failed" if value == "reading" else value


class PortableReading(_Part):
    """Pages that were read side by side."""

    number: Number
    pages: list[PortablePage] = Field(max_length=_MOST_ROWS)
    done: bool = True
    ms: Count = 0


class PortableNotice(_Part):
    """What the reader was told. Commands are not taken over: they were for the server where it happened."""

    code: Name
    level: Literal["info", "warning", "error"]
    title: Line = ""
    message: Text = ""
    fix: Text = ""
    commands: list[Name] = Field(default=[], max_length=0)
    doc: Name = ""
    retry_after: Amount | None = None
    heading: Name = ""
    values: Values = {}
    reason: PortableFact | None = None
    remedy: PortableFact | None = None

    @field_validator("commands", mode="before")
    @classmethod
    def _none(cls, value: object) -> object:
        return [] if isinstance(value, list) else value


_SUPPORT = Literal["supported", "weak", "not_found"]


class PortableVerdict(_Part):
    """What was found of one citation."""

    number: Number
    snippet_only: bool = False
    support: _SUPPORT
    score: Amount = 0
    passage: Text = ""
    reasons: list[Name] = Field(default=[], max_length=100)


class PortableClaim(_Part):
    """A cited sentence."""

    claim: Text
    start: Count = 0
    end: Count = 0
    support: _SUPPORT
    citations: list[PortableVerdict] = Field(default=[], max_length=_MOST_ROWS)


class PortableReport(_Part):
    """The cited sentences of an answer."""

    counts: dict[_SUPPORT, Count]
    claims: list[PortableClaim] = Field(default=[], max_length=_MOST_ROWS)


class PortableAddition(_Part):
    """A citation that the model did not write."""

    number: Number
    position: Count = 0
    sentence: Text = ""
    passage: Text = ""
    added: bool = True


class PortableCheck(_Part):
    """How the answer was checked."""

    report: PortableReport
    added: list[PortableAddition] = Field(default=[], max_length=_MOST_ROWS)


class PortableUsage(_Part):
    """What a turn took."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    searches: Count = 0
    search_ms: Count = 0
    first_token_ms: Count | None = None
    total_ms: Count = 0


class PortableAmounts(_Part):
    """How much a research may take, or took."""

    searches: Count = 0
    pages: Count = 0
    tokens: Count = 0
    seconds: Count = 0


class PortableStep(_Part):
    """A sub-question."""

    number: Number
    question: Text
    state: Literal["waiting", "searching", "reading", "found", "writing", "done", "empty", "failed"]
    results: Count = 0
    pages: Count = 0
    ms: Count = 0


class PortableResearch(_Part):
    """How far a research came."""

    stage: Literal["planning", "working", "summary", "done"]
    steps: list[PortableStep] = Field(default=[], max_length=_MOST_ROWS)
    limits: PortableAmounts
    used: PortableAmounts
    by_rule: bool = False
    digest: bool = False


class PortableScope(_Part):
    """What the searches of a turn were kept to."""

    focus: Name = "web"
    sites: list[Name] = Field(default=[], max_length=10)
    freshness: Literal["day", "week", "month", "year"] | None = None


class PortableTurn(_Part):
    """A question with all that came of it; one that was still being answered has stopped."""

    id: str = Field(pattern=r"^[\w-]{1,100}$")
    question: Text
    mode: str = Field("chat", pattern=r"^[a-z_]{1,30}$")
    model: Name = ""
    called: Name = ""
    search: bool = False
    created_at: str = Field("", max_length=40)
    state: Literal["done", "stopped", "failed"]
    answer: Text = ""
    references: Text = ""
    cited: list[Number] = Field(default=[], max_length=_MOST_ROWS)
    finish: Name = ""
    rounds: list[PortableRound] = Field(default=[], max_length=_MOST_ROWS)
    sources: list[PortableSource] = Field(default=[], max_length=_MOST_ROWS)
    readings: list[PortableReading] = Field(default=[], max_length=_MOST_ROWS)
    notices: list[PortableNotice] = Field(default=[], max_length=100)
    check: PortableCheck | None = None
    usage: PortableUsage | None = None
    language: Literal["zh", "zh-Hant", "en"] | None = None
    research: PortableResearch | None = None
    scope: PortableScope | None = None
    related: list[Annotated[str, Field(max_length=LONGEST)]] = Field(default=[], max_length=MOST)

    @field_validator("state", mode="before")
    @classmethod
    def _ended(cls, value: object) -> object:
        return "stopped" if value == "running" else value


class PortableConversation(_Part):
    """A whole conversation, or a part of one."""

    format: Literal["qiusuo-conversation"]
    version: Literal[1]
    title: str = Field("", max_length=MAX_TITLE)
    settings: Values = {}
    created_at: str = Field("", max_length=40)
    turns: list[PortableTurn] = Field(min_length=1, max_length=MOST_TURNS)
