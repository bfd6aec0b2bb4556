"""Requests as the page makes them, over plain sockets: thousands of readers must cost less than what they read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

PATIENCE: Final = 20.0  # as the page has it: for an answer
SILENCE: Final = 45.0  # and for the next word of a stream

Events = list[tuple[int, dict[str, Any]]]


class Refused(Exception):
    """The server, or the proxy before it, has answered with an error."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"HTTP {status}: {body[:300]!r}")
        self.status = status


class Unreachable(Exception):
    """There was no answer: refused, broken or silent."""


@dataclass
class Front:
    """Where the servers are called, and what they have answered so far."""

    port: int
    statuses: Counter[int] = field(default_factory=Counter)
    server_errors: list[str] = field(default_factory=list)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str,
        source: str = "127.0.0.1",
        patience: float = PATIENCE,
    ) -> Any:
        """Ask for JSON.

        Raises:
            Refused: with an error.
            Unreachable: there is no answer.
        """
        try:
            async with asyncio.timeout(patience), self._asked(method, path, body, token, source, -1) as reader:
                data = await reader.read()
        except (OSError, TimeoutError, EOFError) as error:
            raise Unreachable(repr(error)) from error
        return orjson.loads(data) if data else None

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, body: Any = None, *, token: str, source: str = "127.0.0.1", after: int = -1
    ) -> AsyncIterator[AsyncIterator[Events]]:
        """Open a stream of events; each step gives those of one read, none for a ping.

        Raises:
            Refused: with an error.
            Unreachable: there is no answer, or the stream falls silent.
        """
        try:
            async with self._asked(method, path, body, token, source, after, PATIENCE) as reader:
                yield _events(reader)
        except (OSError, TimeoutError, EOFError) as error:
            raise Unreachable(repr(error)) from error

    @asynccontextmanager
    async def _asked(
        self, method: str, path: str, body: Any, token: str, source: str, after: int, patience: float | None = None
    ) -> AsyncIterator[asyncio.StreamReader]:
        data = b"" if body is None else orjson.dumps(body)
        # HTTP/1.0: the answer ends with the connection, and nothing has to be unpacked.
        head = f"{method} {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n" if data else ""
        head += f"Last-Event-ID: {after}\r\n" if after >= 0 else ""
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(patience):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self.port, limit=1 << 20, local_addr=(source, 0)
                )
                writer.write(head.encode() + b"\r\n" + data)
                answer = await reader.readuntil(b"\r\n\r\n")
            status = int(answer.split(b" ", 2)[1])
            self.statuses[status] += 1
            if status >= 400:
                refusal = await asyncio.wait_for(reader.read(), PATIENCE)
                if status >= 500:
                    self.server_errors.append(f"{status} {method} {path.rpartition('/')[2]} {refusal[:120]!r}")
                raise Refused(status, refusal)
            yield reader
        finally:
            if writer is not None:
                writer.close()


async def _events(reader: asyncio.StreamReader) -> AsyncIterator[Events]:
    rest = b""
    while data := await asyncio.wait_for(reader.read(65536), SILENCE):
        *whole, rest = (rest + data).split(b"\n\n")
        if whole:
            yield [found for found in map(_event, whole) if found is not None]


def _event(text: bytes) -> tuple[int, dict[str, Any]] | None:
    number, data = -1, b""
    for line in text.split(b"\n"):
        if line.startswith(b"data: "):
            data = line[6:]
        elif line.startswith(b"id: "):
            number = int(line[4:])
    return (number, orjson.loads(data)) if data else None
