"""Streams of chat completions as they come: what is there already goes on as one piece.

The client of OpenAI makes typed objects of every token, and LangChain makes some of its own, which took most of a
server's time under load (``make bench``: a server under load). Where a server is busy, several tokens lie in one read
of the connection: they are one chunk here, so that the busier it is, the less each token costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, Self

import orjson
from openai import APIError, AsyncAPIResponse
from openai.resources.chat.completions import AsyncCompletions

_END: Final = b"[DONE]"
# Rests are so many times as long as the loop is late: then reading is a small part of what it has to do.
_PATIENCE: Final = 10
_LONGEST_REST: Final = 0.25
Json = dict[str, Any]


class PlainCompletions:
    """Chat completions whose streams give out JSON, which LangChain takes as well as the client's own objects."""

    def __init__(self, completions: AsyncCompletions) -> None:
        self._completions = completions
        self.with_raw_response = completions.with_raw_response

    async def create(self, **request: Any) -> Any:
        """Make a request."""
        if not request.get("stream"):
            return await self._completions.create(**request)
        return ChunkStream(self._completions.with_streaming_response.create(**request))


class ChunkStream:
    """One stream; entering it makes the request."""

    def __init__(self, opening: AbstractAsyncContextManager[AsyncAPIResponse[Any]]) -> None:
        self._opening = opening
        self._response: AsyncAPIResponse[Any] | None = None

    async def __aenter__(self) -> Self:
        self._response = await self._opening.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opening.__aexit__(kind, error, trace)

    async def __aiter__(self) -> AsyncIterator[Json]:
        response = self._response
        if response is None:
            raise RuntimeError("a stream is entered before it is read")
        lines, pause = Lines(), 0.0
        async for data in response.iter_bytes():
            for chunk in joined(self._chunks(lines.feed(data), response)):
                yield chunk
            pause = await _rest(pause)

    @staticmethod
    def _chunks(lines: Iterator[bytes], response: AsyncAPIResponse[Any]) -> Iterator[Json]:
        for line in lines:
            name, _, value = line.partition(b":")
            value = value.strip()
            if name != b"data" or not value or value.startswith(_END):
                continue
            chunk = orjson.loads(value)
            if isinstance(chunk, dict) and chunk.get("error"):
                raise _told(chunk["error"], response)
            yield chunk


class Lines:
    """Cuts bytes into lines; what has no end yet waits for it."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Return the lines that are whole now."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        return iter(whole)


def joined(chunks: Iterator[Json]) -> Iterator[Json]:
    """Join chunks that have nothing but text for the same choice."""
    waiting: Json | None = None
    for chunk in chunks:
        if waiting is not None and _is_text(chunk) and _is_text(waiting):
            waiting["choices"][0]["delta"]["content"] += chunk["choices"][0]["delta"]["content"]
            continue
        if waiting is not None:
            yield waiting
        waiting = chunk
    if waiting is not None:
        yield waiting


async def _rest(seconds: float) -> float:
    """Rest before the next read; return how long to rest after it, which is longer the later the loop is.

    On an idle loop that is nothing. On a busy one more tokens lie in the next read.
    """
    loop = asyncio.get_running_loop()
    due = loop.time() + seconds
    await asyncio.sleep(seconds)
    late = loop.time() - due
    return min((seconds + _PATIENCE * late) / 2, _LONGEST_REST)


def _is_text(chunk: Json) -> bool:
    match chunk:
        case {"choices": [{"delta": {"content": str(), **more}, "finish_reason": None, **about}], **rest}:
            return not any(more.values()) and not about.get("logprobs") and not rest.get("usage")
    return False


def _told(error: Any, response: AsyncAPIResponse[Any]) -> APIError:
    message = error.get("message") if isinstance(error, dict) else None
    words = message if isinstance(message, str) and message else "An error occurred during streaming"
    return APIError(words, response.http_request, body=error)
