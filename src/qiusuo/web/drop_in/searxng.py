"""``/search`` as SearXNG answers it, for programs that were made for SearXNG: https://docs.searxng.org/dev/search_api.html

Checks, texts of errors and fields are SearXNG's. One difference: when every engine fails it is an error, not an
empty list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlencode, urlparse

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiusuo.errors import AllEnginesFailed, InvalidQuery, SearchError
from qiusuo.models import Attempt, Outcome, SearchResponse, SearchResultItem, SearchType
from qiusuo.pipeline.request import MAX_RESULTS, SearchOptions
from qiusuo.web.api import SEARCH_ERRORS
from qiusuo.web.backend import Backend
from qiusuo.web.drop_in.searxng_about import configuration, suggestions
from qiusuo.web.errors import in_one_line
from qiusuo.web.route import LeanRoute, json_answer
from qiusuo.web.schemas import error_responses
from qiusuo.words import Fact, Language

_FORM: Final = "application/x-www-form-urlencoded"
_MOST_NAMES: Final = 50
_NAME_CHARS: Final = 50
_NOT_HERE: Final = "not enabled on this server"
_ANSWERED: Final = frozenset({Outcome.OK, Outcome.EMPTY})
# SearXNG's own words; programs look for them.
_WORDS: Final[Mapping[Outcome, str]] = {
    Outcome.BLOCKED: "CAPTCHA",
    Outcome.RATE_LIMITED: "too many requests",
    Outcome.QUOTA: "too many requests (quota)",
    Outcome.AUTH: "access denied",
    Outcome.TIMEOUT: "timeout",
    Outcome.UNAVAILABLE: "HTTP error",
    Outcome.BAD_RESPONSE: "parsing error",
}


def _digits(value: object) -> object:
    # "1.0", " 1" and "+1" are numbers to Python, not to SearXNG.
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("not a whole number")
    return value


def _unless_blank(value: object) -> object:
    return None if value in {"", "None"} else value


class SearxngForm(BaseModel):
    """SearXNG's parameters; others are ignored, as there."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    q: str = Field(min_length=1, description="The words to search for.")
    format: Literal["json"] = Field(description="`json`.")
    language: str | None = Field(
        None, pattern=r"^(auto|[a-z]{2,3}(-[a-zA-Z]{2})?)$", description="`zh-CN`, `en` …, `all` or `auto`."
    )
    categories: str | None = Field(None, description="Comma list; `news` asks for news, others have no effect.")
    engines: str | None = Field(
        None, description="Comma list of engines to ask, of those that take part here; others are left out and told."
    )
    time_range: Annotated[Literal["day", "week", "month", "year"] | None, BeforeValidator(_unless_blank)] = None
    pageno: Annotated[int, BeforeValidator(_digits)] = Field(1, ge=1, description="Page, from 1.")
    safesearch: Annotated[int, BeforeValidator(_digits)] = Field(0, ge=0, le=2, description="Has no effect.")


class SearxngResult(BaseModel):
    """One result as SearXNG gives it."""

    url: str
    title: str
    content: str
    engine: str
    engines: list[str]
    positions: list[int]
    score: float
    category: str
    template: str
    parsed_url: list[str]
    publishedDate: str | None = Field(description="ISO 8601.")  # noqa: N815 - SearXNG's name
    pubdate: str = Field(description="The date in the engine's own words.")
    thumbnail: str
    img_src: str
    priority: str


class SearxngAnswer(BaseModel):
    """What SearXNG answers."""

    query: str
    results: list[SearxngResult]
    answers: list[Any]
    corrections: list[str]
    infoboxes: list[Any]
    suggestions: list[str]
    unresponsive_engines: list[tuple[str, str]]


class SearxngError(BaseModel):
    """An error in SearXNG's shape."""

    error: str


class SearxngRoute(LeanRoute):
    """Words errors as SearXNG does."""

    @staticmethod
    def error_shape(error: SearchError, language: Language) -> dict[str, Any]:
        return {"error": in_one_line(error, language)}


def searxng_router(backend: Backend) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=SearxngRoute, tags=["drop-in"])
    documented: dict[str, Any] = {
        "response_model": SearxngAnswer,
        "responses": error_responses(*SEARCH_ERRORS, model=SearxngError),
    }

    async def answer(request: Request) -> Response:
        return json_answer(await _search(backend, request))

    @router.get("/search", openapi_extra={"parameters": _parameters()}, **documented)
    async def search(request: Request) -> Response:
        """Search as SearXNG does. 兼容 SearXNG 的搜索接口。"""
        return await answer(request)

    @router.head("/search", include_in_schema=False)
    async def look(request: Request) -> Response:
        """Tell whether a search could be made; none is."""
        _check(await _read_form(request))
        return json_answer(None)

    body = {"required": True, "content": {_FORM: {"schema": SearxngForm.model_json_schema()}}}

    @router.post("/search", openapi_extra={"requestBody": body}, **documented)
    async def search_by_form(request: Request) -> Response:
        """Search as SearXNG does, with the parameters in a form. 兼容 SearXNG 的搜索接口（表单）。"""
        return await answer(request)

    @router.get("/config", response_model=dict[str, Any])
    async def config(request: Request) -> Response:  # noqa: ARG001 - as every endpoint
        """Tell which engines take part, as SearXNG does. 兼容 SearXNG 的配置接口。"""
        return json_answer(await configuration(backend))

    @router.post("/autocompleter", include_in_schema=False)
    @router.get("/autocompleter", include_in_schema=False)
    async def autocompleter(request: Request) -> Response:
        """Suggest nothing, in SearXNG's shape. 兼容 SearXNG 的补全接口，总为空。"""
        return suggestions(request, (await _read_form(request)).get("q", ""))

    return router


async def query_redirect(request: Request) -> Response | None:
    """Send a query that was put to the root on to ``/search``, as SearXNG does; None where there is none."""
    form = await _read_form(request)
    if not form.get("q"):
        return None
    parameters = urlencode(request.query_params.multi_items())
    to = f"{request.scope.get('root_path', '')}/search"
    return RedirectResponse(f"{to}?{parameters}" if parameters else to, 308)


async def _search(backend: Backend, request: Request) -> dict[str, Any]:
    given = await _read_form(request)
    form = _check(given)
    kind = _type(form.categories)
    chosen, missing = _engines(await backend.service.available(kind), form.engines)
    page = backend.settings.max_results
    start = (form.pageno - 1) * page
    if start >= MAX_RESULTS:
        return _answer(form.q, (), 0, missing)
    options: SearchOptions = {
        "num_results": min(start + page, MAX_RESULTS),
        "type": kind,
        "language": form.language,
        "freshness": form.time_range,
    }
    attempts: tuple[Attempt, ...] = ()
    try:
        response = await backend.search(request, form.q, **_named(options, chosen))
    except AllEnginesFailed as error:
        if not chosen:
            raise
        # Programs name engines by a list of their own; who wants results does not want to go without for its sake.
        attempts = tuple(error.attempts)
        response = await backend.search(request, form.q, **options)
    failed = {attempt.engine: attempt for attempt in (*response.attempts, *attempts)}
    silent = [_unresponsive(attempt) for attempt in failed.values() if attempt.outcome not in _ANSWERED]
    return _answer(form.q, _rows(response)[start : start + page], start, [*silent, *missing])


async def _read_form(request: Request) -> dict[str, str]:
    """Return the parameters of the address and of the form; the form wins, as in SearXNG."""
    given = dict(request.query_params)
    if request.method == "POST" and request.headers.get("content-type", _FORM).partition(";")[0].strip() == _FORM:
        body = (await request.body()).decode("utf-8", "replace")
        given |= parse_qsl(body, keep_blank_values=True)
    return given


def _check(given: Mapping[str, str]) -> SearxngForm:
    if given.get("format") != "json":
        raise InvalidQuery(Fact("searxng_door.only_json"))
    if not given.get("q"):
        raise InvalidQuery(Fact("searxng_door.no_query"))
    try:
        return SearxngForm.model_validate(given)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise InvalidQuery(Fact("searxng_door.invalid_value", value=given.get(name, ""), name=name)) from None


def _named(options: SearchOptions, engines: Sequence[str]) -> SearchOptions:
    if not engines:
        return options
    return {**options, "engine": engines[0]} if len(engines) == 1 else {**options, "merge": engines}


def _engines(taking_part: Sequence[str], wanted: str | None) -> tuple[list[str], list[tuple[str, str]]]:
    """Return those of the wanted engines that take part here anyway, and the others.

    The names are those of SearXNG's engines, in lists that programs bring along: they start nothing that the operator
    of this server has not chosen.
    """
    parts = (part.strip().lower()[:_NAME_CHARS] for part in (wanted or "").split(",")[:_MOST_NAMES])
    names = [name for name in dict.fromkeys(parts) if name]
    chosen = [name for name in names if name in taking_part]
    return chosen, [(name, _NOT_HERE) for name in names if name not in chosen]


def _type(categories: str | None) -> SearchType:
    names = {name.strip().lower() for name in (categories or "").split(",")}
    return SearchType.NEWS if "news" in names and "general" not in names else SearchType.GENERAL


def _unresponsive(attempt: Attempt) -> tuple[str, str]:
    word = _WORDS.get(attempt.outcome, attempt.outcome.value)
    return attempt.engine, f"Suspended: {word}" if attempt.skipped else word


def _answer(
    query: str, rows: Iterable[dict[str, Any]], start: int, unresponsive: list[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "query": query,
        "results": [{**row, "positions": [start + number]} for number, row in enumerate(rows, 1)],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": unresponsive,
    }


def _rows(response: SearchResponse) -> list[dict[str, Any]]:
    category = "news" if response.type is SearchType.NEWS else "general"
    return [_row(item, rank, category, response.provider) for rank, item in enumerate(response.results, 1)]


def _row(item: SearchResultItem, rank: int, category: str, provider: str) -> dict[str, Any]:
    engines = list(item.engines) or [provider]
    return {
        "url": item.url,
        "title": item.title,
        "content": item.snippet,
        "engine": engines[0],
        "engines": engines,
        "positions": [rank],
        "score": 1 / rank if item.score is None else item.score,
        "category": category,
        "template": "default.html",
        "parsed_url": _parts(item.url),
        "publishedDate": _iso(item.published_at),
        "pubdate": item.published_at or "",
        "thumbnail": "",
        "img_src": "",
        "priority": "",
    }


def _parts(url: str) -> list[str]:
    try:
        return list(urlparse(url))
    except ValueError:
        return ["", "", url, "", "", ""]


def _iso(date: str | None) -> str | None:
    try:
        return datetime.fromisoformat(date).isoformat() if date else None
    except ValueError:
        return None


def _parameters() -> list[dict[str, Any]]:
    schema = SearxngForm.model_json_schema()
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "description": field.get("description", ""),
            "schema": field,
        }
        for name, field in schema["properties"].items()
    ]
