"""The sessions of ``/mcp``: each belongs to a token, and nobody holds more than a share of them.

The SDK ends idle sessions and knows them by their owner. What it does not know is whose are too many: then the one that
was not used for longest is ended, as its client would end it. That client opens another, as the protocol has it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.web.entrance.auth import person_of, token_of
from qiusuo.web.errors import Refusal
from qiusuo.web.mcp.shared import SharedSessions
from qiusuo.web.openai.errors import refused
from qiusuo.words import Fact

NUMBERS: Final = "mcp_numbers"
_SESSION: Final = MCP_SESSION_ID_HEADER.encode()
_VERSION: Final = MCP_PROTOCOL_VERSION_HEADER.encode()


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How many sessions may be open, and for how long without use. One takes about 40 KB."""

    in_all: int = 1000
    per_user: int = 100
    idle_seconds: float = 30 * 60


DEFAULT_LIMITS: Final = SessionLimits()


@dataclass(slots=True)
class _Session:
    user: str
    owner: AuthenticatedUser | None
    requests: int = 0
    numbers: CitationRegistry = field(default_factory=CitationRegistry)

    @property
    def key(self) -> str:
        return self.owner.access_token.token if self.owner else self.user


class Sessions:
    """The endpoint. Where people have tokens, a session can be used with the one only that has opened it."""

    def __init__(
        self,
        manager: StreamableHTTPSessionManager,
        limits: SessionLimits,
        *,
        for_others: StreamableHTTPSessionManager,
        shared: SharedSessions,
    ) -> None:
        self._manager = manager
        self._for_others = for_others
        self._shared = shared
        self._limits = limits
        # The least recently used comes first. The SDK may have ended some of them already.
        self._open: OrderedDict[str, _Session] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to its session."""
        headers = dict(scope["headers"])
        user, owner = str(scope["state"]["user"]), self._owner(scope, headers)
        if owner is not None:
            scope["user"] = owner
        name = headers.get(_SESSION, b"").decode("latin-1")
        mine = _Session(user, owner)
        session = self._open.get(name)
        if session is not None and session.key != mine.key:
            session = None
        if _opens(scope, headers) and not await self._make_room(user):
            await refused(_too_many(), scope)(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._note(message, scope["method"], name, mine)
            await send(message)

        if session is None and name and await self._shared.is_known(name, mine.key):
            await self._answer_for_another(scope, receive, send, name)
            return
        if session is None:
            await self._manager.handle_request(scope, receive, watched)
            return
        self._open.move_to_end(name)
        session.numbers = await self._shared.numbers(name) or session.numbers
        scope["state"][NUMBERS] = session.numbers
        session.requests += 1
        try:
            await self._manager.handle_request(scope, receive, watched)
        finally:
            session.requests -= 1
        if scope["method"] == "POST":
            await self._shared.keep(name, session.numbers)

    async def _answer_for_another(self, scope: Scope, receive: Receive, send: Send, name: str) -> None:
        """Answer in a session that another server has opened."""
        if scope["method"] == "DELETE":
            await self._shared.forget(name)
            await Response(status_code=HTTPStatus.OK)(scope, receive, send)
        elif scope["method"] != "POST":  # what it has to tell of itself, it tells where it was opened
            await refused(_only_post(scope["method"]), scope)(scope, receive, send)
        else:
            numbers = await self._shared.numbers(name) or CitationRegistry()
            scope["state"][NUMBERS] = numbers
            await self._for_others.handle_request(scope, receive, send)
            await self._shared.keep(name, numbers)

    def _owner(self, scope: Scope, headers: dict[bytes, bytes]) -> AuthenticatedUser | None:
        person = person_of(scope)
        if person is None:
            return None
        # Of the token only what tells it from others; not everybody has one.
        digest = sha256(f"{person.name}:{token_of(headers) or ''}".encode()).hexdigest()
        return AuthenticatedUser(AccessToken(token=digest, client_id=scope["state"]["user"], scopes=[], subject=digest))

    async def _note(self, message: Message, method: str, name: str, session: _Session) -> None:
        """Remember a session that was opened; forget one that has ended."""
        status = message["status"]
        if not name:
            made = dict(message.get("headers", ())).get(_SESSION)
            if made is not None and status < HTTPStatus.BAD_REQUEST:
                self._open[made.decode("latin-1")] = session
                await self._shared.note(made.decode("latin-1"), session.key)
        elif status == HTTPStatus.NOT_FOUND or (method == "DELETE" and status < HTTPStatus.BAD_REQUEST):
            known = self._open.get(name)
            if known is not None and known.key == session.key:  # to another's token it says the same
                del self._open[name]
                await self._shared.forget(name)

    async def _make_room(self, user: str) -> bool:
        """End sessions that nobody uses now until there is room for one more; tell whether there is."""
        while sum(one.user == user for one in self._open.values()) >= self._limits.per_user:
            if not await self._end_oldest(user):
                return False
        while len(self._open) >= self._limits.in_all:
            if not await self._end_oldest(None):
                return False
        return True

    async def _end_oldest(self, user: str | None) -> bool:
        idle = (name for name, one in self._open.items() if not one.requests and (user is None or one.user == user))
        name = next(idle, None)
        if name is None:
            return False
        session = self._open.pop(name)
        await self._shared.forget(name)
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": "/",
            "query_string": b"",
            "headers": [(_SESSION, name.encode("latin-1"))],
            "user": session.owner,
        }
        await self._manager.handle_request(scope, _nothing_more, _unheard)
        return True


def _opens(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """Tell whether a request may open a session: newer versions of the protocol have none."""
    version = headers.get(_VERSION, b"").decode("latin-1")
    old = not version or version in HANDSHAKE_PROTOCOL_VERSIONS
    return scope["method"] == "POST" and _SESSION not in headers and old


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Message) -> None:
    return


def _only_post(method: str) -> Refusal:
    fact = Fact("web.no_such_method", method=method)
    return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, fact, headers={"Allow": "POST, DELETE"})


def _too_many() -> Refusal:
    return Refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        Fact("web.mcp_sessions"),
        headers={"Retry-After": "60"},
    )
