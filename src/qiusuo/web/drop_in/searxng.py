"""``/search`` as SearXNG answers it, for programs that were made for SearXNG: https://docs.searxng.org/dev/search_api.html

Checks, texts of errors and fields are SearXNG's. One difference: when every engine fails it is an error, not an
empty list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlencode, urlparse

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.models import Attempt, Outcome, SearchResponse, SearchResultItem, SearchType
from qiusuo.pipeline.request import MAX_RESULTS
from qiusuo.web.api import SEARCH_ERRORS
from qiusuo.web.backend import Backend
from qiusuo.web.errors import in_one_line
from qiusuo.web.route import LeanRoute, json_answer
from qiusuo.web.schemas import error_responses
from qiusuo.words import Fact, Language

_FORM: Final = "application/x-www-form-urlencoded"
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
        None, description="Comma list of engines to ask; names that are not set up here are left out."
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

    body = {"required": True, "content": {_FORM: {"schema": SearxngForm.model_json_schema()}}}

    @router.post("/search", openapi_extra={"requestBody": body}, **documented)
    async def search_by_form(request: Request) -> Response:
        """Search as SearXNG does, with the parameters in a form. 兼容 SearXNG 的搜索接口（表单）。"""
        return await answer(request)

    return router


async def query_redirect(request: Request) -> Response | None:
    """Send a query that was put to the root on to ``/search``, as SearXNG does; None where there is none."""
    form = await _read_form(request)
    if not form.get("q"):
        return None
    parameters = urlencode(request.query_params.multi_items())
    return RedirectResponse(f"/search?{parameters}" if parameters else "/search", 308)


async def _search(backend: Backend, request: Request) -> dict[str, Any]:
    given = await _read_form(request)
    form = _check(given)
    chosen, missing = _engines(backend, form.engines)
    page = backend.settings.max_results
    start = (form.pageno - 1) * page
    if start >= MAX_RESULTS:
        return _answer(form.q, (), 0, missing)
    response = await backend.search(
        request,
        form.q,
        num_results=min(start + page, MAX_RESULTS),
        type=_type(form.categories),
        language=form.language,
        freshness=form.time_range,
        engine=chosen[0] if len(chosen) == 1 else None,
        merge=chosen if len(chosen) > 1 else False,
    )
    silent = [_unresponsive(attempt) for attempt in response.attempts if attempt.outcome not in _ANSWERED]
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


def _engines(backend: Backend, wanted: str | None) -> tuple[list[str], list[tuple[str, str]]]:
    """Return those of the wanted engines that can be asked, and those of ours that cannot."""
    if not wanted:
        return [], []
    problems = backend.service.engine_problems()
    names = [name for name in dict.fromkeys(part.strip().lower() for part in wanted.split(",")) if name in problems]
    chosen = [name for name in names if problems[name] is None]
    return chosen, [(name, "not set up") for name in names if name not in chosen]


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
