"""``/api/usage`` for each person's own figures, ``/api/board`` for those of the whole server."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.usage.keeping import UsageKeeper
from qiusuo.usage.prices import prices
from qiusuo.usage.recorder import UsageRecorder
from qiusuo.usage.report import MAX_DAYS, USUAL_DAYS, Range, Report
from qiusuo.usage.sheets import SHEETS, sheet
from qiusuo.usage.store import UsageStore
from qiusuo.web.api import engine_shape
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.chat.requests import answered, owner_of
from qiusuo.web.document import documented
from qiusuo.web.errors import Refusal
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]

_TAG: Final = "usage"
_LONGEST_NUMBER: Final = 9
_RANGE: Final = [
    {
        "name": "days",
        "in": "query",
        "description": f"The last so many days, this one included. Unset: {USUAL_DAYS}.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_DAYS},
    },
    {
        "name": "by",
        "in": "query",
        "description": "By hours (of the last 7 days) or days of UTC. Unset: hours for less than 7 days.",
        "schema": {"type": "string", "enum": ["hour", "day"]},
    },
]
_TABLE: Final = {
    "name": "table",
    "in": "path",
    "required": True,
    "description": "Which table of the report.",
    "schema": {"type": "string", "enum": list(SHEETS)},
}


def _document(words: str, *, table: bool = False) -> dict[str, Any]:
    operation = documented(words, None, _TAG)
    operation["parameters"] = [*([_TABLE] if table else ()), *_RANGE]
    if table:
        operation["responses"]["200"]["content"] = {"text/csv": {"schema": {"type": "string"}}}
        operation["responses"]["404"] = operation["responses"]["400"]
    operation["responses"]["503"] = operation["responses"]["400"]
    return {"get": operation}


PATHS: Final = {
    "/api/usage": _document("Your own searches and answers."),
    "/api/usage/{table}.csv": _document("A table of them as CSV.", table=True),
    "/api/board": _document("Searches, answers, engines and costs of the server, for operators."),
    "/api/board/{table}.csv": _document("A table of the board as CSV, for operators.", table=True),
}


def usage_extension(clock: Callable[[], float] = time.time) -> Extend:
    """Return the counting and its endpoints; they use the database that ``chat_extension`` has left behind."""

    def extend(backend: Backend) -> Extension:
        conversations, settings = backend.parts["conversations"], backend.settings
        database = getattr(conversations.store, "database", None)
        if database is None:  # a store of somebody else's
            return Extension(())
        recorder = UsageRecorder(keep_queries=settings.board_queries, clock=clock)
        keeper = UsageKeeper(recorder, UsageStore(database, clock=clock), settings)
        backend.parts["usage"] = keeper
        if keeper.counts:
            backend.service.observe(recorder)
            conversations.chat.observers.append(recorder)

        @asynccontextmanager
        async def lifespan() -> AsyncIterator[None]:
            keeper.start()  # ends with the database: turns that are broken off at the end count too
            yield

        return Extension(UsageRoutes(backend, keeper, clock).routes(), lifespan, paths=PATHS)

    return extend


@dataclass(frozen=True, slots=True)
class UsageRoutes:
    """The endpoints over the sums of one server."""

    backend: Backend
    keeper: UsageKeeper
    clock: Callable[[], float]

    def routes(self) -> list[Route]:
        """Return the routes."""
        table: list[tuple[str, Handler]] = [
            ("/api/usage", self.usage),
            ("/api/usage/{table}.csv", self.usage_sheet),
            ("/api/board", self.board),
            ("/api/board/{table}.csv", self.board_sheet),
        ]
        return [Route(path, answered(handler), methods=["GET"]) for path, handler in table]

    async def usage(self, request: Request) -> Response:
        """Tell a person's own figures."""
        data = await self._own(request)
        return json_answer({**self._kept(), **data, "operator": self.backend.is_run_by(request.scope)})

    async def usage_sheet(self, request: Request) -> Response:
        """Return a table of a person's own figures."""
        return _csv(request, await self._own(request), "usage")

    async def board(self, request: Request) -> Response:
        """Tell the figures of the whole server, and how its engines stand."""
        data, language = await self._all(request), reader_language(request.scope)
        statuses = await self.backend.service.status()
        states = [engine_shape(status, language) for status in statuses if status.state != "missing"]
        asked = self.backend.settings.board_queries
        return json_answer({**self._kept(), **data, "states": states, "queriesKept": asked}, language=language)

    async def board_sheet(self, request: Request) -> Response:
        """Return a table of the board."""
        return _csv(request, await self._all(request), "board")

    def _kept(self) -> dict[str, Any]:
        return {"keptDays": self.backend.settings.usage_days}

    async def _own(self, request: Request) -> dict[str, Any]:
        return await self._report(request, owner_of(request))

    async def _all(self, request: Request) -> dict[str, Any]:
        if not self.backend.is_run_by(request.scope):
            told = self.backend.not_operator(
                request.scope, otherwise="usage.for_operators", from_here="usage.from_here_only"
            )
            raise Refusal(HTTPStatus.FORBIDDEN, told)
        return await self._report(request, None)

    async def _report(self, request: Request, owner: str | None) -> dict[str, Any]:
        """Read a report; what this process has counted until now is in it.

        Raises:
            SearchError: the range is none, or the database cannot be used.
        """
        wanted = _range(request, self.clock())
        places = self.backend.service.roster.places
        kinds = {name: place.kind for name, place in places.items()}
        language = reader_language(request.scope)
        labels = {name: kind.called(language) for name, kind in kinds.items()}
        try:
            if self.keeper.counts:
                await self.keeper.flush()
        except SearchError as error:
            logger.warning("figures are without the last counts: %s", error)
        known = prices(self.backend.settings, kinds)
        return await Report(self.keeper.store, wanted, owner, known, labels).read()


def _range(request: Request, now: float) -> Range:
    days = request.query_params.get("days", str(USUAL_DAYS))
    if not (days.isascii() and days.isdecimal() and len(days) <= _LONGEST_NUMBER):
        raise InvalidQuery(Fact("usage.days", most=MAX_DAYS))
    return Range.of(int(days), request.query_params.get("by"), now)


def _csv(request: Request, report: dict[str, Any], what: str) -> Response:
    name = request.path_params["table"]
    text = sheet(report, name)
    if text is None:
        raise Refusal(HTTPStatus.NOT_FOUND, Fact("usage.no_table", tables=[each for each in SHEETS if each in report]))
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="qiusuo-{what}-{name}.csv"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")
