"""A real HTTP server on loopback that plays one search provider, its successes and every way it can fail."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl
from weakref import WeakSet

import orjson
from aiohttp import web

from qiusuo.http import MAX_BODY_BYTES

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Fault(StrEnum):
    """A way in which a provider can misbehave."""

    # The provider says so itself, in its own words.
    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMITED = "rate_limited"
    RATE_LIMITED_DATE = "rate_limited_date"
    INVALID = "invalid"
    FORBIDDEN = "forbidden"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    # An answer that is none.
    HTML = "html"
    WRONG_SHAPE = "wrong_shape"
    UNREADABLE_ROWS = "unreadable_rows"
    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    HUGE = "huge"
    BOMB = "bomb"
    REDIRECT = "redirect"
    # The wire.
    SLOW = "slow"
    HANG = "hang"
    RESET = "reset"


_WIRE_FAULTS = frozenset({Fault.SLOW, Fault.HANG, Fault.RESET, Fault.TRUNCATED})


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived. Header names are in lower case."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)

    @property
    def json(self) -> Any:
        return orjson.loads(self.body) if self.body else None

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the provider sends back; a body that is not text or bytes goes out as JSON."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def encoded(self) -> tuple[bytes, str]:
        """Return the body's bytes and content type."""
        if isinstance(self.body, bytes):
            return self.body, "application/json"
        if isinstance(self.body, str):
            return self.body.encode(), "text/html; charset=utf-8"
        return orjson.dumps(self.body), "application/json"


def _padded(size: int) -> bytes:
    return b'{"x": "' + b"x" * size + b'"}'


@cache
def _bomb() -> bytes:
    return gzip.compress(_padded(MAX_BODY_BYTES * 4))


_CANNED: Mapping[Fault, Callable[[], Answer]] = {
    Fault.HTML: lambda: Answer("<!doctype html><title>Welcome</title><p>Please log in."),
    Fault.WRONG_SHAPE: lambda: Answer({"unexpected": {"shape": [1, 2, 3]}}),
    Fault.NOT_JSON: lambda: Answer(b'{"results": ['),
    Fault.REDIRECT: lambda: Answer(b"", 302, {"Location": "http://127.0.0.1:1/elsewhere"}),
    Fault.HUGE: lambda: Answer(_padded(MAX_BODY_BYTES + 1)),
    Fault.BOMB: lambda: Answer(_bomb(), headers={"Content-Encoding": "gzip"}),
}


class Provider(ABC):
    """How one provider talks. Subclasses give its shapes; the server does the wire."""

    key: ClassVar[str] = "test-key-0123456789abcdef"
    base_path: ClassVar[str] = ""
    """What the provider's base URL has behind the host."""
    results: int = 30
    """How many results there are in all for any query."""

    def authorized(self, seen: Seen) -> bool:
        """Tell whether the request carries the key where this provider wants it."""
        return seen.headers.get("authorization") == f"Bearer {self.key}"

    @abstractmethod
    def answer(self, seen: Seen) -> Answer:
        """Answer a good request."""

    def nothing(self, seen: Seen) -> Answer:
        """Answer a good request for which nothing was found."""
        saved, self.results = self.results, 0
        try:
            return self.answer(seen)
        finally:
            self.results = saved

    def refuse(self, fault: Fault) -> Answer:
        """Word the provider's own error for ``fault``."""
        status, message = {
            Fault.AUTH: (401, "Unauthorized: missing or invalid API key."),
            Fault.QUOTA: (402, "Out of credits."),
            Fault.RATE_LIMITED: (429, "Too many requests."),
            Fault.INVALID: (400, "Invalid request."),
            Fault.FORBIDDEN: (403, "Forbidden."),
            Fault.SERVER_ERROR: (500, "Internal error."),
            Fault.OVERLOADED: (503, "Overloaded."),
        }[fault]
        return Answer({"error": message}, status)

    def unreadable(self, seen: Seen) -> Answer | None:  # noqa: ARG002 - for providers to override
        """Answer with rows of which none can be read; None where this provider's rows cannot be spoilt so."""
        return None

    @staticmethod
    def page(number: int, query: str) -> dict[str, str]:
        """Return the facts of the result ``number`` (from 1): text with markup and entities, as providers send it."""
        return {
            "title": f"{query} &amp; <b>result</b> {number}",
            "url": f"https://site{number}.example.com/page/{number}",
            "snippet": f"About <strong>{query}</strong>: text {number} &quot;quoted&quot; 中文 &lt;ok&gt;.",
            "date": f"2026-10-{number % 28 + 1:02d}",
        }


@asynccontextmanager
async def listening(app: web.Application, port: int = 0, **options: Any) -> AsyncIterator[int]:
    """Serve ``app`` on loopback and give its port; at the end no connection is left, whatever its client does."""
    transports: WeakSet[asyncio.Transport] = WeakSet()

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.transport is not None:
            transports.add(request.transport)
        return await handler(request)

    app.middlewares.append(note)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, **options)
    await runner.setup()
    door = socket.create_server(("127.0.0.1", port), backlog=512)
    await web.SockSite(runner, door).start()
    try:
        yield runner.addresses[0][1]
    finally:
        # First no new connections, then those that were just accepted, then all are closed: else some would be missed.
        asyncio.get_running_loop().remove_reader(door)
        for _ in range(5):
            await asyncio.sleep(0)
        await runner.cleanup()
        # A closed connection stays open for what its client has yet to read, and this client may never read it.
        for transport in list(transports):
            transport.abort()
        await asyncio.sleep(0)


class ProviderServer:
    """Serve one :class:`Provider` on a free loopback port, in a thread of its own, until closed.

    ``fault`` may be set at any time; ``seen`` lists the requests; ``hold`` (seconds) is how long a slow answer takes.
    """

    def __init__(self, provider: Provider, *, fault: Fault | None = None, empty: bool = False) -> None:
        self.provider = provider
        self.fault = fault
        self.empty = empty
        self.hold = 0.2
        self.retry_after = "7"
        self.seen: list[Seen] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, name="qiusuo-provider-server", daemon=True)

    @property
    def key(self) -> str:
        return self.provider.key

    @property
    def url(self) -> str:
        """The server's root."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The root as the provider's clients want it."""
        return self.url + self.provider.base_path

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and drop its connections, also those it lets hang."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        async with listening(app, self.port) as self.port:
            self._ready.set()
            await self._stop.wait()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        seen = Seen(
            request.method,
            request.path,
            dict(request.query),
            {name.lower(): value for name, value in request.headers.items()},
            await request.read(),
        )
        self.seen.append(seen)
        fault = self.fault
        if fault is not None:
            special = await self._misbehave(request, seen, fault)
            if special is not None:
                return special
        if not self.provider.authorized(seen):
            return _response(self.provider.refuse(Fault.AUTH))
        return _response(self.provider.nothing(seen) if self.empty else self.provider.answer(seen))

    async def _misbehave(self, request: web.Request, seen: Seen, fault: Fault) -> web.StreamResponse | None:
        canned = _CANNED.get(fault)
        if canned is not None:
            return _response(canned())
        if fault in _WIRE_FAULTS:
            return await self._break_the_wire(request, seen, fault)
        if fault is Fault.UNREADABLE_ROWS:
            return _response(self.provider.unreadable(seen) or Answer({"unexpected": True}))
        wait = {Fault.RATE_LIMITED: self.retry_after, Fault.RATE_LIMITED_DATE: "Wed, 21 Oct 2099 07:28:00 GMT"}.get(
            fault
        )
        answer = self.provider.refuse(Fault.RATE_LIMITED if wait else fault)
        return _response(
            Answer(answer.body, answer.status, {**({"Retry-After": wait} if wait else {}), **answer.headers})
        )

    async def _break_the_wire(self, request: web.Request, seen: Seen, fault: Fault) -> web.StreamResponse | None:
        if fault is Fault.SLOW:
            await asyncio.sleep(self.hold)
            return None
        if fault is Fault.HANG:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 60)
        elif fault is Fault.TRUNCATED:
            return await self._truncated(request, seen)
        elif request.transport is not None:
            request.transport.abort()
        return web.Response(status=504)

    async def _truncated(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        body, kind = self.provider.answer(seen).encoded()
        response = web.StreamResponse(headers={"Content-Type": kind, "Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        if request.transport is not None:
            request.transport.close()
        return response


def _response(answer: Answer) -> web.Response:
    body, kind = answer.encoded()
    return web.Response(body=body, status=answer.status, headers={"Content-Type": kind, **answer.headers})
