"""A server under load: 300 answers of 20 tokens a second at once, and the questions that come on top of them."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from bench.processes import running
from bench.table import Report

STREAMS = 300
PACE = 0.05
TOKENS = 400
BEGIN_SECONDS = 3.0
PROBES = 30
PROBE_SECONDS = 0.5
GOAL_SECONDS = 2.0
_WORD = "令牌 "


def measure() -> Report:
    """Run everything and report."""
    report = Report(
        "A server under load",
        f"`qiusuo serve` as one process on this machine, beside the model and the readers (two cores in all). "
        f"{STREAMS} readers of the page's API begin within {BEGIN_SECONDS:.0f} s; the model sends each a token every "
        f"{PACE * 1000:.0f} ms, {TOKENS} of them. Then {PROBES} more questions are asked, one every "
        f"{PROBE_SECONDS:g} s, while those still stream. *First token*: from the question to its first text.",
    )
    with running(serve_talker) as model:
        for name, database in databases():
            with database as url, serving(model, url) as address:
                first, probes, refused, took = asyncio.run(load(address))
            _add(report, name, "first token, median", first)
            _add(report, name, "first token of further questions, median", probes)
            report.add(f"{name}: refused", str(refused), f"all in {took:.1f} s", f"{TOKENS * PACE:.0f} s of text")
    return report


def _add(report: Report, name: str, what: str, seconds: list[float]) -> None:
    middle = statistics.median(seconds)
    worst = max(seconds)
    report.add(
        f"{name}: {what}", f"{middle:.2f} s", f"worst {worst:.2f} s", f"{GOAL_SECONDS:g} s", met=middle < GOAL_SECONDS
    )


def databases() -> Iterator[tuple[str, Any]]:
    """Give the databases that there are, each as a context with its address."""
    yield "SQLite", _sqlite()
    from tests.support.postgres_process import PROGRAMS  # noqa: PLC0415 - its cluster serves the tests too

    if PROGRAMS is not None:
        yield "PostgreSQL", _postgres()


@contextmanager
def _sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/chat.db"


@contextmanager
def _postgres() -> Iterator[str]:
    from tests.support.postgres_process import PostgresProcess  # noqa: PLC0415

    cluster = PostgresProcess()
    try:
        yield cluster.url()
    finally:
        cluster.remove()


@contextmanager
def serving(model: str, database: str) -> Iterator[str]:
    """Run ``qiusuo serve`` with that model and database; give its address."""
    environment = {**os.environ, "QIUSUO_LANG": "en", "QIUSUO_MODEL": "openai:talker", "QIUSUO_MODEL_API_KEY": "key"}
    environment |= {"QIUSUO_MODEL_BASE_URL": f"{model}/v1", "QIUSUO_DATABASE_URL": database}
    command = [sys.executable, "-m", "qiusuo", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://\S+", process.stderr.readline() if process.stderr else "")
            if found is None:
                raise SystemExit("the server did not start")
            yield found[0]
        finally:
            process.kill()


async def load(address: str) -> tuple[list[float], list[float], int, float]:
    """Return how long first tokens took, those of later questions, how many were refused, and the time of it all."""
    await _answer(address, tokens=1)  # packages are loaded with the first one
    began = time.perf_counter()

    async def reader(number: int) -> float | None:
        await asyncio.sleep(number * BEGIN_SECONDS / STREAMS)
        return await _answer(address)

    async def probe(number: int) -> float | None:
        await asyncio.sleep(BEGIN_SECONDS + 1 + number * PROBE_SECONDS)
        return await _answer(address, tokens=1)

    firsts, probes = await asyncio.gather(
        asyncio.gather(*(reader(number) for number in range(STREAMS))),
        asyncio.gather(*(probe(number) for number in range(PROBES))),
    )
    heard = [[first for first in some if first is not None] for some in (firsts, probes)]
    refused = len(firsts) + len(probes) - sum(map(len, heard))
    return heard[0], heard[1], refused, time.perf_counter() - began


async def _answer(address: str, *, tokens: int | None = None) -> float | None:
    """Ask a question in a new conversation; return after how many seconds its text began, None if it was refused.

    With ``tokens`` it is stopped after so many pieces of text.
    """
    host, port = address.removeprefix("http://").split(":")
    began = time.perf_counter()
    status, body = await _request(host, int(port), "POST", "/api/chat/sessions", {})
    if status != 201:
        return None
    session = orjson.loads(body)["id"]
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        _send(writer, "POST", f"/api/chat/sessions/{session}/turns", {"text": "说吧"})
        if b" 200 " not in await reader.readline():
            return None
        first, pieces = None, 0
        while data := await reader.read(65536):
            found = data.count(b"event: delta")
            if found and first is None:
                first = time.perf_counter() - began
            pieces += found
            if b"event: done" in data or (tokens is not None and pieces >= tokens):
                break
        return first
    finally:
        writer.close()


async def _request(host: str, port: int, method: str, path: str, body: Any) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        _send(writer, method, path, body)
        head, _, rest = (await reader.read()).partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), rest
    finally:
        writer.close()


def _send(writer: asyncio.StreamWriter, method: str, path: str, body: Any) -> None:
    data = orjson.dumps(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)


def serve_talker(address: Any, tokens: int = TOKENS) -> None:
    """Serve a model in OpenAI's shape that talks at an even pace: cheap, so that the server is what is measured."""
    asyncio.run(_talk(address, tokens))


class _Talker(asyncio.Protocol):
    talking: set[_Talker]
    HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    def __init__(self, talking: set[_Talker], tokens: int) -> None:
        self.talking = talking
        self.tokens = tokens
        self.said = 0
        self.seen = b""
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio has it
        self.talking.discard(self)

    def data_received(self, data: bytes) -> None:
        self.seen += data
        head, end, body = self.seen.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if end and length and len(body) >= int(length[1]):
            self.seen, self.said = b"", 0
            self.transport.write(self.HEAD)
            self.say({"role": "assistant", "content": ""})
            self.talking.add(self)

    def say(self, delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "talker"}
        data = b"data: " + orjson.dumps({**chunk, "choices": [choice]}) + b"\n\n"
        self.transport.write(b"%x\r\n%b\r\n" % (len(data), data))

    def tick(self) -> None:
        self.said += 1
        if self.said <= self.tokens:
            self.say({"content": _WORD})
            return
        self.talking.discard(self)
        self.say({}, "stop")
        self.transport.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


async def _talk(address: Any, tokens: int) -> None:
    talking: set[_Talker] = set()
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = await asyncio.get_running_loop().create_server(lambda: _Talker(talking, tokens), sock=listener)
    address.put(f"http://127.0.0.1:{listener.getsockname()[1]}")
    async with server:
        due = time.perf_counter()
        while True:
            for talker in tuple(talking):
                talker.tick()
            due += PACE
            await asyncio.sleep(max(due - time.perf_counter(), 0))
