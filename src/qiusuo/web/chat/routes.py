"""``/api/chat``: the conversations behind the page. Turns are streamed as server-sent events."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import takewhile
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo import __version__
from qiusuo.chat.chat import MAX_QUESTION, Chat
from qiusuo.chat.depth import usual_depth
from qiusuo.chat.events.telling import told
from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.focus import FRESH, focuses
from qiusuo.chat.live.conversations import Conversations
from qiusuo.chat.live.places import NO_USER
from qiusuo.chat.models.book import usable_model
from qiusuo.chat.models.port import Model
from qiusuo.chat.portable.conversation import all_turns
from qiusuo.chat.portable.documents import cites_earlier, completed
from qiusuo.chat.research.state import limits_of
from qiusuo.chat.sessions.session import MAX_TITLE, SessionInfo, SessionStore
from qiusuo.chat.stores.opening import open_store, store_limits
from qiusuo.commands import typed
from qiusuo.config import Settings
from qiusuo.engines.base import Joins
from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.files import MAX_BYTES, PER_MESSAGE, missing_packages
from qiusuo.models import SearchType
from qiusuo.service import EngineStatus
from qiusuo.web.api import engine_shape, problem_shape
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.chat.bodies import NewBranch, NewSession, Question, SessionChange
from qiusuo.web.chat.choices import Choices, budget_shape
from qiusuo.web.chat.feedback import FeedbackRoutes
from qiusuo.web.chat.files import FileRoutes
from qiusuo.web.chat.own_data import OwnDataRoutes
from qiusuo.web.chat.portable import PortableRoutes
from qiusuo.web.chat.report import report_answer
from qiusuo.web.chat.requests import Handler, answered, count_in, owner_of
from qiusuo.web.chat.turn_stream import event_stream
from qiusuo.web.language import reader_language, wished_language
from qiusuo.web.route import json_answer, read_body, user_of
from qiusuo.web.signin.shown import person_shown
from qiusuo.words import Fact, Language

PAGE_LENGTH: Final = 50
"""Turns or conversations in one answer, where a request does not say how many."""
EXAMPLES: Final = (Fact("example.first"), Fact("example.second"), Fact("example.third"), Fact("example.fourth"))


def chat_extension(model: Model | None = None, store: SessionStore | None = None) -> Extend:
    """Return the conversations as a part of the server, by default with the model and store of the settings."""

    def extend(backend: Backend) -> Extension:
        settings = backend.settings
        first = model or usable_model(settings, level=logging.WARNING)
        chat = Chat(backend.service, first, reader=backend.reader, settings=settings)
        conversations = Conversations(chat, store or _own_store(backend), shared=backend.service.pipeline.shared)
        chat.observers.append(backend.metrics)
        backend.parts["conversations"] = conversations

        async def renew(now: Settings) -> None:
            await chat.renew(now, first=model)

        backend.live.on_renewal(renew)

        @asynccontextmanager
        async def lifespan() -> AsyncIterator[None]:
            await conversations.start()
            try:
                yield
            finally:
                conversations.break_off()
                await conversations.aclose()

        portable = PortableRoutes(backend, conversations)
        feedback = FeedbackRoutes(backend, conversations)
        routes = [*portable.routes(), *feedback.routes(), *OwnDataRoutes(backend, conversations).routes()]
        routes += ChatRoutes(backend, conversations).routes()

        def document() -> dict[str, Any]:
            from qiusuo.web.chat.document import chat_document  # noqa: PLC0415 - for who asks for it

            return chat_document({route.path for route in routes})

        return Extension(routes, lifespan, conversations.break_off, lambda: conversations.answering, document=document)

    return extend


def _own_store(backend: Backend) -> SessionStore:
    """Open the store of the settings; how much it keeps follows them."""
    secret = backend.settings.database_url
    url = secret.get_secret_value() if secret else None
    store = open_store(url, limits=store_limits(backend.settings))

    async def renew(now: Settings) -> None:
        store.limits = store_limits(now)

    backend.live.on_renewal(renew)
    return store


@dataclass(frozen=True, slots=True)
class ChatRoutes:
    """The endpoints over the conversations of one server."""

    backend: Backend
    conversations: Conversations

    @property
    def choices(self) -> Choices:
        """What people may choose."""
        return Choices(self.backend.service, self.conversations.chat)

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
        table += [(f"{session}/branches", "POST", self.branch)]
        files = FileRoutes(self.backend, self.conversations)
        table += [
            (f"{session}/files", "POST", files.add),
            (f"{session}/files", "GET", files.listed),
            (f"{session}/files/{{file}}", "DELETE", files.remove),
            (f"{session}/files/{{file}}/text", "GET", files.text),
        ]
        return [Route(path, answered(handler), methods=[method]) for path, method, handler in table]

    async def config(self, request: Request) -> Response:
        """Tell what the page shows of the set-up: model, engines, examples."""
        language = reader_language(request.scope)
        service = self.backend.service
        # Without any engine for the web, the statutes on this machine may still be searched.
        user = user_of(request)
        taking_part = self.choices.engines(
            user, await service.available() or await service.available(SearchType.REGULATION)
        )
        statuses = [one for one in await service.status() if self.choices.engines(user, (one.name,))]
        problem = None if taking_part else await service.disabled()
        in_use = _engine_in_use(taking_part, statuses)
        operator = self.backend.is_run_by(request.scope)
        return json_answer(
            {
                "model": self.choices.first_model(user).info.to_dict(),
                "models": self.choices.models(user),
                "search": {
                    "available": problem is None,
                    "engine": self._shown(in_use, language) if in_use else None,
                    "problem": problem_shape(problem, language) if problem else None,
                },
                "engines": [engine_shape(status, language) for status in statuses if status.state != "missing"],
                "examples": {tongue.value: [example.text(tongue) for example in EXAMPLES] for tongue in Language},
                "settings": self.conversations.chat.usual_settings.to_dict(language),
                "focuses": [_named(name, focus.label) for name, focus in focuses().items()],
                "freshness": [_named("", Fact("focus.any")), *(_named(one, Fact(f"focus.{one}")) for one in FRESH)],
                "depth": usual_depth(self.conversations.chat.settings).value,
                "operator": operator,
                "person": person_shown(request.scope),
                "budget": budget_shape(self.backend, user),
                "program": typed("qiusuo") if operator else "",
                "version": __version__,
                "limits": {"maxQuestion": MAX_QUESTION},
                "files": self._files(),
                "research": {
                    "questions": self.conversations.chat.settings.research_questions,
                    **limits_of(self.conversations.chat.settings).to_dict(),
                },
            },
            language=language,
        )

    def _files(self) -> dict[str, int] | None:
        """Return how many files and bytes may be added; None where none may, or what reads them is not installed."""
        if missing_packages() or not self.conversations.store.limits.files:
            return None
        return {"atOnce": PER_MESSAGE, "maxBytes": MAX_BYTES}

    def _shown(self, engine: EngineStatus, language: Language) -> dict[str, Any]:
        kind = self.backend.service.kind_of(engine.name)
        web = kind is None or kind.search_types is None or SearchType.GENERAL in kind.search_types
        last = self.backend.attempts.of(engine.name)
        problem = last.problem if last and not last.worked else None
        return {
            "name": engine.name,
            "label": engine.called(language),
            "web": web,
            # Nobody has set it up, or asked it anything.
            "untried": last is None and kind is not None and kind.joins is Joins.LAST_RESORT,
            "failed": problem_shape(problem, language) if problem else None,
        }

    async def list_sessions(self, request: Request) -> Response:
        """List the conversations of the user."""
        query, language = request.query_params, reader_language(request.scope)
        store = self.conversations.store
        found = await store.page(
            owner_of(request),
            query=query.get("query", "")[:MAX_TITLE],
            limit=count_in(query, "limit", PAGE_LENGTH),
            offset=count_in(query, "offset", 0),
        )
        limits = store.limits
        nothing = found.total == 0 and owner_of(request) != NO_USER
        earlier = nothing and self.backend.is_run_by(request.scope)
        return json_answer(
            {
                "ofThisMachine": (await store.page(NO_USER, limit=1)).total if earlier else 0,
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
        self.choices.check(user_of(request), settings)
        info = await self.conversations.store.create(owner_of(request), settings=settings, title=body.title)
        return _begun(request, info, {"turns": []})

    async def branch(self, request: Request) -> Response:
        """Begin a conversation with what stands before a question of this one, to ask that in other words."""
        body = await read_body(request, NewBranch)
        owner, session = owner_of(request), request.path_params["session"]
        await self.conversations.settle(owner, session)
        return _begun(request, await self.conversations.store.branches.begin(owner, session, body.turn))

    async def show(self, request: Request) -> Response:
        """Return a conversation with its last turns, or those next to one; a turn that runs as it stands."""
        owner, session = owner_of(request), request.path_params["session"]
        query = request.query_params
        before, after = query.get("before"), query.get("after")
        if before is not None and after is not None:
            raise InvalidQuery(Fact("web.before_and_after"))
        with suppress(SearchError):  # what could not be saved may be by now; where not, reading tells why
            await self.conversations.settle(owner, session)
        store = self.conversations.store
        info = await self.conversations.look_up(owner, session)
        limit = count_in(query, "limit", PAGE_LENGTH)
        page = await store.turns(owner, session, limit=limit, before=before, after=after)
        given = await store.feedback.of(owner, session)
        shown = []
        for record in page.turns:
            thought = {"feedback": given[record.id].to_dict()} if record.id in given else {}
            known = await self.conversations.as_it_stands(info, record)
            shown.append(_turn(known, wished_language(request.scope)) | thought)
        counts = {"earlier": page.earlier, "later": page.later, "total": page.total, "most": store.limits.turns}
        language = reader_language(request.scope)
        files = [file.to_dict() for file in await store.files.list(owner, session)]
        kin = (await store.branches.of(owner, session)).to_dict()
        data = {**info.to_dict(language), "turns": shown, **counts, "files": files, **kin}
        return json_answer(data, language=language)

    async def change(self, request: Request) -> Response:
        """Rename a conversation or change its settings; the answer is the true state."""
        body = await read_body(request, SessionChange)
        owner, session = owner_of(request), request.path_params["session"]
        if body.settings is not None:
            known = (await self.conversations.store.get(owner, session)).settings
            self.choices.check(user_of(request), known.changed(body.settings), body.settings)
        info = await self.conversations.store.change(owner, session, title=body.title, settings=body.settings)
        language = reader_language(request.scope)
        return json_answer(info.to_dict(language), language=language)

    async def delete(self, request: Request) -> Response:
        """End a conversation."""
        session = request.path_params["session"]
        await self.conversations.delete(owner_of(request), session)
        await self.backend.note(request, "audit.conversation_deleted", session=session)
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def ask(self, request: Request) -> Response:
        """Ask a question; the answer streams in."""
        self.backend.check_open(request)
        body = await read_body(request, Question)
        self.choices.check_model(user_of(request), body.model)
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
            model=body.model,
        )
        return event_stream(live, wished_language(request.scope))

    async def events(self, request: Request) -> Response:
        """Join a turn that is running, from the event that was seen last."""
        path = request.path_params
        seen = request.headers.get("last-event-id") or request.query_params.get("after")
        after = _number(seen, -1)
        running = await self.conversations.join(owner_of(request), path["session"], path["turn"], after)
        return event_stream(running, wished_language(request.scope), after)

    async def stop(self, request: Request) -> Response:
        """Stop a turn."""
        path = request.path_params
        await self.conversations.stop(owner_of(request), path["session"], path["turn"])
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def report(self, request: Request) -> Response:
        """Return an answer as a document: Markdown, or HTML that prints well."""
        owner, path = owner_of(request), request.path_params
        info = await self.conversations.look_up(owner, path["session"])
        kept = await self.conversations.store.turn(owner, path["session"], path["turn"])
        record = await self.conversations.as_it_stands(info, kept)
        if cites_earlier(record):
            turns = await all_turns(self.conversations.store, owner, path["session"])
            record = completed([*takewhile(lambda turn: turn.id != record.id, turns), record])[-1]
        return report_answer(record, path["kind"])


def _named(name: str, label: Fact) -> dict[str, Any]:
    """Return a choice with its words in each language."""
    return {"name": name, "label": {tongue.value: label.text(tongue) for tongue in Language}}


def _engine_in_use(taking_part: tuple[str, ...], statuses: list[EngineStatus]) -> EngineStatus | None:
    """Return the engine that the next search asks first."""
    by_name = {status.name: status for status in statuses}
    ready = [by_name[name] for name in taking_part if name in by_name]
    return next((status for status in ready if status.state == "ready"), ready[0] if ready else None)


def _begun(request: Request, info: SessionInfo, more: Mapping[str, Any] | None = None) -> Response:
    """Tell of a new conversation, and of those that made room for it."""
    language = reader_language(request.scope)
    removed = [{"id": one.id, "title": one.title} for one in info.removed]
    data = {**info.to_dict(language), **(more or {}), "removed": removed}
    return json_answer(data, HTTPStatus.CREATED, language=language)


def _turn(record: TurnRecord, wished: Language | None) -> dict[str, Any]:
    shown = told(record.to_dict(), wished or Language(record.language))
    del shown["kept"]  # for the server alone
    return shown | {"canGoOn": record.can_go_on}


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else otherwise  # noqa: PLR2004 - fits any database
