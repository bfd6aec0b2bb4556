"""``/tavily/search`` and ``/tavily/extract`` as Tavily answers them: https://docs.tavily.com/documentation/api-reference

Clients of Tavily need another base address and nothing else. What only Tavily can do (images) is answered as if nothing
was found; other parameters that have no counterpart here are accepted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal
from uuid import uuid4

from fastapi import APIRouter
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.engines.tavily import COUNTRIES
from qiusuo.errors import PageError, PageTimeout, SearchError, UnsupportedPage
from qiusuo.models import Freshness, SearchResultItem, SearchType
from qiusuo.pages import Page, PageReader
from qiusuo.pipeline.request import MAX_QUERY_CHARS, MAX_RESULTS
from qiusuo.text import FRESHNESS_SPAN
from qiusuo.web.api import SEARCH_ERRORS
from qiusuo.web.backend import Backend
from qiusuo.web.drop_in.tavily_answer import answer_to, day_of, within
from qiusuo.web.entrance.auth import note_person
from qiusuo.web.entrance.hangup import HangUp
from qiusuo.web.errors import in_one_line
from qiusuo.web.language import reader_language
from qiusuo.web.route import LeanRoute, json_answer, user_of
from qiusuo.web.schemas import error_responses
from qiusuo.words import Fact, Language

DEFAULT_RESULTS: Final = 5
MAX_URLS: Final = 20
PAGES_AT_ONCE: Final = 10
PAGES_OF_A_SEARCH: Final = 5
"""So many count as one search against the user's limit, as Tavily charges them."""
MAX_PAGE_CHARS: Final = 200_000
RAW_CONTENT_SECONDS: Final = 10.0
EXTRACT_SECONDS: Final = 30.0

_REGIONS: Final[Mapping[str, str]] = {name: code for code, name in COUNTRIES.items()}
_RANGES: Final[Mapping[str, Freshness]] = {
    **{span.value: span for span in Freshness if span is not Freshness.HOUR},
    "d": Freshness.DAY,
    "w": Freshness.WEEK,
    "m": Freshness.MONTH,
    "y": Freshness.YEAR,
}

Names = Annotated[list[str], Field(max_length=300)]


class TavilyRequest(BaseModel):
    """What both endpoints take."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    api_key: str | None = Field(
        None, repr=False, description="The token, for old clients; others send it as bearer token."
    )
    include_usage: bool | None = None


class TavilySearchBody(TavilyRequest):
    """Tavily's parameters that have an effect here; others are ignored."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS, pattern=r"\S")
    topic: Literal["general", "news", "finance"] | None = None
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = None
    days: int | None = Field(None, ge=1, description="Days back, for news; the old form of `time_range`.")
    start_date: date | None = Field(
        None, description="Taken as the `time_range` that reaches back so far; older pages of known date are left out."
    )
    end_date: date | None = Field(
        None, description="Newer pages of known date are left out; `notes` tells of those without a date."
    )
    max_results: int | None = Field(None, ge=0, le=MAX_RESULTS, description=f"Unset: {DEFAULT_RESULTS}.")
    include_domains: Names | None = None
    exclude_domains: Names | None = None
    country: str | None = Field(None, max_length=60, description="Its English name, or two letters.")
    include_answer: bool | str | None = Field(
        None, description="An answer by the language model, or by sentences of the results where there is none."
    )
    include_raw_content: bool | Literal["markdown", "text"] | None = Field(
        None, description="Read every page that was found."
    )


class TavilyExtractBody(TavilyRequest):
    """Pages to read."""

    urls: str | Annotated[list[str], Field(min_length=1, max_length=MAX_URLS)]
    timeout: float | None = Field(None, gt=0, description=f"Seconds, at most {EXTRACT_SECONDS:g}.")


class TavilyUsage(BaseModel):
    """What Tavily would charge."""

    credits: int


class TavilyResult(BaseModel):
    """One result as Tavily gives it."""

    title: str
    url: str
    content: str
    score: float
    raw_content: str | None
    published_date: str | None = None


class TavilySearchAnswer(BaseModel):
    """What Tavily answers to a search."""

    query: str
    follow_up_questions: None
    answer: str | None
    images: list[str]
    results: list[TavilyResult]
    response_time: float
    request_id: str
    usage: TavilyUsage | None = None
    notes: list[str] | None = Field(None, description="What could not be heeded in full.")


class TavilyPage(BaseModel):
    """One page as Tavily gives it."""

    url: str
    title: str
    raw_content: str
    images: list[str]


class TavilyFailure(BaseModel):
    """A page that could not be read."""

    url: str
    error: str


class TavilyExtractAnswer(BaseModel):
    """What Tavily answers to an extraction."""

    results: list[TavilyPage]
    failed_results: list[TavilyFailure]
    response_time: float
    request_id: str
    usage: TavilyUsage | None = None


class TavilyErrorText(BaseModel):
    """The text of an error."""

    error: str


class TavilyError(BaseModel):
    """An error in Tavily's shape."""

    detail: TavilyErrorText


class TavilyRoute(LeanRoute):
    """Words errors as Tavily does."""

    @staticmethod
    def error_shape(error: SearchError, language: Language) -> dict[str, Any]:
        return {"detail": {"error": in_one_line(error, language)}}


def tavily_router(backend: Backend) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=TavilyRoute, tags=["drop-in"])
    pages = _Pages(backend.reader)

    @router.post(
        "/tavily/search",
        response_model=TavilySearchAnswer,
        responses=error_responses(401, *SEARCH_ERRORS, model=TavilyError),
    )
    async def search(request: Request, body: TavilySearchBody) -> Response:
        """Search as Tavily does. 兼容 Tavily 的搜索接口。"""
        user = await _user(backend, request, body)
        started = time.perf_counter()
        items: Sequence[SearchResultItem] = ()
        said: str | None = None
        notes: list[Fact] = []
        # Zero is legal at Tavily and gives nothing.
        if body.max_results != 0:
            response = await backend.search(
                request,
                body.query,
                user=user,
                type=SearchType.NEWS if body.topic == "news" else SearchType.GENERAL,
                num_results=body.max_results or DEFAULT_RESULTS,
                region=_region(body.country),
                freshness=_freshness(body),
                include_domains=_domains(body.include_domains),
                exclude_domains=_domains(body.exclude_domains),
            )
            items = within(response.results, body.start_date, body.end_date)
            if body.end_date and (undated := sum(day_of(item) is None for item in items)):
                notes.append(Fact("web.undated_results", count=undated))
            if body.include_answer:
                with HangUp(request.receive):
                    said = await answer_to(backend, user, body.query, replace(response, results=items))
        texts: Mapping[str, str] = {}
        if body.include_raw_content:
            with HangUp(request.receive):
                texts = await pages.texts([item.url for item in items])
        results = [_result(item, rank, texts.get(item.url)) for rank, item in enumerate(items)]
        answer = {"query": body.query, "follow_up_questions": None, "answer": said, "images": [], "results": results}
        language = reader_language(request.scope)
        told = {"notes": [note.text(language) for note in notes]} if notes else {}
        return json_answer(answer | _footer(body, started) | told)

    @router.post(
        "/tavily/extract",
        response_model=TavilyExtractAnswer,
        responses=error_responses(400, 401, 429, model=TavilyError),
    )
    async def extract(request: Request, body: TavilyExtractBody) -> Response:
        """Read pages as Tavily does. 兼容 Tavily 的网页读取接口。"""
        user = await _user(backend, request, body)
        started = time.perf_counter()
        urls = list(dict.fromkeys([body.urls] if isinstance(body.urls, str) else body.urls))
        for _ in range(0, len(urls), PAGES_OF_A_SEARCH):
            await backend.service.count(user)
        with HangUp(request.receive):
            read = await pages.read(urls, min(body.timeout or EXTRACT_SECONDS, EXTRACT_SECONDS))
        good = [
            {"url": url, "title": page.title, "raw_content": page.text, "images": []}
            for url, page in read.items()
            if isinstance(page, Page)
        ]
        language = reader_language(request.scope)
        bad = [
            {"url": url, "error": in_one_line(why, language)}
            for url, why in read.items()
            if isinstance(why, SearchError)
        ]
        return json_answer({"results": good, "failed_results": bad} | _footer(body, started), language=language)

    return router


class _Pages:
    """Reads several pages at once, but not too many."""

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self._places = asyncio.Semaphore(PAGES_AT_ONCE)

    async def read(self, urls: Sequence[str], seconds: float) -> dict[str, Page | PageError]:
        """Return each page, or why it could not be read."""

        async def one(url: str) -> Page | PageError:
            try:
                async with asyncio.timeout(seconds), self._places:
                    page = await self._reader.read(url, max_chars=MAX_PAGE_CHARS)
            except PageError as error:
                return error
            except TimeoutError:
                return PageTimeout(Fact("web.page_late", seconds=seconds))
            if page.text:
                return page
            notes = list(page.notes)
            return UnsupportedPage(Fact("web.page_notes", notes=notes) if notes else Fact("web.page_empty"))

        return dict(zip(urls, await asyncio.gather(*map(one, urls)), strict=True))

    async def texts(self, urls: Sequence[str]) -> dict[str, str]:
        """Return the texts of those pages that could be read."""
        read = await self.read(list(dict.fromkeys(urls)), RAW_CONTENT_SECONDS)
        return {url: page.text for url, page in read.items() if isinstance(page, Page)}


async def _user(backend: Backend, request: Request, body: TavilyRequest) -> str:
    """Return who asks: the guard may have seen a token, or it stands in the body."""
    known = user_of(request)
    if known is None:
        person = await backend.door.person(body.api_key, request.scope)
        note_person(request.scope, person)
        known = person.name
    return known


def _footer(body: TavilyRequest, started: float) -> dict[str, Any]:
    data = {"response_time": round(time.perf_counter() - started, 3), "request_id": str(uuid4())}
    return data | {"usage": {"credits": 0}} if body.include_usage else data


def _result(item: SearchResultItem, rank: int, raw_content: str | None) -> dict[str, Any]:
    # Tavily's scores lie between 0 and 1; other engines have other scales or none.
    score = item.score if item.score is not None and 0 <= item.score <= 1 else 1 / (1 + rank / 10)
    data = {"title": item.title, "url": item.url, "content": item.snippet, "score": score, "raw_content": raw_content}
    return data | {"published_date": item.published_at} if item.published_at else data


def _region(country: str | None) -> str | None:
    name = (country or "").strip().lower()
    if len(name) == 2 and name.isascii() and name.isalpha():  # noqa: PLR2004 - a code, which litellm sends
        return name.upper()
    return _REGIONS.get(name)


def _freshness(body: TavilySearchBody) -> Freshness | None:
    if body.time_range:
        return _RANGES[body.time_range]
    days = body.days if body.topic == "news" else None
    if body.start_date:
        days = max((datetime.now(UTC).date() - body.start_date).days, 1)
    if days is None:
        return None
    return next((span for span in _RANGES.values() if FRESHNESS_SPAN[span].days >= days), None)


def _domains(names: Sequence[str] | None) -> list[str]:
    """Return hosts alone: Tavily takes paths (``linkedin.com/in``) and wildcards (``*.gov.cn``) too."""
    hosts = (name.strip().partition("://")[2] or name.strip() for name in names or ())
    return [host.partition("/")[0].removeprefix("*.") for host in hosts]
