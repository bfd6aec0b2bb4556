"""``/api/chat``: the conversations behind the page. Turns are streamed as server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from qiusuo import __version__
from qiusuo.chat.chat import MAX_QUESTION, Chat
from qiusuo.chat.depth import usual_depth
from qiusuo.chat.events import TurnRecord
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model, UnusableModel
from qiusuo.chat.research.state import limits_of
from qiusuo.chat.sessions.conversations import Conversations, LiveTurn, Numbered
from qiusuo.chat.sessions.session import MAX_TITLE, ChatSettings, SessionStore
from qiusuo.chat.sessions.store import open_store, store_limits
from qiusuo.chat.telling import told
from qiusuo.commands import typed
from qiusuo.config import Settings
from qiusuo.errors import InvalidQuery, ModelNotConfigured, SearchError, SessionNotFound
from qiusuo.models import SearchType
from qiusuo.pipeline.request import MAX_QUERY_CHARS
from qiusuo.service import EngineStatus
from qiusuo.web.api import engine_shape, problem_shape
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.entrance.auth import runs_the_server
from qiusuo.web.language import language_headers, reader_language, wished_language
from qiusuo.web.owners import Handler, answered, owner_of
from qiusuo.web.portable import PortableRoutes
from qiusuo.web.report import report_answer
from qiusuo.web.route import json_answer, read_body, user_of
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

PING_SECONDS: Final = 15.0
PAGE_LENGTH: Final = 50
"""Turns or conversations in one answer, where a request does not say how many."""
EVENT_STREAM: Final = "text/event-stream"
_STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
EXAMPLES: Final = (Fact("example.first"), Fact("example.second"), Fact("example.third"), Fact("example.fourth"))


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class NewSession(_Body):
    """A conversation to begin."""

    title: str = Field(default="", max_length=MAX_TITLE)
    settings: dict[str, Any] = Field(default_factory=dict)


class SessionChange(_Body):
    """What to change of a conversation."""

    title: str | None = Field(default=None, min_length=1, max_length=MAX_TITLE)
    settings: dict[str, Any] | None = None


class Question(_Body):
    """A question, or (with ``replaces``) another go at an earlier one; ``query`` is what to search for instead.

    With ``research`` it is looked into from several sides. ``goes_on`` is a research that broke off, in the place of a
    text: it goes on where it was.
    """

    text: str = ""
    research: bool = False
    goes_on: str | None = None
    query: str | None = Field(default=None, max_length=MAX_QUERY_CHARS)
    replaces: str | None = None
    language: str | None = Field(default=None, pattern="^(zh|en)$")


def chat_extension(model: Model | None = None, store: SessionStore | None = None) -> Extend:
    """Return the conversations as a part of the server, by default with the model and store of the settings."""

    def extend(backend: Backend) -> Extension:
        settings = backend.settings
        url = settings.database_url.get_secret_value() if settings.database_url else None
        chat = Chat(backend.service, model or usable_model(settings), reader=backend.reader, settings=settings)
        conversations = Conversations(chat, store or open_store(url, limits=store_limits(settings)))
        backend.parts["conversations"] = conversations

        @asynccontextmanager
        async def lifespan() -> AsyncIterator[None]:
            await conversations.start()
            try:
                yield
            finally:
                conversations.break_off()
                await conversations.aclose()

        portable = PortableRoutes(backend, conversations)
        routes = [*portable.routes(), *ChatRoutes(backend, conversations).routes()]
        return Extension(routes, lifespan, conversations.break_off, lambda: conversations.answering)

    return extend


def usable_model(settings: Settings) -> Model:
    """Return the model of the settings; one that is set wrongly does not keep the server from starting."""
    try:
        return open_model(settings)
    except ModelNotConfigured as error:
        logger.warning("the model cannot be used: %s", error)
        return UnusableModel(error, settings.model or "")


@dataclass(frozen=True, slots=True)
class ChatRoutes:
    """The endpoints over the conversations of one server."""

    backend: Backend
    conversations: Conversations

    def routes(self) -> list[Route]:
        """Return the routes."""
        session = "/api/chat/sessions/{session}"
        table: list[tuple[str, str, Handler]] = [
            ("/api/chat/config", "GET", self.config),
            ("/api/chat/sessions", "GET", self.list_sessions),
            ("/api/chat/sessions", "POST", self.create),
            (session, "GET", self.show),
            (session, "PATCH", self.change),
            (session, "DELETE", self.delete),
            (f"{session}/turns", "POST", self.ask),
            (f"{session}/turns/{{turn}}/events", "GET", self.events),
            (f"{session}/turns/{{turn}}/stop", "POST", self.stop),
            (f"{session}/turns/{{turn}}/report.{{kind}}", "GET", self.report),
        ]
        return [Route(path, answered(handler), methods=[method]) for path, method, handler in table]

    async def config(self, request: Request) -> Response:
        """Tell what the page shows of the set-up: model, engines, examples."""
        language = reader_language(request.scope)
        service = self.backend.service
        # Without any engine for the web, the statutes on this machine may still be searched.
        taking_part = await service.available() or await service.available(SearchType.REGULATION)
        statuses = await service.status()
        problem = None if taking_part else await service.disabled()
        in_use = _engine_in_use(taking_part, statuses)
        operator = runs_the_server(request.scope, self.backend.settings.operators or ())
        return json_answer(
            {
                "model": self.conversations.chat.model.info.to_dict(),
                "search": {
                    "available": problem is None,
                    "engine": self._shown(in_use) if in_use else None,
                    "problem": problem_shape(problem, language) if problem else None,
                },
                "engines": [engine_shape(status, language) for status in statuses if status.state != "missing"],
                "examples": {tongue.value: [example.text(tongue) for example in EXAMPLES] for tongue in Language},
                "settings": self.conversations.chat.usual_settings.to_dict(language),
                "depth": usual_depth(self.backend.settings).value,
                "operator": operator,
                "program": typed("qiusuo") if operator else "",
                "version": __version__,
                "limits": {"maxQuestion": MAX_QUESTION},
                "research": {
                    "questions": self.backend.settings.research_questions,
                    **limits_of(self.backend.settings).to_dict(),
                },
            },
            language=language,
        )

    def _shown(self, engine: EngineStatus) -> dict[str, Any]:
        kind = self.backend.service.kind_of(engine.name)
        web = kind is None or kind.search_types is None or SearchType.GENERAL in kind.search_types
        return {"name": engine.name, "label": engine.label, "web": web}

    async def list_sessions(self, request: Request) -> Response:
        """List the conversations of the user."""
        query, language = request.query_params, reader_language(request.scope)
        store = self.conversations.store
        found = await store.page(
            owner_of(request),
            query=query.get("query", "")[:MAX_TITLE],
            limit=_count(query, "limit", PAGE_LENGTH),
            offset=_count(query, "offset", 0),
        )
        limits = store.limits
        return json_answer(
            {
                "sessions": [info.to_dict(language) for info in found.sessions],
                "more": found.more,
                "total": found.total,
                "most": limits.sessions,
                "whenFull": "delete_oldest" if limits.oldest_make_room else "refuse",
            },
            language=language,
        )

    async def create(self, request: Request) -> Response:
        """Begin a conversation."""
        body = await read_body(request, NewSession) if await request.body() else NewSession()
        settings = self.conversations.chat.usual_settings.changed(body.settings)
        self._check_engine(settings)
        info = await self.conversations.store.create(owner_of(request), settings=settings, title=body.title)
        removed = [{"id": one.id, "title": one.title} for one in info.removed]
        language = reader_language(request.scope)
        data = {**info.to_dict(language), "turns": [], "removed": removed}
        return json_answer(data, HTTPStatus.CREATED, language=language)

    async def show(self, request: Request) -> Response:
        """Return a conversation with its last turns, or those next to one; a turn that runs here as it stands."""
        owner, session = owner_of(request), request.path_params["session"]
        query = request.query_params
        before, after = query.get("before"), query.get("after")
        if before is not None and after is not None:
            raise InvalidQuery(Fact("web.before_and_after"))
        with suppress(SearchError):  # what could not be saved may be by now; where not, reading tells why
            await self.conversations.settle(owner, session)
        store = self.conversations.store
        info = await store.get(owner, session)
        limit = _count(query, "limit", PAGE_LENGTH)
        page = await store.turns(owner, session, limit=limit, before=before, after=after)
        shown = []
        for record in page.turns:
            live = self.conversations.live(owner, session, record.id)
            shown.append(_turn((live.record if live else record), wished_language(request.scope)))
        counts = {"earlier": page.earlier, "later": page.later, "total": page.total, "most": store.limits.turns}
        language = reader_language(request.scope)
        return json_answer({**info.to_dict(language), "turns": shown, **counts}, language=language)

    async def change(self, request: Request) -> Response:
        """Rename a conversation or change its settings; the answer is the true state."""
        body = await read_body(request, SessionChange)
        owner, session = owner_of(request), request.path_params["session"]
        if body.settings is not None:
            known = (await self.conversations.store.get(owner, session)).settings
            self._check_engine(known.changed(body.settings))
        info = await self.conversations.store.change(owner, session, title=body.title, settings=body.settings)
        language = reader_language(request.scope)
        return json_answer(info.to_dict(language), language=language)

    async def delete(self, request: Request) -> Response:
        """End a conversation."""
        await self.conversations.delete(owner_of(request), request.path_params["session"])
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def ask(self, request: Request) -> Response:
        """Ask a question; the answer streams in."""
        self.backend.check_open()
        body = await read_body(request, Question)
        live = await self.conversations.send(
            owner_of(request),
            request.path_params["session"],
            body.text,
            replaces=body.replaces,
            language=body.language,
            user=user_of(request),
            query=body.query,
            research=body.research,
            goes_on=body.goes_on,
        )
        return event_stream(live, wished_language(request.scope))

    async def events(self, request: Request) -> Response:
        """Join a turn that is running, from the event that was seen last."""
        live = self._live(request)
        seen = request.headers.get("last-event-id") or request.query_params.get("after")
        return event_stream(live, wished_language(request.scope), _number(seen, -1))

    async def stop(self, request: Request) -> Response:
        """Stop a turn."""
        live = self._live(request)
        live.stop()
        await live.wait()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def report(self, request: Request) -> Response:
        """Return an answer as a document: Markdown, or HTML that prints well."""
        owner, path = owner_of(request), request.path_params
        live = self.conversations.live(owner, path["session"], path["turn"])
        record = live.record if live else await self.conversations.store.turn(owner, path["session"], path["turn"])
        return report_answer(record, path["kind"])

    def _live(self, request: Request) -> LiveTurn:
        path = request.path_params
        live = self.conversations.live(owner_of(request), path["session"], path["turn"])
        if live is None:
            raise SessionNotFound(Fact("web.turn_elsewhere"))
        return live

    def _check_engine(self, settings: ChatSettings) -> None:
        known = self.backend.service.engine_problems()
        if settings.engine is not None and settings.engine not in {*known, "native"}:
            raise InvalidQuery(Fact("web.unknown_engine", name=settings.engine))


def event_stream(live: LiveTurn, wished: Language | None, after: int = -1) -> StreamingResponse:
    """Return the events of a turn as server-sent events; who hangs up stops nothing.

    They are told in the language that was asked for, else in that of the turn.
    """
    language = wished or Language(live.record.language)
    headers = {**_STREAM_HEADERS, **language_headers(language)}
    return StreamingResponse(_server_sent(live, after, language), media_type=EVENT_STREAM, headers=headers)


async def _server_sent(live: LiveTurn, after: int, language: Language) -> AsyncIterator[bytes]:
    batches = live.follow(after)
    pending: asyncio.Task[list[Numbered]] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(batches))
            done, _ = await asyncio.wait([pending], timeout=PING_SECONDS)
            if not done:
                yield b": ping\n\n"  # keeps proxies from hanging up, and tells us of clients that have
                continue
            batch, pending = pending, None
            try:
                yield b"".join(_event(number, event.to_dict(language)) for number, event in batch.result())
            except StopAsyncIteration:
                return
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.wait([pending])  # a generator that still runs cannot be closed
        await batches.aclose()


def _event(number: int, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, data["type"].encode(), orjson.dumps(data))


def _engine_in_use(taking_part: tuple[str, ...], statuses: list[EngineStatus]) -> EngineStatus | None:
    """Return the engine that the next search asks first."""
    by_name = {status.name: status for status in statuses}
    ready = [by_name[name] for name in taking_part if name in by_name]
    return next((status for status in ready if status.state == "ready"), ready[0] if ready else None)


def _turn(record: TurnRecord, wished: Language | None) -> dict[str, Any]:
    shown = told(record.to_dict(), wished or Language(record.language))
    del shown["kept"]  # for the server alone
    return shown | {"canGoOn": record.can_go_on}


def _count(query: QueryParams, name: str, otherwise: int) -> int:
    """Return a number of the query.

    Raises:
        InvalidQuery: it is none: another page than the one that was asked for would be shown.
    """
    text = query.get(name)
    if text is not None and not (text.isdecimal() and len(text) < 10):  # noqa: PLR2004 - fits any database
        raise InvalidQuery(Fact("web.not_a_number", name=name))
    return otherwise if text is None else int(text)


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else otherwise  # noqa: PLR2004 - fits any database
