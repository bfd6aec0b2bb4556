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

``POST /v1/chat/completions`` streams (SSE) or answers whole as the request asks; ``GET /v1/models`` lists ``models``,
each with ``facts``.
Any other POST (``/v1/responses``, ``/v1/messages`` …) takes a reply too, which should be ``Reply.body`` or
``Reply.events``: they go out as they are, so that every provider's own shape can be played.
A reply may also be a function of the request (:class:`Asked`) that returns a :class:`Reply`.
``server.hang_ups`` counts the streams that the client left before their end; ``await server.hung_up()`` waits for one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from aiohttp import web

from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.testing.server import listening
from tests.support.model_replies import WAIT_SECONDS, Asked, Call, Delay, Ending, Gate, Piece, Reply, Step

__all__ = ["Asked", "Call", "Delay", "Ending", "Gate", "Piece", "Reply", "ScriptedModel", "Step"]


class _Vendor(Provider):
    """Who may ask, which models there are, and how others are refused: in OpenAI's words."""

    base_path = "/v1"

    def __init__(self, models: Sequence[str], key: str, facts: Mapping[str, Any]) -> None:
        self.models = tuple(models)
        self.facts = dict(facts)
        self.wanted_key = key

    def authorized(self, seen: Seen) -> bool:
        given = seen.headers.get("x-api-key") or seen.headers.get("x-goog-api-key") or ""
        return self.wanted_key in {seen.headers.get("authorization", "").removeprefix("Bearer "), given}

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - only the list is asked for
        entry = {"object": "model", "created": 1, "owned_by": "tests", **self.facts}
        listed = [{"id": name, **entry} for name in self.models]
        return Answer({"object": "list", "data": listed})

    def refuse(self, fault: Fault) -> Answer:  # noqa: ARG002 - only for a wrong key
        words = "Incorrect API key provided."
        error = {"message": words, "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}
        return Answer({"error": error}, 401)


class ScriptedModel(ProviderServer):
    """Serve a script of replies on a free loopback port, in a thread of its own, until closed."""

    def __init__(
        self,
        *script: Step,
        otherwise: Step | None = None,
        models: Sequence[str] = ("scripted",),
        key: str = "sk-scripted",
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._vendor = _Vendor(models, key, facts)
        super().__init__(self._vendor)
        self.script: deque[Step] = deque(script)
        self.otherwise = otherwise
        self.requests: list[Asked] = []
        self.hang_ups = 0
        self.talking = 0
        """Replies that are under way; a client that hangs up ends its own."""
        self._left = threading.Event()
        self._ids = itertools.count(1)

    @property
    def key(self) -> str:
        return self._vendor.wanted_key

    @key.setter
    def key(self, key: str) -> None:
        self._vendor.wanted_key = key

    @property
    def root(self) -> str:
        return self.url

    def add(self, *steps: Step) -> None:
        """Put replies at the end of the script."""
        self.script.extend(steps)

    async def hung_up(self) -> None:
        """Wait until a client has left a stream before its end."""
        assert await asyncio.to_thread(self._left.wait, WAIT_SECONDS), "no client has hung up"

    async def _run(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/v1/models", self._handle)
        app.router.add_post("/{path:.*}", self._play)
        # The handler is cancelled when its client goes, so that a hang-up is seen at once.
        async with listening(app, handler_cancellation=True) as self.port:
            self._ready.set()
            await self._stop.wait()

    async def _play(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(request.path, json.loads(body or b"{}"), headers, dict(request.query))
        self.requests.append(asked)
        if not self.provider.authorized(Seen("POST", asked.path, asked.query, headers)):
            refusal = self.provider.refuse(Fault.AUTH)
            return web.json_response(refusal.body, status=refusal.status)
        step = self.script.popleft() if self.script else self.otherwise
        if step is None:
            words = "The script is used up; this request was not expected."
            return web.json_response({"error": {"message": words}}, status=418)
        reply = step(asked) if callable(step) else step
        self.talking += 1
        try:
            return await self._answer(request, asked, reply)
        except (asyncio.CancelledError, ConnectionError):
            self.hang_ups += 1
            self._left.set()
            raise
        finally:
            self.talking -= 1

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
