"""``/api/people`` and ``/api/audit``, for operators: who has a token, what each may use, and who did what."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPMethod, HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.people.audit import DAY, NOBODY, Noted
from qiusuo.people.audit_store import MOST_LINES, SqlAuditStore
from qiusuo.people.members import FIRST_MODEL, Grant, Known, changed, checked_name
from qiusuo.people.people import PATIENCE_SECONDS, People
from qiusuo.people.person import Role
from qiusuo.people.schema import PeopleTables
from qiusuo.people.store import Author, PeopleStore
from qiusuo.roster import NATIVE
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.chat.requests import Handler, answered, count_in
from qiusuo.web.document import documented
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer, read_body, user_of
from qiusuo.web.settings.access import admit
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

_TAG: Final = "people"
_LINES: Final = 100


class Limits(BaseModel):
    """What is set for somebody; what is left out stays as it is, null takes it away."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True)

    role: str = "user"
    days: int | None = Field(None, description="Until the token ends, from now on; null: never.")
    per_minute: int | None = Field(None, description="Searches in a minute; null: as the settings say.")
    searches: int | None = Field(None, description="Searches in a month.")
    model_tokens: int | None = Field(None, description="Tokens of models in a month, in and out.")
    engines: list[str] | None = Field(None, description="The only engines; null: all.", max_length=100)
    models: list[str] | None = Field(None, description="The only models; null: all.", max_length=1000)

    def wanted(self) -> dict[str, Any]:
        """Return what was given."""
        return {to_camel(name): getattr(self, name) for name in self.model_fields_set if name != "name"}


class NewMember(Limits):
    """Somebody who gets a token."""

    name: str = Field(max_length=200)


def _document(words: str, body: type[BaseModel] | None = None, *parameters: tuple[str, str]) -> dict[str, Any]:
    operation = documented(words, body.model_json_schema() if body else None, _TAG)
    operation["parameters"] = [
        {"name": name, "in": "query", "description": about, "schema": {"type": "integer", "minimum": 0}}
        for name, about in parameters
    ]
    operation["responses"]["503"] = operation["responses"]["400"]
    return operation


def _of_one(operation: dict[str, Any]) -> dict[str, Any]:
    operation["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]
    return operation


PATHS: Final = {
    "/api/people": {
        "get": _document("Everybody with a token of the database, and what they have used in this month."),
        "post": _document("Add somebody; the token is in the answer, this once.", NewMember),
    },
    "/api/people/{name}": {
        "patch": _of_one(_document("Change what is set for somebody.", Limits)),
        "delete": _of_one(_document("Revoke somebody's token.")),
    },
    "/api/people/{name}/rotate": {"post": _of_one(_document("Give somebody another token, in the place of theirs."))},
    "/api/audit": {
        "get": _document(
            "Who did what, the newest first.",
            None,
            ("days", "Of the last so many days. Unset: of all that are kept."),
            ("before", "Only what is older than the line of this `id`."),
            ("limit", f"How many lines at most. Unset: {_LINES}."),
        )
    },
}


def people_extension(clock: Callable[[], float] = time.time, timer: Callable[[], float] = time.monotonic) -> Extend:
    """Return what is kept of people; it uses the database that ``chat_extension`` has left behind."""

    def extend(backend: Backend) -> Extension:
        conversations = backend.parts["conversations"]
        database = getattr(conversations.store, "database", None)
        if database is None:  # a store of somebody else's
            return Extension(())
        audit, tables = backend.audit, PeopleTables(database)
        audit.store = log = SqlAuditStore(tables)
        audit.days = lambda: backend.settings.audit_days
        people = People(PeopleStore(tables, clock=clock), clock=clock, timer=timer)
        backend.parts["people"] = people
        backend.door.people = people
        backend.service.pipeline.rules = people
        conversations.chat.observers.append(people)

        async def expired(count: int, days: int) -> None:
            await audit.note(NOBODY, "audit.conversations_expired", {"count": count, "days": days})

        conversations.retention.when_deleted = expired

        @asynccontextmanager
        async def lifespan() -> AsyncIterator[None]:
            database.before_close.append(audit.flush)
            people.start()  # ends with the database: turns that are broken off at the end count too
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await people.look_now()
            except (SearchError, TimeoutError) as error:  # the first request looks again
                logger.warning("people are not known yet: %s", str(error) or "the database does not answer")
            yield

        return Extension(PeopleRoutes(backend, people, log, clock).routes(), lifespan, paths=PATHS)

    return extend


@dataclass(frozen=True, slots=True)
class PeopleRoutes:
    """The endpoints for operators."""

    backend: Backend
    people: People
    log: SqlAuditStore
    clock: Callable[[], float]

    def routes(self) -> list[Route]:
        """Return the routes."""
        one = "/api/people/{name}"
        table: list[tuple[str, HTTPMethod, Handler]] = [
            ("/api/people", HTTPMethod.GET, self.everybody),
            ("/api/people", HTTPMethod.POST, self.add),
            (one, HTTPMethod.PATCH, self.change),
            (one, HTTPMethod.DELETE, self.revoke),
            (f"{one}/rotate", HTTPMethod.POST, self.rotate),
            ("/api/audit", HTTPMethod.GET, self.audit),
        ]
        return [
            Route(path, answered(self._for_operators(handler)), methods=[method]) for path, method, handler in table
        ]

    def _for_operators(self, handler: Handler) -> Handler:
        async def admitted(request: Request) -> Response:
            admit(self.backend, request)
            return await handler(request)

        return admitted

    async def everybody(self, _request: Request) -> Response:
        """List everybody, and what there is to choose from."""
        await self.people.look_now()
        found, known = await self.people.store.everybody(), self._known()
        rows = [one.to_dict(self.clock(), self.people.used(one.name)) for one in found.values()]
        models = [name or FIRST_MODEL for name in known.models]
        choices = {"engines": sorted(known.engines), "models": models}
        return json_answer({"people": rows, "choices": choices, "inSettings": sorted(self.backend.tokens.names)})

    async def add(self, request: Request) -> Response:
        """Add somebody."""
        body = await read_body(request, NewMember)
        name = checked_name(body.name, self.backend.tokens.names)
        grant = changed(Grant(), body.wanted(), self._known(), self.clock())
        if grant.role is not Role.OPERATOR and not self.backend.tokens and not self.people.any():
            raise InvalidQuery(Fact("people.first_is_operator"))
        secret = await self.people.store.add(name, grant, self._author(request))
        return await self._told(name, HTTPStatus.CREATED, secret.text)

    async def change(self, request: Request) -> Response:
        """Change what is set for somebody."""
        body, name = await read_body(request, Limits), request.path_params["name"]
        known, now = self._known(), self.clock()
        if body.wanted().get("role", Role.OPERATOR) != Role.OPERATOR or "days" in body.model_fields_set:
            await self._check_last_operator(name)
        await self.people.store.change(
            name, lambda grant: changed(grant, body.wanted(), known, now), self._author(request)
        )
        return await self._told(name)

    async def rotate(self, request: Request) -> Response:
        """Give somebody another token."""
        name = request.path_params["name"]
        secret = await self.people.store.rotate(name, self._author(request))
        return await self._told(name, token=secret.text)

    async def revoke(self, request: Request) -> Response:
        """Revoke somebody's token."""
        name = request.path_params["name"]
        await self._check_last_operator(name)
        await self.people.store.revoke(name, self._author(request))
        await self.people.look_now()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def audit(self, request: Request) -> Response:
        """Tell who did what."""
        query, language = request.query_params, reader_language(request.scope)
        days, limit = count_in(query, "days", 0), count_in(query, "limit", _LINES)
        since = int(self.clock()) - days * DAY if days else 0
        lines = await self.log.lines(since, min(limit, MOST_LINES), before=count_in(query, "before", 0) or None)
        shown = [line_shape(line, language) for line in lines]
        return json_answer({"keptDays": self.backend.settings.audit_days, "lines": shown}, language=language)

    async def _check_last_operator(self, name: str) -> None:
        """Refuse to leave people without anybody who could run the server from the page."""
        await self.people.look_now()
        others = self.backend.operators_by_token
        if name in self.people.operators() and others == {name} and len(await self.people.store.everybody()) > 1:
            raise InvalidQuery(Fact("people.last_operator", name=name))

    async def _told(self, name: str, status: HTTPStatus = HTTPStatus.OK, token: str = "") -> Response:
        await self.people.look_now()
        found = (await self.people.store.everybody()).get(name)
        shape = found.to_dict(self.clock(), self.people.used(name)) if found else {"name": name}
        return json_answer({"person": shape, **({"secret": token} if token else {})}, status)

    def _known(self) -> Known:
        engines = {*self.backend.service.engine_problems(), NATIVE}
        return Known(engines, self.backend.parts["conversations"].chat.book.names)

    def _author(self, request: Request) -> Author:
        client = request.scope.get("client")
        noted = self.backend.settings.audit_days > 0
        return Author(user_of(request) or "", client[0] if client else "", noted)


def line_shape(line: Noted, language: Language) -> dict[str, Any]:
    """Return a line in its JSON shape with its words."""
    return {**line.to_dict(), "message": line.fact.text(language)}
