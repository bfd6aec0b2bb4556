"""People of a server: what is noted of what they do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http import HTTPMethod
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.people.audit import DAY, NOBODY, Noted
from qiusuo.people.audit_store import MOST_LINES, SqlAuditStore
from qiusuo.people.schema import PeopleTables
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.chat_requests import Handler, answered, count_in
from qiusuo.web.document import documented
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer
from qiusuo.web.settings.access import admit
from qiusuo.words import Language

_TAG: Final = "people"
_LINES: Final = 100


def _document(words: str, *parameters: tuple[str, str]) -> dict[str, Any]:
    operation = documented(words, None, _TAG)
    operation["parameters"] = [
        {"name": name, "in": "query", "description": about, "schema": {"type": "integer", "minimum": 0}}
        for name, about in parameters
    ]
    for status in ("403", "503"):
        operation["responses"][status] = operation["responses"]["400"]
    return operation


PATHS: Final = {
    "/api/audit": {
        "get": _document(
            "Who did what, the newest first, for operators.",
            ("days", "Of the last so many days. Unset: of all that are kept."),
            ("before", "Only what is older than the line of this `id`."),
            ("limit", f"How many lines at most. Unset: {_LINES}."),
        )
    },
}


def people_extension() -> Extend:
    """Return what is kept of people; it uses the database that ``chat_extension`` has left behind."""

    def extend(backend: Backend) -> Extension:
        conversations = backend.parts["conversations"]
        database = getattr(conversations.store, "database", None)
        if database is None:  # a store of somebody else's
            return Extension(())
        audit = backend.audit
        audit.store = log = SqlAuditStore(PeopleTables(database))
        audit.days = lambda: backend.settings.audit_days

        async def expired(count: int, days: int) -> None:
            await audit.note(NOBODY, "audit.conversations_expired", {"count": count, "days": days})

        conversations.retention.when_deleted = expired
        database.before_close.append(audit.flush)
        return Extension(PeopleRoutes(backend, log).routes(), paths=PATHS)

    return extend


@dataclass(frozen=True, slots=True)
class PeopleRoutes:
    """The endpoints for operators."""

    backend: Backend
    log: SqlAuditStore

    def routes(self) -> list[Route]:
        """Return the routes."""
        table: list[tuple[str, HTTPMethod, Handler]] = [("/api/audit", HTTPMethod.GET, self.audit)]
        return [
            Route(path, answered(self._for_operators(handler)), methods=[method]) for path, method, handler in table
        ]

    def _for_operators(self, handler: Handler) -> Handler:
        async def admitted(request: Request) -> Response:
            admit(self.backend, request)
            return await handler(request)

        return admitted

    async def audit(self, request: Request) -> Response:
        """Tell who did what."""
        query, language = request.query_params, reader_language(request.scope)
        days, limit = count_in(query, "days", 0), count_in(query, "limit", _LINES)
        since = int(time.time()) - days * DAY if days else 0
        lines = await self.log.lines(since, min(limit, MOST_LINES), before=count_in(query, "before", 0) or None)
        shown = [line_shape(line, language) for line in lines]
        return json_answer({"keptDays": self.backend.settings.audit_days, "lines": shown}, language=language)


def line_shape(line: Noted, language: Language) -> dict[str, Any]:
    """Return a line in its JSON shape with its words."""
    return {**line.to_dict(), "message": line.fact.text(language)}
