"""``/api/chat``: conversations taken along, brought back, and shared by links that open without a token."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from http import HTTPStatus
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.live.conversations import Conversations
from qiusuo.chat.portable.conversation import all_turns, from_portable, to_portable
from qiusuo.chat.portable.documents import POLICY, completed, html_conversation
from qiusuo.chat.sessions.session import SessionInfo
from qiusuo.chat.sessions.shares import snapshot_of
from qiusuo.errors import InvalidQuery, SearchError, SessionNotFound
from qiusuo.web.backend import Backend
from qiusuo.web.chat.choices import Choices
from qiusuo.web.chat.report import conversation_answer, file_name
from qiusuo.web.chat.requests import Handler, answered, owner_of
from qiusuo.web.entrance.guard import IMPORT_PATH
from qiusuo.web.errors import Refusal, status_of
from qiusuo.web.language import language_headers, language_tag, reader_language, wished_language
from qiusuo.web.route import json_answer, read_body, user_of
from qiusuo.words import Fact, Language

LONGEST_DAYS: Final = 3650
_HTML: Final = "text/html; charset=utf-8"
_ROBOTS: Final = "noindex, nofollow, noarchive"
# Gone at once when it is ended, in no index, in no frame.
_SHARED_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Robots-Tag": _ROBOTS,
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_SHARED_HEAD: Final = f'<meta name="robots" content="{_ROBOTS}">\n<meta name="referrer" content="no-referrer">\n'


class NewShare(BaseModel):
    """What to share: all answers so far, or those up to one; for some days, or until it is ended."""

    model_config = ConfigDict(extra="forbid", strict=True)

    until: str | None = Field(default=None, max_length=200)
    days: int | None = Field(default=None, ge=1, le=LONGEST_DAYS)


@dataclass(frozen=True, slots=True)
class PortableRoutes:
    """The endpoints over the conversations of one server."""

    backend: Backend
    conversations: Conversations

    def routes(self) -> list[Route]:
        """Return the routes."""
        session = "/api/chat/sessions/{session}"
        table: list[tuple[str, str, Handler]] = [
            (f"{session}/export.{{kind}}", "GET", self.export),
            (f"{session}/turns/{{turn}}/report.json", "GET", self.export_turn),
            (IMPORT_PATH, "POST", self.bring),
            (f"{session}/shares", "POST", self.share),
            ("/api/chat/shares", "GET", self.shares),
            ("/api/chat/shares/{share}", "DELETE", self.end),
        ]
        found = [Route(path, answered(handler), methods=[method]) for path, method, handler in table]
        return [*found, Route("/share/{secret}", self.shared, methods=["GET"])]

    async def export(self, request: Request) -> Response:
        """Return a conversation as a document: Markdown, HTML that prints well, or JSON that can be brought back."""
        info, turns = await self._conversation(request)
        kind = request.path_params["kind"]
        if kind == "json":
            return _json_file(info, turns, file_name("conversation", info.title, kind))
        usual = Language(turns[0].language) if turns else Language.ENGLISH
        return conversation_answer(info.title, turns, kind, wished_language(request.scope) or usual)

    async def export_turn(self, request: Request) -> Response:
        """Return one answer in the JSON shape of a conversation."""
        owner, path = owner_of(request), request.path_params
        info = await self.conversations.look_up(owner, path["session"])
        kept = await self.conversations.store.turn(owner, path["session"], path["turn"])
        record = await self.conversations.as_it_stands(info, kept)
        return _json_file(info, [record], file_name("report", record.question, "json"))

    async def bring(self, request: Request) -> Response:
        """Take in a conversation as ``export`` gave it."""
        owner = owner_of(request)
        # Megabytes of JSON take their time, and others wait for this loop.
        brought = await asyncio.to_thread(from_portable, await request.body())
        settings = brought.settings
        known = Choices(self.backend.service, self.conversations.chat).engines(
            user_of(request), ("native", *self.backend.service.engine_problems())
        )
        if settings.engine not in {None, *known}:
            settings = replace(settings, engine=None)
        about = SessionInfo("", owner, brought.title, settings, brought.created_at, "")
        info = await self.conversations.store.adopt(about, brought.turns, brought.memory)
        language = reader_language(request.scope)
        removed = [{"id": one.id, "title": one.title} for one in info.removed]
        return json_answer({**info.to_dict(language), "removed": removed}, HTTPStatus.CREATED, language=language)

    async def share(self, request: Request) -> Response:
        """Share a conversation as it stands; the answer has the link, which is told only now."""
        if not self.backend.settings.sharing:
            raise Refusal(HTTPStatus.FORBIDDEN, Fact("sharing.off"))
        body = await read_body(request, NewShare) if await request.body() else NewShare()
        info, turns = await self._conversation(request)
        if body.until is not None:
            last = next((index for index, turn in enumerate(turns) if turn.id == body.until), None)
            if last is None:
                raise SessionNotFound(Fact("session.no_turn"))
            turns = turns[: last + 1]
        snapshot = snapshot_of(completed(turns))
        if not snapshot:
            raise InvalidQuery(Fact("sharing.nothing"))
        begun = await self.conversations.store.shares.begin(
            owner_of(request), info.id, info.title, snapshot, days=body.days
        )
        await self.backend.note(request, "audit.share_begun", share=begun.share.id, session=info.id)
        path = f"{request.scope.get('root_path', '')}/share/{begun.secret}"
        return json_answer({**begun.share.to_dict(), "path": path}, HTTPStatus.CREATED)

    async def shares(self, request: Request) -> Response:
        """List one's links, and tell whether there can be any."""
        found = await self.conversations.store.shares.of(owner_of(request))
        return json_answer({"sharing": self.backend.settings.sharing, "shares": [share.to_dict() for share in found]})

    async def end(self, request: Request) -> Response:
        """End a link."""
        share = request.path_params["share"]
        await self.conversations.store.shares.end(owner_of(request), share)
        await self.backend.note(request, "audit.share_ended", share=share)
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def shared(self, request: Request) -> Response:
        """Show what was shared. Nothing of the owner is in it; who guesses is slowed down as with tokens."""
        language = reader_language(request.scope)
        found = None
        if self.backend.settings.sharing:
            try:
                found = await self.conversations.store.shares.opened(request.path_params["secret"])
            except SearchError as error:
                return _notice(error.wording(language).what, status_of(error), language)
        if found is None:
            gone = Refusal(HTTPStatus.NOT_FOUND, Fact("sharing.gone"))
            refusal = await self.backend.door.guessed(request.scope, gone)
            many = refusal.http_status is HTTPStatus.TOO_MANY_REQUESTS
            words = Fact("sharing.slow_down" if many else "sharing.gone").text(language)
            answer = _notice(words, refusal.http_status, language)
            for name in ("Retry-After", "Connection"):
                if name in refusal.headers:
                    answer.headers[name] = refusal.headers[name]
            return answer
        title = found.title or Fact("sharing.untitled").text(language)
        page = html_conversation(title, found.turns, language, made=_made, head=_SHARED_HEAD)
        return Response(page, media_type=_HTML, headers={**_SHARED_HEADERS, **language_headers(language)})

    async def _conversation(self, request: Request) -> tuple[SessionInfo, list[TurnRecord]]:
        owner, session = owner_of(request), request.path_params["session"]
        with suppress(SearchError):  # what could not be saved may be by now; where not, reading tells why
            await self.conversations.settle(owner, session)
        info = await self.conversations.look_up(owner, session)
        turns = await all_turns(self.conversations.store, owner, session)
        return info, [await self.conversations.as_it_stands(info, turn) for turn in turns]


def _json_file(info: SessionInfo, turns: Sequence[TurnRecord], name: str) -> Response:
    headers = {"Content-Disposition": f"attachment; {name}"}
    return json_answer(to_portable(info, turns), headers=headers)


def _made(record: TurnRecord, language: Language) -> str:
    return Fact("sharing.made", date=record.created_at).text(language)


def _notice(words: str, status: HTTPStatus, language: Language) -> Response:
    page = (
        f'<!doctype html><html lang="{language_tag(language)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{_SHARED_HEAD}'
        f"<title>{escape(words)}</title></head><body><p>{escape(words)}</p></body></html>"
    )
    return Response(page, status, {**_SHARED_HEADERS, **language_headers(language)}, media_type=_HTML)
