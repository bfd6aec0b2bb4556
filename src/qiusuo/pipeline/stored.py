"""What is read back from Redis: checked as if a stranger had written it, since others may write there too.

A value that does not fit is as good as absent. The types and bounds are those of what we write ourselves.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, TypeVar

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from qiusuo.engines.base import MAX_SNIPPET_CHARS
from qiusuo.models import Outcome, SearchResponse, SearchType
from qiusuo.pipeline.request import MAX_QUERY_CHARS, MAX_RESULTS
from qiusuo.plugins import read_details
from qiusuo.text import web_address, without_controls
from qiusuo.words import Fact

MAX_ENTRY_BYTES: Final = 1024 * 1024
MAX_REST_BYTES: Final = 16 * 1024
LONGEST_REST: Final = 32 * 24 * 3600.0
"""A month's quota may be used up on its first day."""
MAX_COUNT_BYTES: Final = 9
"""Digits of a counter: no plan has more searches a month."""
_HOUR_MS: Final = 3_600_000
_LONGEST_LINE: Final = 8000
_MOST_VALUES: Final = 100
_DEEPEST: Final = 4
_LONGEST_CODE: Final = 100
_CODE: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*")
_LONGEST_DETAILS: Final = 100_000
_DEEPEST_DETAIL: Final = 7


def _shown(text: str) -> str:
    if without_controls(text) != text:
        raise ValueError("control characters")
    return text


def _address(url: str) -> str:
    found = web_address(url)
    if found is None or found[0] != url:
        raise ValueError("not a web address")
    return url


def _check_detail(value: Any, depth: int) -> None:
    """Look at what stands in details, whatever their kind; the kind itself looks at the rest."""
    match value:
        case str():
            for line in value.split("\n"):
                _shown(line)
        case dict() | list() if depth:
            for part in (*value, *value.values()) if isinstance(value, dict) else value:
                _check_detail(part, depth - 1)
        case None | bool() | int() | float():
            pass
        case _:
            raise ValueError("not what details hold")


def _check_details(value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value.get("kind"), str) or len(str(value)) > _LONGEST_DETAILS:
        raise ValueError("not details")
    _check_detail(value, _DEEPEST_DETAIL)
    return value


Name = Annotated[str, Field(max_length=300), AfterValidator(_shown)]
Line = Annotated[str, Field(max_length=_LONGEST_LINE), AfterValidator(_shown)]
Moment = Annotated[float, Field(ge=0, le=1e11)]
"""Seconds since the epoch."""


class _Stored(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


def _check_value(value: object, depth: int) -> None:
    match value:
        case str() if len(value) <= _LONGEST_LINE:
            _shown(value)
        case bool() | int() | float():
            pass
        case list() if depth and len(value) <= _MOST_VALUES:
            for each in value:
                _check_value(each, depth - 1)
        case {"code": str() as code, "values": dict() as values, **others} if depth and not others:
            _check_code(code)
            _check_values(values, depth - 1)
        case _:
            raise ValueError("not a value of a fact")


def _check_code(code: str) -> str:
    if len(code) > _LONGEST_CODE or not _CODE.fullmatch(code):
        raise ValueError("not a code")
    return code


def _check_values(values: dict[Any, Any], depth: int = _DEEPEST) -> dict[Any, Any]:
    if len(values) > _MOST_VALUES:
        raise ValueError("too many values")
    for name, value in values.items():
        _check_code(name)
        _check_value(value, depth)
    return values


Code = Annotated[str, AfterValidator(_check_code)]
Values = Annotated[dict[str, Any], AfterValidator(_check_values)]


class _Fact(_Stored):
    """What is so, as a code with values; one of them may be a fact again."""

    code: Code
    values: Values = {}

    @property
    def fact(self) -> Fact:
        return Fact.from_dict({"code": self.code, "values": self.values})


class _Item(_Stored):
    title: Line
    url: Annotated[str, Field(max_length=8000), AfterValidator(_address)]
    snippet: Annotated[str, Field(max_length=max(MAX_SNIPPET_CHARS, 20_000)), AfterValidator(_shown)]
    source: Line
    publishedAt: Name | None = None  # noqa: N815 - the JSON's name, as below
    score: float | None = None
    engines: Annotated[list[Name], Field(max_length=100)] = []
    details: Annotated[dict[str, Any], AfterValidator(_check_details)] | None = None


class _Attempt(_Stored):
    engine: Name
    outcome: Annotated[Outcome, Field(strict=False)]
    ms: Annotated[int, Field(ge=0, le=_HOUR_MS)]
    reason: Line = ""
    fix: Line = ""
    code: Code | None = None
    values: Values = {}
    remedy: _Fact | None = None
    noted: Annotated[list[_Fact], Field(max_length=100)] = []
    commands: Annotated[list[Line], Field(max_length=20)] = []
    retryAfter: Annotated[float, Field(ge=0, le=LONGEST_REST)] | None = None  # noqa: N815
    skipped: bool = False
    notes: Annotated[list[Line], Field(max_length=100)] = []


class _Response(_Stored):
    query: Annotated[str, Field(max_length=MAX_QUERY_CHARS)]
    type: Annotated[SearchType, Field(strict=False)]
    results: Annotated[list[_Item], Field(max_length=MAX_RESULTS)]
    searchTime: Annotated[int, Field(ge=0, le=_HOUR_MS)]  # noqa: N815
    cached: bool
    stale: bool
    provider: Name
    attempts: Annotated[list[_Attempt], Field(max_length=100)]
    related: Annotated[list[Line], Field(max_length=100)] = []


class _Entry(_Stored):
    until: Moment
    keep: Moment
    response: _Response


class StoredRest(_Stored):
    """Why an engine rests, as it stands in Redis."""

    until: Moment
    began: Moment | None = None
    outcome: Annotated[Outcome, Field(strict=False)]
    fact: _Fact
    remedy: _Fact | None = None
    commands: Annotated[list[Line], Field(max_length=20)] = []
    rests: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """How often it has rested since it last answered."""

    @property
    def told(self) -> Fact:
        """Why it rests."""
        return self.fact.fact

    @property
    def to_do(self) -> Fact | None:
        """What to do about it."""
        return self.remedy.fact if self.remedy else None


S = TypeVar("S", bound=_Stored)


def read_entry(data: object) -> tuple[SearchResponse, float, float] | None:
    """Return a response with the moments until which it is fresh and may be kept; None where it does not fit."""
    raw = _read(data, MAX_ENTRY_BYTES)
    entry = _fitting(_Entry, raw)
    return (SearchResponse.from_dict(raw["response"], read_details), entry.until, entry.keep) if entry else None


def read_rest(data: object, now: float) -> StoredRest | None:
    """Return why an engine rests; None where it does not fit."""
    rest = _fitting(StoredRest, _read(data, MAX_REST_BYTES))
    return rest if rest is not None and rest.until <= now + LONGEST_REST else None


def read_count(data: object) -> int | None:
    """Return a counter; None where it does not fit."""
    return int(data) if isinstance(data, bytes) and data.isdigit() and len(data) <= MAX_COUNT_BYTES else None


def _read(data: object, most: int) -> Any:
    if not isinstance(data, bytes) or len(data) > most:
        return None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _fitting(kind: type[S], raw: Any) -> S | None:
    try:
        return kind.model_validate(raw)
    except ValidationError:
        return None
