"""What a connection may cost before anybody knows who it is: bounds on header bytes, on time, and on their number.

uvicorn reads requests; it has no such bounds with httptools, but takes a protocol class of one's own.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from qiusuo.web.entrance.auth import network_of
from qiusuo.web.entrance.proxies import TrustedProxies, peer_of
from qiusuo.web.errors import Refusal
from qiusuo.web.language import language_headers, reader_language
from qiusuo.web.openai.errors import refusal_shape
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 32 * 1024
"""Of the request line and all headers, as nginx has it; one read of the socket may go beyond it."""
MAX_HEADERS: Final = 100
HEAD_SECONDS: Final = 10.0
"""From the connection, or from the first byte of a further request, to the end of its headers."""
BODY_SECONDS: Final = 60.0
READ_SECONDS: Final = 60.0
"""How long a client may leave an answer unread before it is given up."""
MAX_PIPELINED: Final = 16
LOG_SECONDS: Final = 10.0

TOO_MANY: Final = "too_many_connections"
MADE_ROOM: Final = "made_room"
NOBODYS: Final = ""
"""The address of a trusted proxy's connection between two requests: it is as many people's as come by it."""
LARGE_HEAD: Final = "headers_too_large"
SLOW_HEAD: Final = "headers_too_slow"
SLOW_BODY: Final = "body_too_slow"
UNREAD: Final = "answer_not_read"
PIPELINED: Final = "too_many_pipelined"
INVALID: Final = "invalid_request"

_TOLD: Final = {
    LARGE_HEAD: (
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        Fact("web.headers_too_large", limit=MAX_HEAD_BYTES // 1024, count=MAX_HEADERS),
    ),
    SLOW_HEAD: (HTTPStatus.REQUEST_TIMEOUT, Fact("web.headers_too_slow", seconds=HEAD_SECONDS)),
    SLOW_BODY: (HTTPStatus.REQUEST_TIMEOUT, Fact("web.body_too_slow", seconds=BODY_SECONDS)),
    TOO_MANY: (HTTPStatus.SERVICE_UNAVAILABLE, Fact("web.too_many_connections")),
    MADE_ROOM: (HTTPStatus.SERVICE_UNAVAILABLE, Fact("web.made_room")),
    PIPELINED: (HTTPStatus.TOO_MANY_REQUESTS, Fact("web.too_many_pipelined", count=MAX_PIPELINED)),
    INVALID: (HTTPStatus.BAD_REQUEST, Fact("web.invalid_request")),
}


class Connection(Protocol):
    """What is known of a connection."""

    def send_away(self, reason: str) -> None:
        """End the connection."""


class Refusals:
    """Counts what was refused, and logs it: the first at once, of many that follow only their number."""

    def __init__(self, count: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._clock = clock
        self._held_back: Counter[str] = Counter()
        self._logged_at: dict[str, float] = {}

    def add(self, reason: str, address: str) -> None:
        """Note one refusal."""
        self._count(reason)
        now = self._clock()
        if now - self._logged_at.get(reason, -LOG_SECONDS) < LOG_SECONDS:
            self._held_back[reason] += 1
            return
        self._logged_at[reason] = now
        more = self._held_back.pop(reason, 0)
        logger.warning("connection of %s ended: %s (and %d more since the last line)", address, reason, more)


class OpenConnections:
    """Who is connected. When it is full, the connection that has waited longest for its own client makes room."""

    def __init__(self, most: int, most_of_one: int, refusals: Refusals) -> None:
        self.refusals = refusals
        self._most = most
        self._most_of_one = most_of_one
        self._addresses: dict[Connection, str] = {}
        self._of_one: Counter[str] = Counter()
        # Connections whose client has not sent a whole request, those that wait longest first.
        self._waiting: dict[Connection, None] = {}

    def enter(self, connection: Connection, address: str) -> bool:
        """Let a connection in, perhaps in the place of another; False: there is no place."""
        if not self._has_room_for(address):
            return False
        if len(self._addresses) >= self._most and not self._make_room():
            return False
        self._addresses[connection] = address
        self._of_one[address] += 1
        self._waiting[connection] = None
        return True

    def leave(self, connection: Connection) -> None:
        """Forget a connection."""
        address = self._addresses.pop(connection, None)
        if address is None:
            return
        self._waiting.pop(connection, None)
        self._take_from(address)

    def goes_to(self, connection: Connection, address: str) -> bool:
        """Count a connection as another person's, whose request came by it; False: they have enough of them."""
        before = self._addresses.get(connection)
        if before is None or before == address:
            return True
        if not self._has_room_for(address):
            return False
        self._take_from(before)
        self._addresses[connection] = address
        self._of_one[address] += 1
        return True

    def waits(self, connection: Connection) -> None:
        """Note that a connection waits for its client: what costs nothing may be ended."""
        if connection in self._addresses:
            self._waiting.pop(connection, None)
            self._waiting[connection] = None

    def works(self, connection: Connection) -> None:
        """Note that a connection's request is being answered: it keeps its place."""
        self._waiting.pop(connection, None)

    def _has_room_for(self, address: str) -> bool:
        return address == NOBODYS or self._of_one[address] < self._most_of_one or self._make_room(address)

    def _take_from(self, address: str) -> None:
        self._of_one[address] -= 1
        if not self._of_one[address]:
            del self._of_one[address]  # else every address that ever was would be kept

    def _make_room(self, address: str | None = None) -> bool:
        given_up = next((each for each in self._waiting if address in {None, self._addresses[each]}), None)
        if given_up is None:
            return False
        self.leave(given_up)
        given_up.send_away(MADE_ROOM)
        return True


def _send_at_once(transport: asyncio.Transport) -> None:
    """Let the body follow its headers at once; else a client on a kept connection waits 40 ms for each answer.

    asyncio does so by itself only for sockets that were made with the protocol's number.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in {socket.AF_INET, socket.AF_INET6}:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with bounds. ``everybody`` is shared by all connections of a server."""

    def __init__(
        self, *, everybody: OpenConnections, proxies: TrustedProxies, prefix: bytes = b"", **uvicorns_own: Any
    ) -> None:
        super().__init__(**uvicorns_own)
        self._everybody = everybody
        self._proxies = proxies
        self._prefix = prefix
        self._peer = ""
        self._is_proxys = False
        self._address = ""
        self._in_head = False
        self.url = b""
        # Since the parser last made something of them: of a head, of headers behind a body, of what is between chunks.
        self._held_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        _send_at_once(transport)
        self._peer = peer_of({"client": self.client, "server": self.server})
        self._is_proxys = self._proxies.trusts(self._peer)
        self._address = network_of(self.client[0]) if self.client else "local"
        if self._everybody.enter(self, NOBODYS if self._is_proxys else self._address):
            self._start_timer(HEAD_SECONDS, SLOW_HEAD)
        else:
            self._refuse(TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        self._everybody.leave(self)
        self._stop_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        if self._request is None or not self._request.more_body:
            self._begin_head()
        self._held_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._go_on_without_upgrade(data[offer.args[0] :])
        except httptools.HttpParserError:
            self.send_away(INVALID)
        if self._held_bytes > MAX_HEAD_BYTES:
            self.send_away(LARGE_HEAD)

    # What the parser finds
    def on_message_begin(self) -> None:
        self._begin_head()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) < MAX_HEADERS:
            super().on_header(name, value)
        else:
            self.send_away(LARGE_HEAD)

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MAX_HEAD_BYTES:
            self.send_away(LARGE_HEAD)
        elif len(self.pipeline) >= MAX_PIPELINED:
            self.send_away(PIPELINED)
        elif self._is_proxys:
            self._address = network_of(self._proxies.person(self._peer, self.headers).address)
            if not self._everybody.goes_to(self, self._address):
                self.send_away(TOO_MANY)
        if self.transport.is_closing() or self.parser.should_upgrade():
            return
        self._in_head, self._held_bytes = False, 0
        self._start_timer(BODY_SECONDS, SLOW_BODY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            self._held_bytes = 0
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self.transport.is_closing() or self.parser.should_upgrade():
            return
        self._held_bytes = 0
        self._stop_timer()
        self._everybody.works(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing():
            self._everybody.waits(self)
            if self._is_proxys:
                self._everybody.goes_to(self, NOBODYS)

    def _go_on_without_upgrade(self, rest: bytes) -> None:
        """Read a request again without its offer to speak another protocol, behind which no body is looked for."""
        if self.parser.get_method() == b"CONNECT":  # no offer but a demand, which would come again and again
            self.send_away(INVALID)
            return
        left_out = {b"upgrade", b"connection", b"http2-settings"}
        lines = [b"%b: %b\r\n" % header for header in self.headers if header[0] not in left_out]
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(b"%b %b HTTP/%b\r\n%b\r\n%b" % (method, self.url, version, b"".join(lines), rest))

    # What the client leaves unread
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self._give_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def send_away(self, reason: str) -> None:
        """End the connection; its client is told why if it is in the middle of a request."""
        if self.transport.is_closing():
            return
        if self._in_head or (self._request is not None and self._request.more_body):
            self._refuse(reason)
        else:
            self.transport.close()

    def _refuse(self, reason: str) -> None:
        self._stop_timer()
        self._everybody.refusals.add(reason, self._address)
        request = self._request
        if request is None or request.response_complete or not request.response_started:
            self.transport.write(_answer(reason, self.url.removeprefix(self._prefix), self.headers or []))
        self.transport.close()

    @property
    def _request(self) -> RequestResponseCycle | None:
        return self.cycle  # uvicorn does not say that there is none at first

    def _begin_head(self) -> None:
        if not self._in_head:
            self._in_head, self._held_bytes = True, 0
            if self._timer is None:
                self._start_timer(HEAD_SECONDS, SLOW_HEAD)

    def _start_timer(self, seconds: float, reason: str) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._too_slow, seconds, reason)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self, seconds: float, reason: str) -> None:
        if self.flow.read_paused:  # it is not the client that keeps us waiting
            self._start_timer(seconds, reason)
        else:
            self.send_away(reason)

    def _give_up(self) -> None:
        self._everybody.refusals.add(UNREAD, self._address)
        self.transport.abort()


def _answer(reason: str, url: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return a refusal, in the language of the headers as far as they have come."""
    status, fact = _TOLD[reason]
    language = reader_language({"query_string": url.partition(b"?")[2], "headers": headers})
    body = orjson.dumps(refusal_shape(Refusal(status, fact), url.decode("latin-1"), language))
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
    head += "".join(f"{name.lower()}: {value}\r\n" for name, value in language_headers(language).items())
    wait = "retry-after: 5\r\n" if status is HTTPStatus.SERVICE_UNAVAILABLE else ""
    return f"{head}{wait}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
