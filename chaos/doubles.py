"""A language model and a SearXNG that are played on loopback, in a process of their own: ``python -m chaos.doubles``.

The question itself tells the model what to do, so that nothing has to be arranged with it:

    Recite a17, 200 words, 20 a second, break after 80.

It then says "a17.1 a17.2 …", each word once. To every other question it says "Well." The model speaks OpenAI's shape.
Both are written for little processor time: the servers are what is looked at.
"""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson

from qiusuo.testing import Seen
from qiusuo.testing.providers.searxng import Searxng

_ORDER: Final = re.compile(
    rb"Recite (\w+), (\d+) words, ([\d.]+) a second(?:, break after (\d+))?(?:, silent for (\d+))?"
)
_LENGTH: Final = re.compile(rb"(?i)content-length: (\d+)")
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_PLACE: Final = "2718281828"


def question(name: str, words: int, pace: float, *, break_after: int | None = None, silent: int = 0) -> str:
    """Return the question that makes the model say so many words; ``silent``: seconds before the first."""
    text = f"Recite {name}, {words} words, {pace:g} a second"
    text += f", break after {break_after}" if break_after else ""
    return text + (f", silent for {silent}" if silent else "") + "."


def recitation(name: str, words: int) -> str:
    """Return what the model says then."""
    return " ".join(f"{name}.{number}" for number in range(1, words + 1))


class _Connection(asyncio.Protocol):
    """Reads requests, one after the other."""

    def __init__(self) -> None:
        self._seen = b""
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while self._seen:
            head, end, rest = self._seen.partition(b"\r\n\r\n")
            length = _LENGTH.search(head)
            size = int(length[1]) if length else 0
            if not end or len(rest) < size:
                return
            self._seen = rest[size:]
            self.asked(head, rest[:size])

    def asked(self, head: bytes, body: bytes) -> None:
        raise NotImplementedError

    def send_json(self, body: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        if not self.transport.is_closing():
            self.transport.write(head + body)


class Model(_Connection):
    """A language model in OpenAI's shape that says so many words at an even pace."""

    def __init__(self) -> None:
        super().__init__()
        self._timer: asyncio.TimerHandle | None = None
        self._name, self._words, self._break, self._said = "", 0, 0, 0
        self._pause, self._due = 0.05, 0.0

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio has it
        if self._timer is not None:
            self._timer.cancel()

    def asked(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET"):
            self.send_json(orjson.dumps({"object": "list", "data": [{"id": "reciter", "object": "model"}]}))
            return
        request = orjson.loads(body)
        if not request.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "Well."}, "finish_reason": "stop"}
            whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "reciter", "choices": [choice]}
            self.send_json(orjson.dumps(whole))
            return
        self.transport.write(_HEAD)
        self._say({"role": "assistant", "content": ""})
        orders = _ORDER.findall(orjson.dumps(request["messages"][-1]))
        if not orders:
            self._say({"content": "Well."})
            self._end()
            return
        name, words, pace, break_after, silent = orders[-1]
        self._name, self._words, self._said = name.decode(), int(words), 0
        self._break, self._pause = int(break_after or 0), 1 / float(pace)
        loop = asyncio.get_running_loop()
        self._due = loop.time() + self._pause + int(silent or 0)
        self._timer = loop.call_at(self._due, self._tick)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        # Late ticks are made up for, so that the pace holds on a busy machine.
        while self._due <= loop.time():
            if self._said >= self._words:
                self._end()
                return
            self._said += 1
            self._say({"content": ("" if self._said == 1 else " ") + f"{self._name}.{self._said}"})
            if self._said == self._break:
                self.transport.abort()  # a reset, as when a provider's machine dies
                return
            self._due += self._pause
        self._timer = loop.call_at(self._due, self._tick)

    def _say(self, delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "reciter", "choices": [choice]}
        data = b"data: " + orjson.dumps(chunk) + b"\n\n"
        self.transport.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _end(self) -> None:
        self._say({}, "stop")
        self.transport.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


class Search(_Connection):
    """A SearXNG that finds ten pages for everything, after a while."""

    def __init__(self, seconds: float, answers: dict[str, bytes]) -> None:
        super().__init__()
        self._seconds = seconds
        self._answers = answers

    def asked(self, head: bytes, body: bytes) -> None:
        target = urlsplit(head.split(b" ", 2)[1].decode())
        params = {name: values[0] for name, values in parse_qs(target.query or body.decode()).items()}
        if target.path != "/search":
            answer = Searxng().answer(Seen("GET", target.path, params, {})).encoded()[0]
            self.send_json(answer)
            return
        query = params.get("q", "")
        if not self._answers:  # made once, in SearXNG's own shape; only the query differs from then on
            self._answers[_PLACE] = Searxng().answer(Seen("GET", "/search", {"q": _PLACE}, {})).encoded()[0]
        answer = self._answers[_PLACE].replace(_PLACE.encode(), orjson.dumps(query)[1:-1])
        asyncio.get_running_loop().call_later(self._seconds, self.send_json, answer)


async def serve(model_port: int, search_port: int, search_seconds: float) -> None:
    """Play both until killed."""
    loop = asyncio.get_running_loop()
    answers: dict[str, bytes] = {}
    model = await loop.create_server(Model, "127.0.0.1", model_port, backlog=2048)
    search = await loop.create_server(lambda: Search(search_seconds, answers), "127.0.0.1", search_port, backlog=2048)
    await asyncio.gather(model.serve_forever(), search.serve_forever())


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
