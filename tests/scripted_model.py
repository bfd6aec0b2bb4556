"""A real HTTP server on loopback that plays a language model in OpenAI's shape, from a script of replies.

Each request to the model takes the next reply of the script; when it is used up, ``otherwise`` answers (unset: 418).

    gate = Gate()
    search = Reply.tools(Call("web_search", {"query": "tea"}))
    with ScriptedModel(search, Reply.text("Tea", gate, " is hot [1].")) as server:
        model = ChatOpenAI(model="scripted", base_url=server.base_url, api_key=server.key)
        ...                                       # the first call gets a tool call, the second streams "Tea" and waits
        await gate.reached()                      # the client has got what stands before the gate
        gate.open()
        assert server.requests[0].tools == ["web_search"]
        assert server.requests[1].messages[-1]["role"] == "tool"

``POST /v1/chat/completions`` streams (SSE) or answers whole as the request asks; ``GET /v1/models`` lists ``models``.
Any other POST (``/v1/responses``, ``/v1/messages`` …) takes a reply too, which should be ``Reply.body`` or
``Reply.events``: they go out as they are, so that every provider's own shape can be played.
A reply may also be a function of the request (:class:`Asked`) that returns a :class:`Reply`.
``server.hang_ups`` counts the streams that the client left before their end; ``await server.hung_up()`` waits for one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self, TypeAlias

from aiohttp import web

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


class ScriptedModel:
    """Serve a script of replies on a free loopback port, in a thread of its own, until closed."""

    def __init__(
        self,
        *script: Step,
        otherwise: Step | None = None,
        models: Sequence[str] = ("scripted",),
        key: str = "sk-scripted",
    ) -> None:
        self.script: deque[Step] = deque(script)
        self.otherwise = otherwise
        self.models = tuple(models)
        self.key = key
        self.requests: list[Asked] = []
        self.models_asked = 0
        self.hang_ups = 0
        self.port = 0
        self._left = threading.Event()
        self._ids = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, name="scripted-model", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add(self, *steps: Step) -> None:
        """Put replies at the end of the script."""
        self.script.extend(steps)

    async def hung_up(self) -> None:
        """Wait until a client has left a stream before its end."""
        assert await asyncio.to_thread(self._left.wait, WAIT_SECONDS), "no client has hung up"

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
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/{path:.*}", self._handle)
        # The handler is cancelled when its client goes, so that a hang-up is seen at once.
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, handler_cancellation=True)
        await runner.setup()
        door = socket.create_server(("127.0.0.1", 0), backlog=512)
        await web.SockSite(runner, door).start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _list(self, request: web.Request) -> web.Response:
        self.models_asked += 1
        if refusal := self._refused(request):
            return refusal
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "tests"} for name in self.models]
        return web.json_response({"object": "list", "data": listed})

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(request.path, json.loads(body or b"{}"), headers, dict(request.query))
        self.requests.append(asked)
        if refusal := self._refused(request):
            return refusal
        step = self.script.popleft() if self.script else self.otherwise
        if step is None:
            words = "The script is used up; this request was not expected."
            return web.json_response({"error": {"message": words}}, status=418)
        reply = step(asked) if callable(step) else step
        try:
            return await self._answer(request, asked, reply)
        except (asyncio.CancelledError, ConnectionError):
            self.hang_ups += 1
            self._left.set()
            raise

    def _refused(self, request: web.Request) -> web.Response | None:
        given = request.headers.get("x-api-key") or request.headers.get("x-goog-api-key") or ""
        if self.key in {request.headers.get("Authorization", "").removeprefix("Bearer "), given}:
            return None
        words = "Incorrect API key provided."
        error = {"message": words, "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}
        return web.json_response({"error": error}, status=401)

    async def _answer(self, request: web.Request, asked: Asked, reply: Reply) -> web.StreamResponse:
        if reply.whole is not None:
            return _whole(reply)
        if reply.ending is Ending.SILENT and not reply.pieces and reply.events_ is None:
            await asyncio.Event().wait()
        if reply.events_ is None and not asked.streams:
            return await self._answer_at_once(request, asked, reply)
        kind = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        response = web.StreamResponse(status=reply.status, headers={**kind, **reply.headers})
        await response.prepare(request)
        if reply.events_ is not None:
            await self._send_events(response, reply)
        else:
            await self._send_chunks(response, asked, reply)
        if reply.ending is Ending.SILENT:
            await asyncio.Event().wait()
        if reply.ending is Ending.BROKEN:
            return _abort(request, response)
        await response.write_eof()
        return response

    async def _answer_at_once(self, request: web.Request, asked: Asked, reply: Reply) -> web.StreamResponse:
        for piece in reply.pieces:
            await _wait(piece)
        if reply.ending is Ending.SILENT:
            await asyncio.Event().wait()
        if reply.ending is not Ending.WHOLE:
            return _abort(request, web.StreamResponse())
        return web.json_response(self._completion(asked, reply))

    async def _send_events(self, response: web.StreamResponse, reply: Reply) -> None:
        for name, payload in reply.events_ or ():
            if await _wait(payload):
                continue
            data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
            head = f"event: {name}\n" if name else ""
            await response.write(f"{head}data: {data}\n\n".encode())

    async def _send_chunks(self, response: web.StreamResponse, asked: Asked, reply: Reply) -> None:
        head = self._head(asked, "chat.completion.chunk")

        async def send(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> None:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            chunk = {**head, "choices": [choice], **more}
            await response.write(b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n")

        await send({"role": "assistant", "content": ""})
        for piece in reply.pieces:
            if isinstance(piece, Mapping):
                await send(piece)
            elif isinstance(piece, str):
                await send({"content": piece})
            else:
                await _wait(piece)
        for delta in self._call_deltas(reply.calls):
            await send(delta)
        if reply.ending is not Ending.WHOLE:
            return
        await send(reply.message, reply.finish, **reply.extra)
        options = asked.body.get("stream_options") or {}
        if reply.usage and options.get("include_usage"):
            chunk = {**head, "choices": [], "usage": _usage(reply.usage)}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")

    def _call_deltas(self, calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
        for index, call in enumerate(calls):
            function = {"name": call.name, "arguments": ""}
            start = {
                "index": index,
                "id": call.id or f"call_{next(self._ids)}",
                "type": "function",
                "function": function,
            }
            yield {"tool_calls": [start]}
        parts = [_cut(call.text, call.pieces) for call in calls]
        for row in itertools.zip_longest(*parts):
            for index, part in enumerate(row):
                if part is not None:
                    yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}

    def _completion(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        text = "".join(piece for piece in reply.pieces if isinstance(piece, str))
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        for piece in reply.pieces:
            if isinstance(piece, Mapping):
                message.update(piece)
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id or f"call_{next(self._ids)}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.text},
                }
                for call in reply.calls
            ]
        choice = {"index": 0, "message": {**message, **reply.message}, "finish_reason": reply.finish}
        usage = {"usage": _usage(reply.usage)} if reply.usage else {}
        return {**self._head(asked, "chat.completion"), "choices": [choice], **usage, **reply.extra}

    def _head(self, asked: Asked, kind: str) -> dict[str, Any]:
        model = asked.body.get("model", "scripted")
        return {"id": f"chatcmpl-{next(self._ids)}", "object": kind, "created": int(time.time()), "model": model}


async def _wait(piece: Any) -> bool:
    if isinstance(piece, Gate):
        await piece.passed()
    elif isinstance(piece, Delay):
        await asyncio.sleep(piece.seconds)
    else:
        return False
    return True


def _whole(reply: Reply) -> web.Response:
    if isinstance(reply.whole, bytes):
        return web.Response(body=reply.whole, status=reply.status, headers=dict(reply.headers))
    if isinstance(reply.whole, str):
        return web.Response(
            text=reply.whole, status=reply.status, headers=dict(reply.headers), content_type="text/html"
        )
    return web.json_response(reply.whole, status=reply.status, headers=dict(reply.headers))


def _abort(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def _plain(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""
