"""A web server on loopback that says exactly what a test wants, byte by byte, and names that lead to it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from qiusuo.http.guard import FetchPolicy

Speak = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Heard:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]


@dataclass
class Site:
    """Serves ``pages``: a path's whole answer as bytes, or a function that writes it. ``heard`` lists the requests."""

    pages: dict[str, bytes | Speak] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    heard: list[Heard] = field(default_factory=list)
    port: int = 0
    _server: asyncio.Server | None = None
    _conversations: dict[asyncio.Task[None], asyncio.StreamWriter] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._server.close()
        conversations = dict(self._conversations)
        for task, writer in conversations.items():
            task.cancel()
            writer.transport.abort()  # what its client will not read any more would keep it open
        await asyncio.gather(*conversations, return_exceptions=True)
        await self._server.wait_closed()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{host}:{self.port}{path}"

    def policy(
        self,
        *,
        allow: Sequence[str] = ("127.0.0.1",),
        timeout: float = 5.0,
        max_bytes: int = 5_000_000,
        max_redirects: int = 5,
    ) -> FetchPolicy:
        """Return a policy under which this site, and nothing else that is private, may be fetched."""
        return FetchPolicy(
            allowed_ports=frozenset({80, 443, self.port}),
            allow_private=tuple(allow),
            timeout=timeout,
            max_bytes=max_bytes,
            max_redirects=max_redirects,
        )

    @property
    def paths(self) -> list[str]:
        return [heard.path for heard in self.heard]

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._conversations[task] = writer
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                headers = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
                }
                self.heard.append(Heard(path, headers))
                answer = self.pages.get(path, response(b"nothing here", status=404))
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(writer)
        finally:
            writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()
            del self._conversations[task]


def response(
    body: bytes | str = b"", content_type: str = "text/html; charset=utf-8", *, status: int = 200, **headers: str
) -> bytes:
    """Return an HTTP answer; an empty content type leaves the header out. ``_`` in header names stands for ``-``."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
    if content_type:
        lines.append(f"Content-Type: {content_type}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def redirect(location: str, status: int = 302) -> bytes:
    """Return an answer that leads elsewhere."""
    return response(b"elsewhere", status=status, Location=location)


@dataclass
class Names:
    """A name service: each look-up of a host takes the next of its answers, the last one stays."""

    answers: dict[str, list[list[str]]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:  # noqa: ARG002 - the interface
        self.asked.append(host)
        answers = self.answers.get(host)
        if not answers:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]
