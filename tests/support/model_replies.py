"""What a scripted model answers, and what it was asked; :mod:`scripted_model` serves it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

WAIT_SECONDS = 20


class Gate:
    """A place in a reply where the server waits until the test opens it, from any thread or loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self.was_reached = threading.Event()

    def open(self) -> None:
        with self._lock:
            self._open = True
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    async def reached(self) -> None:
        """Wait until the server stands before the gate."""
        assert await asyncio.to_thread(self.was_reached.wait, WAIT_SECONDS), "the server never came to this gate"

    async def passed(self) -> None:
        """Wait until it is open (the server does)."""
        event = asyncio.Event()
        with self._lock:
            if not self._open:
                self._waiting.append((asyncio.get_running_loop(), event))
            else:
                event.set()
        self.was_reached.set()
        await event.wait()


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds that the server waits in the middle of a reply."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; its arguments (a dict, or text as it is) come in that many pieces when streamed."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""
    pieces: int = 3

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


class Ending(StrEnum):
    """How the connection ends after the pieces of a reply."""

    WHOLE = "whole"
    BROKEN = "broken"  # aborted in the middle
    SHORT = "short"  # closed in good order, but without a finish reason and [DONE]
    SILENT = "silent"  # nothing more, for as long as the client waits


Piece: TypeAlias = str | Gate | Delay | Mapping[str, Any]
"""Text, a wait, or a whole ``delta`` as it is (``{"reasoning_content": …}``)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers once. Made by the class methods; ``with_`` changes single fields."""

    pieces: tuple[Piece, ...] = ()
    calls: tuple[Call, ...] = ()
    finish: str = "stop"
    usage: tuple[int, int] | None = (11, 7)
    ending: Ending = Ending.WHOLE
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields beside ``choices`` (``search_results``, ``citations``), in the last chunk or the whole answer."""
    message: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the message, or of the last delta (``annotations``, ``refusal``)."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    whole: Any = None
    """A body that goes out as it is: JSON, or text (then HTML), or bytes."""
    events_: tuple[tuple[str, Any], ...] | None = None

    @classmethod
    def text(cls, *pieces: Piece, **fields: Any) -> Reply:
        """Answer with text, each piece in a chunk of its own."""
        return cls(pieces, **fields)

    @classmethod
    def tools(cls, *calls: Call, say: Sequence[Piece] = (), **fields: Any) -> Reply:
        """Call tools, all at once (in parallel), perhaps after some text; their pieces come interleaved."""
        return cls(tuple(say), calls, **{"finish": "tool_calls", **fields})

    @classmethod
    def error(
        cls, status: int, message: str = "Something is wrong.", *, code: str | None = None, **fields: Any
    ) -> Reply:
        """Refuse with a status and OpenAI's error shape."""
        body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
        return cls(status=status, whole=body, **fields)

    @classmethod
    def rate_limited(cls, after: str = "7") -> Reply:
        return cls.error(429, "Rate limit reached.", code="rate_limit_exceeded", headers={"Retry-After": after})

    @classmethod
    def overflow(cls) -> Reply:
        """400 in OpenAI's words: the conversation is too long."""
        words = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
        return cls.error(400, words, code="context_length_exceeded")

    @classmethod
    def refused(cls, words: str = "I cannot help with that.") -> Reply:
        """A refusal of the model itself, in the field ``refusal``."""
        return cls((), message={"refusal": words})

    @classmethod
    def filtered(cls, *pieces: Piece) -> Reply:
        """Text that the provider's content filter cuts off."""
        return cls(pieces, finish="content_filter")

    @classmethod
    def html(cls, status: int = 200) -> Reply:
        return cls(status=status, whole="<!doctype html><title>Welcome</title><p>Please log in.")

    @classmethod
    def hang(cls, *pieces: Piece) -> Reply:
        """Say nothing more, and keep the connection; with no piece not even the head of the answer comes."""
        return cls(pieces, ending=Ending.SILENT)

    @classmethod
    def broken(cls, *pieces: Piece) -> Reply:
        """Break the connection off after the pieces."""
        return cls(pieces, ending=Ending.BROKEN)

    @classmethod
    def body(cls, body: Any, status: int = 200, **headers: str) -> Reply:
        """A whole body, as it is."""
        return cls(whole=body, status=status, headers=headers)

    @classmethod
    def events(cls, *events: Any, **fields: Any) -> Reply:
        """Server-sent events as they are: payloads (JSON or text), pairs of event name and payload, gates, delays."""
        pairs = tuple(event if isinstance(event, tuple) else ("", event) for event in events)
        return cls(events_=pairs, **fields)

    def with_(self, **fields: Any) -> Reply:
        return replace(self, **fields)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived. Header names are in lower case."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    query: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body.get("messages") or self.body.get("input") or []
        return found

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were offered."""
        tools = self.body.get("tools") or []
        return [tool.get("function", tool).get("name") or tool.get("type", "") for tool in tools]

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        return "\n".join(_plain(message.get("content")) for message in self.messages)

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))


Step: TypeAlias = Reply | Callable[[Asked], Reply]


def _plain(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""
