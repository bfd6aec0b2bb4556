"""Legal search under ``/api/legal``: the tools ``regulationSearch``, ``caseSearch`` and ``caseDetail`` as endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import asdict
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.legal.answers.cards import law_card
from qiusuo.legal.answers.compared import Comparison
from qiusuo.legal.answers.comparing import compare
from qiusuo.legal.answers.finding.regulations import MAX_QUERY_CHARS, RegulationSearch
from qiusuo.legal.answers.results import LegalAnswer
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.judgments.cases import CaseFilters
from qiusuo.legal.models import IndexStats
from qiusuo.legal.pack_routes import pack_router
from qiusuo.legal.tools import MAX_RESULTS, LegalSearch, legal_handle
from qiusuo.web.backend import Backend
from qiusuo.web.entrance.hangup import HangUp
from qiusuo.web.errors import Refusal
from qiusuo.web.route import LeanRoute, json_answer, user_of
from qiusuo.web.schemas import CamelModel, error_responses
from qiusuo.words import Fact, Language, language_of

SEARCH_ERRORS: Final = (400, 429, 502, 503, 504)
DEFAULT_RESULTS: Final = 5
MAX_REFERENCE_CHARS: Final = 200
MAX_ADDRESS_CHARS: Final = 4000
_DAY: Final = r"^\d{4}-\d{2}-\d{2}$"
_COUNTS: Final = ("laws", "versions", "articles", "citations", "cases", "size_bytes", "built_at", "semantic")


class RegulationBody(CamelModel):
    """What law is asked for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, pattern=r"\S", description="A law, an article or a question.",
        examples=["民法典第五百七十七条"],
    )  # fmt: skip
    as_of: str | None = Field(None, pattern=_DAY, description="The law of this day. Unset: today.")
    limit: int = Field(DEFAULT_RESULTS, ge=1, le=MAX_RESULTS, description="At most so many results.")


class CaseBody(CamelModel):
    """What judgments are asked for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, pattern=r"\S", description="Facts, key words or a case number.",
        examples=["醉酒驾驶 缓刑"],
    )  # fmt: skip
    case_type: Literal["民事", "刑事", "行政", "执行", "国家赔偿"] | None = None
    court: str | None = Field(None, max_length=100, description="The court's name, or a place in it.")
    date_from: str | None = Field(None, pattern=_DAY, description="Not decided before this day.")
    date_to: str | None = Field(None, pattern=_DAY, description="Not decided after this day.")
    limit: int = Field(DEFAULT_RESULTS, ge=1, le=MAX_RESULTS, description="At most so many results.")


class CitedLawAnswer(CamelModel):
    """An article that another one cites, in brief."""

    law_name: str
    article_number: str
    brief: str = Field(description="Empty where the index does not have it.")
    words: str = Field("", description="How the text says it, where that is no number: 前款, 前条, 本章.")


class RegulationAnswer(CamelModel):
    """One article, or one law where `articleNumber` is empty."""

    law_name: str
    article_number: str
    content: str
    effective_date: str = Field(description="When this version took effect.")
    date_basis: Literal["", "published"] = Field(
        "", description="`published`: that day is the one of publication, the source does not tell the other."
    )
    source: str
    origin: Literal["index", "web"]
    status: str = Field("", description="`现行有效`, `已修改`, `已废止` or `尚未生效`.")
    version: str = Field("", description="When this version was published.")
    chapter: str = ""
    url: str = ""
    excerpt: str = Field("", description="The paragraph or item that was asked for.")
    successor: str = Field("", description="The law that took the place of a repealed one.")
    cited: list[CitedLawAnswer] = Field([], description="What the article cites, in brief.")
    notes: list[str] = Field([], description="What a reader must know of this version.")
    noted: list[dict[str, Any]] = Field([], description="The same as codes with values.")
    title: str = Field("", description="The title of the page, of a result of the web.")
    diff: str = Field("", description="Where it is compared with another version, where the index has one.")
    related: bool = Field(False, description="Near what was asked for, no answer to it.")
    amends: str = Field("", description="The article before it that this item of an amendment changes.")
    score: float | None = None


class CaseAnswer(CamelModel):
    """One judgment; personal data is masked unless the server's settings say otherwise."""

    case_number: str
    case_name: str
    court: str
    date: str
    case_type: str
    summary: str
    verdict: str
    url: str
    source: str
    origin: Literal["index", "web"]
    id: str = Field("", description="For `GET /api/legal/cases/{id}`.")
    cause: str = ""
    procedure: str = ""
    text: str = Field("", description="The whole document; only where one judgment is asked for.")
    score: float | None = None


class LegalAnswerBase(CamelModel):
    """What was understood, and where the results come from."""

    query: str
    total_results: int
    search_time: int = Field(description="Milliseconds.")
    cached: bool
    origin: Literal["index", "web"] = Field(
        description="`web` where the index has no answer and the web has; each result says its own."
    )
    notes: list[str]


class RegulationsAnswer(LegalAnswerBase):
    """Articles and laws."""

    results: list[RegulationAnswer]


class CasesAnswer(LegalAnswerBase):
    """Judgments."""

    results: list[CaseAnswer]


class LegalStatsAnswer(CamelModel):
    """What the index of this server holds."""

    laws: int
    versions: int
    articles: int
    citations: int
    cases: int
    size_bytes: int
    built_at: str
    semantic: bool = Field(description="Whether articles are also ranked by meaning.")


class SideAnswer(CamelModel):
    """An article in one version of its law."""

    article_number: str = Field(description="Empty where that version has no such article.")
    version: str = Field(description="When that version was published.")
    effective_date: str
    text: str


class PartAnswer(CamelModel):
    """A part of the text. The old text is what is `same` or `removed`, the new one what is `same` or `added`."""

    change: Literal["same", "removed", "added"]
    text: str


class DiffAnswer(CamelModel):
    """An article, old and new."""

    law_name: str
    article_number: str
    changed: bool
    old: SideAnswer | None = Field(description="None where the index has one version only.")
    new: SideAnswer
    parts: list[PartAnswer]
    versions: list[str] = Field(description="Days of publication of the versions that the index has, oldest first.")
    notes: list[str]


def routers(backend: Backend) -> tuple[APIRouter, ...]:
    """Return the endpoints, where the extra that they need is installed."""
    if find_spec("tantivy") is None:
        return ()
    handle = legal_handle(backend.settings.legal_dir or "")
    return pack_router(backend, handle), legal_router(backend, handle)


def legal_router(backend: Backend, handle: IndexHandle) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=LeanRoute, prefix="/api/legal", tags=["legal"])
    legal = LegalSearch(handle, backend.service, masked=backend.settings.legal_masking)

    @router.post("/regulations", response_model=RegulationsAnswer, responses=error_responses(*SEARCH_ERRORS))
    async def regulations(request: Request, body: RegulationBody) -> Response:
        """Find Chinese laws and articles by name, number or question (`regulationSearch`). 法规检索。"""
        work = legal.regulations(body.query, body.as_of or "", body.limit, user_of(request))
        return json_answer((await _answered(request, legal, work)).to_dict(_language(request)))

    @router.post("/cases", response_model=CasesAnswer, responses=error_responses(*SEARCH_ERRORS))
    async def cases(request: Request, body: CaseBody) -> Response:
        """Find judgments by facts, key words or number (`caseSearch`). 案例检索。"""
        filters = CaseFilters(body.case_type or "", body.court or "", body.date_from or "", body.date_to or "")
        work = legal.cases(body.query, filters, body.limit, user_of(request))
        return json_answer((await _answered(request, legal, work)).to_dict(_language(request)))

    @router.get(
        "/cases/{id}",
        response_model=CasesAnswer,
        responses=error_responses(400, 404, 503),
        openapi_extra=_parameter("id", "path", MAX_REFERENCE_CHARS, "A case number (案号), or the `id` of a result."),
    )
    async def case(request: Request) -> Response:
        """Return the whole document of a judgment in the index (`caseDetail`). 裁判文书全文。"""
        reference = _checked("id", request.path_params["id"], MAX_REFERENCE_CHARS)
        _require_index(legal)
        answer = await legal.case_detail(reference)
        if not answer.results:
            raise Refusal(HTTPStatus.NOT_FOUND, answer.notes[0], fix=Fact("legal.search_cases"))
        return json_answer(answer.to_dict(_language(request)))

    @router.get(
        "/card",
        response_model=RegulationAnswer,
        responses=error_responses(400, 404, 503),
        openapi_extra=_parameter("url", "query", MAX_ADDRESS_CHARS, "The address of a result of the engine `laws`."),
    )
    async def card(request: Request) -> Response:
        """Return the article behind the address of a search result, for a card on a page. 法条卡片。"""
        url = _checked("url", request.query_params.get("url", ""), MAX_ADDRESS_CHARS)
        _require_index(legal)
        found = await asyncio.to_thread(law_card, legal.handle, url)
        if found is None:
            raise Refusal(HTTPStatus.NOT_FOUND, Fact("legal.no_card"))
        return json_answer(found)

    @router.get(
        "/diff",
        response_model=DiffAnswer,
        responses=error_responses(400, 404, 503),
        openapi_extra={
            "parameters": [
                _named("reference", "query", MAX_REFERENCE_CHARS, "An article, with its law: 公司法第二十条."),
                {
                    "name": "asOf", "in": "query", "required": False, "schema": {"type": "string", "pattern": _DAY},
                    "description": "The version of this day, compared with the one before it. Unset: today.",
                },
            ]
        },
    )  # fmt: skip
    async def diff(request: Request) -> Response:
        """Return what changed in an article: its text in two versions of the law. 新旧对比。"""
        reference = _checked("reference", request.query_params.get("reference", ""), MAX_REFERENCE_CHARS)
        _require_index(legal)
        found = await asyncio.to_thread(_compared, legal, reference, request.query_params.get("asOf", ""))
        return json_answer(found.to_dict(_language(request)))

    @router.get("/stats", response_model=LegalStatsAnswer, responses=error_responses(503))
    async def stats(request: Request) -> Response:  # noqa: ARG001 - every endpoint takes it
        """Tell what the legal index of this server holds. 法律库统计。"""
        _require_index(legal)
        return json_answer(await asyncio.to_thread(lambda: _stats(legal)))

    return router


async def _answered(request: Request, legal: LegalSearch, work: Awaitable[LegalAnswer[Any]]) -> LegalAnswer[Any]:
    try:
        with HangUp(request.receive):
            return await work
    except ConfigurationError:
        _require_index(legal)  # in words for those who cannot see this machine's folders
        raise


def _language(request: Request) -> Language:
    # The law itself is in Chinese.
    return language_of(request.headers.get("accept-language"), Language.CHINESE)


def _require_index(legal: LegalSearch) -> None:
    if not legal.handle.is_there():
        raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Fact("legal.not_on_server"))


def _compared(legal: LegalSearch, reference: str, as_of: str) -> Comparison:
    try:
        return compare(RegulationSearch(legal.handle.get(), legal.handle.today), reference, as_of or None)
    except InvalidQuery as error:
        if error.fact.code == "legal_diff.no_article":
            raise Refusal(HTTPStatus.NOT_FOUND, error.fact) from None
        raise


def _stats(legal: LegalSearch) -> dict[str, Any]:
    index = legal.handle.get()
    known: IndexStats = index.store.stats(index.generation)
    # Its sources are files of this machine, which are nobody else's business.
    return {to_camel(name): value for name, value in asdict(known).items() if name in _COUNTS}


def _checked(name: str, value: str, longest: int) -> str:
    if not value.strip() or len(value) > longest:
        raise Refusal(HTTPStatus.BAD_REQUEST, Fact("legal.length", name=name, most=longest))
    return value


def _parameter(name: str, place: str, longest: int, description: str) -> dict[str, Any]:
    return {"parameters": [_named(name, place, longest, description)]}


def _named(name: str, place: str, longest: int, description: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"\S"}
    return {"name": name, "in": place, "required": True, "schema": schema, "description": description}
