"""What the readers of all providers have in common: the request, its follow-ups, errors, and the end of an answer."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import AIMessageChunk
from langchain_core.runnables import Runnable

from qiusuo.chat.models.model_errors import translated
from qiusuo.chat.models.port import NativePiece, NativeSource
from qiusuo.errors import ModelBroken, ModelError, ModelRateLimited, ModelRejected, ModelTimeout, ModelUnavailable
from qiusuo.tracing import span
from qiusuo.words import Fact

IDLE_SECONDS: Final = 180.0
"""How long a provider may be silent. Nothing is heard of a search while it is made, so it is a long time."""

# What providers call it when they stop an answer for what it says, in lower case.
_REFUSALS: Final = frozenset(
    {"refusal", "content_filter", "sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii"}
)
_TOO_OFTEN: Final = re.compile(r"rate_limit|too_many_requests|resource_exhausted", re.IGNORECASE)
_DOWN: Final = re.compile(r"overloaded|server_error|internal_error|api_error|unavailable", re.IGNORECASE)


class Reader(ABC):
    """Reads one answer off the chunks of its stream. Holds the state of that answer alone."""

    def __init__(self) -> None:
        self.stopped = ""
        """Why the provider ended the answer, in its own word; empty while it has not."""

    @abstractmethod
    def read(self, chunk: AIMessageChunk) -> Iterator[NativePiece]:
        """Give the pieces that are certain after this chunk."""

    def pause(self) -> Iterator[NativePiece]:
        """Give what is left of one response, before another one goes on with the answer."""
        yield from ()

    @abstractmethod
    def finish(self) -> Iterator[NativePiece]:
        """Give what is left at the end of the answer."""

    def note_stop(self, metadata: Mapping[str, Any]) -> None:
        """Take the reason for the end where a chunk has it."""
        details = metadata.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        for word in (reason, *(metadata.get(key) for key in ("stop_reason", "finish_reason", "status"))):
            if isinstance(word, str) and word != "in_progress":
                self.stopped = word.lower()
                return


class StreamedSearch(ABC):
    """A model's own search. Subclasses say how it is bound and who reads the stream."""

    max_requests: ClassVar[int] = 1
    """How many requests one answer may take; more than one where the provider pauses or wants an echo."""

    def __init__(self, provider: str, label: str) -> None:
        self.provider = provider
        self.label = label
        self.idle_seconds = IDLE_SECONDS

    @abstractmethod
    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        """Return the model with its search switched on; the model itself stays as it is."""

    @abstractmethod
    def reader(self) -> Reader:
        """Return a reader for one answer."""

    def follow_up(self, reader: Reader, chunks: Sequence[AIMessageChunk]) -> list[BaseMessage]:  # noqa: ARG002 - for subclasses
        """Return the messages with which the answer goes on; none if it is complete."""
        return []

    async def answer(self, model: BaseChatModel, messages: Sequence[BaseMessage]) -> AsyncGenerator[NativePiece]:
        """Stream an answer for which the model may search by itself. See ``NativeSearch``."""
        reader, told = self.reader(), False
        try:
            async with aclosing(self._pieces(model, messages, reader)) as pieces:
                async for piece in pieces:
                    told = told or bool(piece.text.strip())
                    yield piece
        except Exception as error:  # noqa: BLE001 - every package has its own; all are translated
            raise _failure(error, self.label) from None
        if not told:
            raise self._silence(reader)

    async def _pieces(
        self, model: BaseChatModel, messages: Sequence[BaseMessage], reader: Reader
    ) -> AsyncGenerator[NativePiece, None]:
        bound, talk = self.bound(model), list(messages)
        for _ in range(self.max_requests):
            chunks: list[AIMessageChunk] = []
            async with aclosing(self._chunks(bound, talk)) as stream:
                async for chunk in stream:
                    chunks.append(chunk)
                    reader.note_stop(chunk.response_metadata)
                    for piece in with_chunk(reader.read(chunk), chunk):
                        yield piece
            if not reader.stopped:
                raise ModelBroken(Fact("llm.broke_off"), engine=self.label)
            following = self.follow_up(reader, chunks)
            if not following:
                break
            for piece in reader.pause():
                yield piece
            talk += following
            reader.stopped = ""
        for piece in reader.finish():
            yield piece

    async def _chunks(
        self, bound: Runnable[Any, Any], messages: list[BaseMessage]
    ) -> AsyncGenerator[AIMessageChunk, None]:
        # The iterator of a LangChain stream is a generator, though its type does not say so.
        opened = aclosing(cast("AsyncGenerator[AIMessageChunk, None]", bound.astream(messages)))
        with span("model", around=False, model=self.label):
            async with opened as stream:
                while True:
                    try:
                        async with asyncio.timeout(self.idle_seconds):
                            chunk = await anext(stream)
                    except StopAsyncIteration:
                        return
                    except TimeoutError:
                        raise ModelTimeout(Fact("llm.silent", seconds=self.idle_seconds), engine=self.label) from None
                    yield chunk

    def _silence(self, reader: Reader) -> ModelError:
        if reader.stopped in _REFUSALS:
            return ModelRejected(Fact("llm.refused_as", stopped=reader.stopped), engine=self.label)
        stopped = reader.stopped or Fact("llm.no_reason")
        return ModelBroken(Fact("llm.no_text", stopped=stopped), engine=self.label)


def _failure(error: Exception, label: str) -> ModelError:
    """Return the error to be raised. Of one that came behind HTTP 200 the packages may have nothing but its words."""
    known = translated(error, label)
    if known is error or type(known) is not ModelBroken:
        return known
    words = f"{error} {getattr(error, 'code', '')}"
    if _TOO_OFTEN.search(words):
        return ModelRateLimited(Fact("llm.slow_down"), engine=label)
    if _DOWN.search(words):
        return ModelUnavailable(Fact("llm.failed_midway"), engine=label)
    return known


def with_chunk(pieces: Iterator[NativePiece], chunk: AIMessageChunk) -> Iterator[NativePiece]:
    """Give the pieces, the first of which carries the chunk; a piece with nothing else if there is none."""
    first = next(pieces, NativePiece())
    yield NativePiece(first.text, first.queries, first.sources, chunk)
    yield from pieces


def piece_of(
    text: str = "", *, sources: tuple[NativeSource, ...] = (), queries: Sequence[str] = ()
) -> Iterator[NativePiece]:
    """Give a piece if there is anything in it."""
    if text or sources or queries:
        yield NativePiece(text, tuple(queries), sources)


def blocks_of(chunk: AIMessageChunk) -> Iterator[dict[str, Any]]:
    """Give the content of a chunk as blocks; plain text becomes a text block."""
    content = [chunk.content] if isinstance(chunk.content, str) else chunk.content
    for block in content:
        if isinstance(block, str):
            if block:
                yield {"type": "text", "text": block}
        else:
            yield block


def copied(model: BaseChatModel, **changes: Any) -> BaseChatModel:
    """Return a copy of the model with other settings (those that it has); both share their connections."""
    known = {name: value for name, value in changes.items() if name in type(model).model_fields}
    return model.model_copy(update=known)
