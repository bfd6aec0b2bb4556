"""What stands before every endpoint: who may call, from where, and how much may be sent.

Plain ASGI, one layer, so that it costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPMethod, HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qiusuo.config.server import ServerSettings, host_key, is_loopback
from qiusuo.files import MAX_BYTES
from qiusuo.logs import request_id, valid_request_id
from qiusuo.people.person import Person
from qiusuo.web.entrance.auth import HOST, OPEN, is_sent_by_itself, note_person, person_of, token_of
from qiusuo.web.entrance.door import METRICS_PATH, Door
from qiusuo.web.entrance.elsewhere import elsewhere_headers
from qiusuo.web.entrance.lingering import lingering
from qiusuo.web.entrance.origins import AllowedOrigins, cors_headers
from qiusuo.web.entrance.packed import coding_of, unpacked
from qiusuo.web.entrance.proxies import TrustedProxies
from qiusuo.web.entrance.sites import OtherSites, asks_page, opens_page
from qiusuo.web.errors import Refusal
from qiusuo.web.openai.errors import PREFIX as OPENAI_PREFIX
from qiusuo.web.openai.errors import refused
from qiusuo.web.signin.header import NamedByProxy
from qiusuo.web.watching.metrics import Metrics
from qiusuo.web.watching.tracing import Tracing
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.web.signin.signed_in import SignedIn  # needs an extra, and knows whom the guard has let in

MAX_BODY_BYTES: Final = 64 * 1024
MAX_CONVERSATION_BYTES: Final = 4 * 1024 * 1024
"""For OpenAI's endpoints: their clients send the whole conversation each time."""
MAX_IMPORT_BYTES: Final = 16 * 1024 * 1024
IMPORT_PATH: Final = "/api/chat/import"
"""Takes a whole conversation with all its sources."""
OPEN_PATHS: Final = frozenset({"/healthz", "/livez", "/readyz"})
"""Need no token. Nor do pages to be read: the one that asks for the token must be there first."""
SIGN_IN_PATHS: Final = frozenset({"/signin", "/signin/callback", "/signout", "/api/signin"})
"""Are called by those who have no sign-in yet, or no more; they see to themselves which site sends people there."""
LATE_PATHS: Final = frozenset({"/tavily/search", "/tavily/extract"})
"""Their endpoints look for the token themselves: old clients of Tavily send it in the body."""

HEAD_PATHS: Final = OPEN_PATHS | {"/api/engines", "/api/health", METRICS_PATH, "/openapi.json", "/config"}
"""Are asked by HEAD as by GET; pages and models have it of themselves, a search is not made for it."""
KEEP_ALIVE_SECONDS: Final = 75
"""Clients keep a connection that long; the server a little longer, so that none is closed under a request."""

_LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_METHODS: Final = frozenset(HTTPMethod)
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"keep-alive", b"timeout=%d" % KEEP_ALIVE_SECONDS),
)
_FILES: Final = re.compile(r"/api/chat/sessions/[^/]{1,200}/files")
"""Where files are added: larger than any other body."""
_POLICY: Final = b"content-security-policy"
_NOTHING: Final = (_POLICY, b"default-src 'none'; frame-ancestors 'none'")
"""For what is no page: shown as one all the same, it can do nothing."""
_PARTS: Final = "/page/"
"""Of the page: they say it themselves where it matters; scripts and styles are many, and obey the page's policy."""
_POLICY_VIOLATION: Final = 1008
_REQUEST_ID: Final = b"x-request-id"

Headers = Mapping[bytes, bytes]
Answered = Callable[[str, str, int], None]
"""Told of an answer: its route, method and status."""


def known_hosts(settings: ServerSettings) -> frozenset[str] | None:
    """Return the names by which the server may be called; None: by any.

    On loopback a foreign name means that a web page points its own name here to read what only this machine may (DNS
    rebinding).
    """
    named = frozenset(settings.allowed_hosts or ())
    if is_loopback(settings.host):
        return _LOCAL_NAMES | named | {host_key(settings.host)}
    return _LOCAL_NAMES | named if named else None


def public_names(hosts: frozenset[str] | None) -> frozenset[str]:
    """Return the names that can be the server's alone: localhost is every program's on its machine."""
    return (hosts or frozenset()) - _LOCAL_NAMES


def _cross_site() -> Refusal:
    return Refusal(HTTPStatus.FORBIDDEN, Fact("web.cross_site"))


def _largest(scope: Scope) -> int:
    path = scope["path"]
    if scope["method"] == "POST" and _FILES.fullmatch(path):
        return MAX_BYTES
    if path == IMPORT_PATH:
        return MAX_IMPORT_BYTES
    return MAX_CONVERSATION_BYTES if path.startswith(OPENAI_PREFIX) else MAX_BODY_BYTES


def _too_large(limit: int) -> Refusal:
    file = limit == MAX_BYTES
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        Fact("file.too_large", limit=limit // 1024**2) if file else Fact("web.body_too_large", limit=limit // 1024),
        # What is still on its way is dropped.
        headers={"Connection": "close"},
    )


def _wrong_host() -> Refusal:
    return Refusal(HTTPStatus.MISDIRECTED_REQUEST, Fact("web.wrong_host"))


class Guard:
    """The layer around the app. ``paths`` are those that metrics name besides the documented ones."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str] | None,
        door: Door,
        metrics: Metrics,
        paths: frozenset[str] = frozenset(),
        origins: AllowedOrigins | None = None,
        proxies: TrustedProxies | None = None,
        root_path: str = "",
        tracing: Tracing | None = None,
        named: NamedByProxy | None = None,
        signed_in: SignedIn | None = None,
    ) -> None:
        self._app = app
        self._paths = paths
        self._hosts = hosts
        self._sites = OtherSites(public_names(hosts))
        self._door = door
        self._metrics = metrics
        self._origins = origins or AllowedOrigins(())
        self._proxies = proxies or TrustedProxies(())
        self._root_path = root_path
        self._tracing = tracing
        self._named = named
        self._signed_in = signed_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "websocket":  # there are none, and an unguarded one must not come in unnoticed
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        called = _host_of(dict(scope["headers"]))
        if self._named is not None:
            self._named.take(scope)
        self._proxies.reveal(scope)
        headers = dict(scope["headers"])
        scope = _plainly_addressed(scope, self._root_path)
        known_as = valid_request_id(headers.get(_REQUEST_ID, b"").decode("latin-1"))
        request_id.set(known_as)
        if self._tracing is None or scope["path"] in OPEN_PATHS:  # those that look every few seconds whether it lives
            await self._serve(scope, receive, send, called=called, known_as=known_as)
            return
        with self._tracing.request(headers) as span:
            await self._serve(scope, receive, send, called=called, known_as=known_as, answered=span.answered)

    async def _serve(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        called: str,
        known_as: str,
        answered: Answered | None = None,
    ) -> None:
        headers = dict(scope["headers"])
        origin = self._origins.allowed(headers)
        receive, send = lingering(headers, receive, send)

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [*message.get("headers", ()), (_REQUEST_ID, known_as.encode())]
                said = scope["path"].startswith(_PARTS) or any(name == _POLICY for name, _ in own)
                policy = () if said else (_NOTHING,)
                budget = self._door.budget_headers(person_of(scope))
                cors = cors_headers(origin) if origin else ()
                elsewhere = elsewhere_headers(scope, headers)
                message["headers"] = [*own, *_HEADERS, *policy, *budget, *cors, *elsewhere]
                # Not every word that strangers can think of becomes a time series.
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._metrics.request_ended(self._route(scope), method, message["status"])
                if answered is not None:
                    answered(self._route(scope), method, message["status"])
            await send(message)

        try:
            answer = await self._answer(scope, headers, called)
            packed = coding_of(headers.get(b"content-encoding"))
        except Refusal as refusal:
            answer, packed = refused(refusal, scope), None
        if answer is not None:
            await answer(scope, receive, send_marked)
            return
        # With a length the server itself sees to it that no more is sent.
        limit = _largest(scope)
        inner = receive if b"content-length" in headers else _capped(receive, limit)
        if packed is not None:
            scope, inner = unpacked(scope, inner, limit, _too_large)
        await self._app(scope, inner, send_marked)

    def _route(self, scope: Scope) -> str:
        route: str | None = getattr(scope.get("route"), "path", None)
        # Never the path as such: there are as many as strangers can think of.
        return route or (scope["path"] if scope["path"] in self._paths else "other")

    async def _answer(self, scope: Scope, headers: Headers, called: str) -> Response | None:
        """Return what is answered here: that a page may call; None where the app is to answer.

        Raises:
            Refusal: the request may not come in.
        """
        host = _host_of(headers)
        # By both names: a page that points its own name here could write the headers of a proxy on this machine.
        # Whoever watches the server calls it by its address, or by no name at all.
        names = {_name_of(host), _name_of(called)}
        if self._hosts is not None and scope["path"] not in OPEN_PATHS and not names <= self._hosts:
            note_person(scope, await self._watcher(scope, headers))
        else:
            preflight = self._origins.preflight(scope, headers)
            if preflight is not None:
                return preflight
            await self._let_in(scope, headers, host)
        length = headers.get(b"content-length", b"0")
        limit = _largest(scope)
        if not length.isdigit() or int(length) > limit:
            raise _too_large(limit)
        return None

    async def _watcher(self, scope: Scope, headers: Headers) -> Person:
        """Return who reads the metrics by another name: Prometheus calls each server of a fleet by its address.

        A page that points its own name here knows no token, and none is sent for it.

        Raises:
            Refusal: it is something else, or nobody who may.
        """
        token = None if is_sent_by_itself(headers) else token_of(headers)
        asked = (scope["method"], scope["path"]) == (HTTPMethod.GET, METRICS_PATH)
        if not asked or not token or await self._door.is_open(scope):
            raise _wrong_host()
        return await self._door.person(token, scope)

    async def _let_in(self, scope: Scope, headers: Headers, host: str) -> None:
        """Find out who calls.

        Raises:
            Refusal: nobody who may.
        """
        harmless = scope["path"] in OPEN_PATHS | SIGN_IN_PATHS or opens_page(scope)
        if scope["path"] == "/" and asks_page(scope):
            # To ask costs something, so the page does it at once only where the reader came with the question.
            scope.setdefault("state", {})["own_wish"] = not self._sites.is_foreign(scope, host, headers)
        if await self._door.is_open(scope, harmless=harmless):
            # Without tokens a browser on this machine could be used by any page it shows; tokens no page knows.
            self._refuse_forged(scope, headers, host, harmless=harmless)
            client = scope.get("client")
            scope.setdefault("state", {}).update({"user": client[0] if client else "local", OPEN: self._door.is_sure})
        elif not harmless and not await self._knows(scope, headers, host):
            token = token_of(headers)
            if is_sent_by_itself(headers):
                self._refuse_forged(scope, headers, host, harmless=False)
            if token or scope["path"] not in LATE_PATHS or scope["method"] != "POST":
                if not token and self._signed_in is not None:
                    raise self._signed_in.refusal(scope)
                note_person(scope, await self._door.person(token, scope))
        self._door.welcome(person_of(scope))

    async def _knows(self, scope: Scope, headers: Headers, host: str) -> bool:
        """Tell whether somebody comes in without a token, and write down who.

        Raises:
            Refusal: their browser was made to send this by another site, also by one that may call with a token.
        """
        person = self._named.person(scope) if self._named is not None else None
        if person is None and self._signed_in is not None and not token_of(headers):
            person = await self._signed_in.person(scope)
        if person is None:
            return False
        if self._sites.forged(scope, host, headers, harmless=False):
            raise _cross_site()
        note_person(scope, person)
        return True

    def _refuse_forged(self, scope: Scope, headers: Headers, host: str, *, harmless: bool) -> None:
        if self._origins.allowed(headers) is None and self._sites.forged(scope, host, headers, harmless=harmless):
            raise _cross_site()


def _plainly_addressed(scope: Scope, prefix: str = "") -> Scope:
    """Return a request without a slash at the end of its path, and HEAD as GET where the answer costs nothing.

    The server itself leaves out the body, by the request that it has. A prefix may have been taken off by the proxy or
    not; here it goes, and only pages that name addresses ask for it (``root_path``).
    """
    prefix = prefix or scope.get("root_path", "").rstrip("/")
    path = scope["path"]
    if prefix:
        if path == prefix or path.startswith(f"{prefix}/"):
            path = path[len(prefix) :]
        scope = {**scope, "root_path": prefix}
    path = path.rstrip("/") or "/"
    method = "GET" if scope["method"] == "HEAD" and path in HEAD_PATHS else scope["method"]
    if (path, method) == (scope["path"], scope["method"]):
        return scope
    return {**scope, "path": path, "raw_path": path.encode("utf-8", "surrogateescape"), "method": method}


def _host_of(headers: Headers) -> str:
    return headers.get(b"host", b"").decode("latin-1")


def _name_of(host: str) -> str:
    """Return the name in a ``Host`` header, without its port; empty where there is none."""
    found = HOST.fullmatch(host)
    return host_key(found[1]) if found else ""


def _capped(receive: Receive, limit: int) -> Receive:
    """Count what comes in pieces."""
    taken = 0

    async def receive_capped() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise _too_large(limit)
        return message

    return receive_capped
