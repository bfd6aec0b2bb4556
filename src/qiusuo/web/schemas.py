"""The JSON of the REST endpoints: requests are checked against it, answers documented by it."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaMode

from qiusuo.models import Freshness, Outcome, SearchType
from qiusuo.pipeline.request import MAX_QUERY_CHARS, MAX_RESULTS

CODE = "What is so, for programs; texts in both languages belong to it. `said`: somebody else's own words."
VALUES = "What the text is filled in with."
EngineName = Annotated[str, Field(min_length=1, max_length=50)]
Domains = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=253)], ...], Field(max_length=100)]


class CamelModel(BaseModel):
    """Names in camelCase, as JavaScript and the SPEC have them; Python's own are taken too."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class SearchBody(CamelModel):
    """What to search for."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    query: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, pattern=r"\S", description="The words to search for.",
        examples=["量子计算 最新进展"],
    )  # fmt: skip
    type: SearchType = Field(SearchType.GENERAL, description="What kind of pages are wanted.")
    engine: EngineName | None = Field(None, description="Ask this engine and no other.")
    num_results: int | None = Field(None, ge=1, le=MAX_RESULTS, description="How many results are wanted.")
    language: str | None = Field(
        None,
        pattern=r"^(auto|all|[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)$",
        description="Language of results: `zh-CN`, `en` …, `all`, or `auto` for the query's own.",
    )
    region: str | None = Field(None, pattern=r"^[A-Za-z]{2}$", description="Two-letter country.")
    freshness: Freshness | None = Field(None, description="How old a result may be.")
    include_domains: Domains = Field((), description="Only results of these domains.")
    exclude_domains: Domains = Field((), description="No results of these domains.")
    merge: bool | Annotated[list[EngineName], Field(max_length=20)] = Field(
        False, description="Ask several engines at once and fuse their results: `true`, or the engines' names."
    )
    timeout: float | None = Field(None, ge=0.5, le=120, description="Seconds for the whole search.")
    skip_cache: bool = Field(False, description="Search again even if the cache has an answer.")


class ResultAnswer(CamelModel):
    """One result."""

    title: str
    url: str
    snippet: str
    source: str = Field(description="The site's host.")
    published_at: str | None = None
    score: float | None = None
    engines: list[str] = Field([], description="Who found it.")
    details: dict[str, Any] | None = Field(
        None, description="What the engine knows of it beyond its words; `kind` says what: `law`, `judgment`, …"
    )


class FactAnswer(CamelModel):
    """What is so, for programs: the words beside it are told of it, in the language of the request."""

    code: str
    values: dict[str, Any] = {}


class AttemptAnswer(CamelModel):
    """One line of the receipt."""

    engine: str
    outcome: Outcome
    ms: int
    reason: str = ""
    code: str = Field("", description=CODE)
    values: dict[str, Any] = Field({}, description=VALUES)
    fix: str = ""
    remedy: FactAnswer | None = Field(None, description="What `fix` tells, where it does not belong to `code`.")
    retry_after: float | None = None
    skipped: bool = Field(False, description="No request was made.")
    notes: list[str] = Field([], description="What the engine could not honour or left out.")
    noted: list[FactAnswer] = Field([], description="What `notes` tell.")
    commands: list[str] = Field([], description="Commands that help.")


class SearchAnswer(CamelModel):
    """Results with their receipt."""

    query: str
    type: SearchType
    results: list[ResultAnswer]
    total_results: int
    search_time: int = Field(description="Milliseconds.")
    cached: bool
    stale: bool = Field(description="Past its time, and served because no engine could answer.")
    provider: str
    attempts: list[AttemptAnswer]
    related: list[str] = Field([], description="What others ask beside it, in the provider's words, where it tells.")
    notices: list[dict[str, Any]] = Field(
        [],
        description="That little is left of a budget, as `code`, `values` and `message`; missing where there is none.",
    )


class ErrorAnswer(CamelModel):
    """What went wrong and what to do about it."""

    error: str = Field(description="The kind of error.")
    message: str
    code: str = Field(description=CODE)
    values: dict[str, Any] = Field(description=VALUES)
    outcome: Outcome | None = None
    engine: str | None = None
    fix: str = ""
    commands: list[str] = Field([], description="Commands that help.")
    retry_after: float | None = Field(None, description="Seconds to wait.")
    attempts: list[AttemptAnswer] = Field([], description="The receipt, where every engine failed.")


class EngineAnswer(CamelModel):
    """How an engine stands."""

    name: str
    label: str
    state: str = Field(
        description="`ready`, `resting` (it has failed and is left alone), `idle` (only when named) or `missing`."
    )
    reason: str
    code: str = Field(description=CODE)
    values: dict[str, Any] = Field(description=VALUES)
    fix: str
    commands: list[str] = Field(description="Commands that help.")
    retry_after: float | None
    quota: int | None
    quota_used: int | None
    costs_money: bool
    docs_url: str


class EnginesAnswer(CamelModel):
    """Every engine that is known."""

    order: list[str] = Field(description="Those that take part in a search, in the order in which they are asked.")
    engines: list[EngineAnswer]


class FindingAnswer(CamelModel):
    """One thing that is wrong with the set-up, and what to do."""

    check: str
    code: str = Field(description=CODE)
    values: dict[str, Any] = Field(description=VALUES)
    level: str = Field(description="`warning` or `problem`.")
    what: str
    why: str
    fix: str
    commands: list[str]
    guide: str
    docs_url: str


class ProblemAnswer(CamelModel):
    """What keeps something from working."""

    engine: str = Field(description="The engine that rests; empty where it is something else.")
    code: str = Field(description=CODE)
    values: dict[str, Any] = Field(description=VALUES)
    message: str
    fix: str
    commands: list[str] = Field(description="Commands that help.")


class ReadyAnswer(CamelModel):
    """Whether requests may be sent to this server."""

    status: str = Field(description="`ready` or `unready`.")
    reason: str = Field(
        "",
        description="Why not: `stopping` (it was told to stop), `database` (conversations cannot be written), `search` "
        "(no engine worked when it was tried last).",
    )


class LastAttemptAnswer(CamelModel):
    """How the last attempt at an engine ended."""

    outcome: str = Field(description="`ok`, `empty`, or how it failed.")
    code: str = Field(description="Why it failed, as a code; blank where it worked.")
    at: str = Field(description="When, in UTC.")
    failures: int = Field(description="Failures in a row.")


class HealthAnswer(CamelModel):
    """What works."""

    status: str = Field(
        description="`ok`, `degraded` (some engines rest, something that is set up does not work, only statutes can be "
        "searched, or conversations cannot be kept), `down` (no engine can be asked, or none worked at last)."
    )
    version: str
    engines: dict[str, str] = Field(
        description="The engines that take part, also those of one subject, with their state: `ready`, `resting` or "
        "`failed` (the last attempt; `attempts` tells how)."
    )
    attempts: dict[str, LastAttemptAnswer] = Field(
        default_factory=dict, description="What the last attempt at each showed; none where it was not tried yet."
    )
    message: str = ""
    fix: str = ""
    problems: list[ProblemAnswer] = Field(
        default_factory=list, description="What `message` and `fix` tell, one by one."
    )
    findings: list[FindingAnswer] = Field(
        default_factory=list, description="What `qiusuo doctor` warns of, from the checks that ask nothing outside."
    )


REFERENCE: Final = "#/components/schemas/{model}"
"""How the document names a shape of its own."""


def error_responses(*statuses: int, model: type[BaseModel] = ErrorAnswer) -> dict[int | str, dict[str, Any]]:
    """Document that these statuses come with an error of that shape, one of those that ``shape_of`` adds.

    By its name alone: FastAPI would make a validator of the shape for each status of each route, which nobody uses and
    which the first request waits for.
    """
    answer = {"content": {"application/json": {"schema": {"$ref": REFERENCE.format(model=model.__name__)}}}}
    return {status: dict(answer) for status in statuses}


def shape_of(model: type[BaseModel], mode: JsonSchemaMode = "serialization") -> dict[str, Any]:
    """Return a shape and those it is made of by their names, as the OpenAPI document has them."""
    whole = model.model_json_schema(ref_template=REFERENCE, mode=mode)
    shape = jsonable_encoder(whole, exclude_none=True)  # as FastAPI writes the rest
    return {**shape.pop("$defs", {}), model.__name__: shape}
