"""Reading pages before an answer: what it adds to a turn, and the memory that huge pages take."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any

from bench.table import Report
from qiusuo.chat.chat import Chat
from qiusuo.chat.depth import Depth
from qiusuo.chat.events.turn import Reading
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from qiusuo.service import SearchService

QUESTION = "云岭大桥的主跨有多长"
PARAGRAPH = f"<p>云岭大桥的资料中多次提到江水、渡口和茶园，{'四季都有游人来往。' * 8}</p>\n"
ANSWER = "<p>云岭大桥主跨长1196米。</p>"
TURNS = 15
USUAL, HUGE = 200_000, 5_000_000
MOST_MS, MOST_MB = 250, 150


def measure() -> Report:
    report = Report(
        "Reading pages",
        "A turn of chat mode without a model over five results on loopback: snippets alone, then with their pages read "
        f"(nothing kept), one after the other, {TURNS} times. Memory is that of a process of its own that reads five "
        "pages of 5 MB.",
    )
    times = asyncio.run(_turns(USUAL, Depth.AUTO, TURNS))
    added = statistics.median(times["read"]) - statistics.median(times["snippets"])
    report.add("three pages of 200 kB", f"{added:.0f} ms added", "median", f"<= {MOST_MS} ms", met=added <= MOST_MS)
    times = asyncio.run(_turns(USUAL, Depth.READ, TURNS))
    added = statistics.median(times["read"]) - statistics.median(times["snippets"])
    report.add("five pages of 200 kB", f"{added:.0f} ms added", "median")
    done = subprocess.run([sys.executable, "-m", "bench.reading"], capture_output=True, text=True, check=True)
    megabytes, read, ms = json.loads(done.stdout)
    report.add(
        "five pages of 5 MB",
        f"{megabytes:.0f} MB more",
        f"{read} read, {ms:.0f} ms",
        f"< {MOST_MB} MB",
        met=megabytes < MOST_MB,
    )
    return report


async def _turns(size: int, depth: Depth, count: int, **settings: Any) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"snippets": [], "read": []}
    async with _chat(size, **settings) as chat:
        await _ask(chat, depth)  # what is loaded with the first page
        for _ in range(count):
            times["snippets"].append((await _ask(chat, Depth.SNIPPETS))[0])
            times["read"].append((await _ask(chat, depth))[0])
    return times


async def _ask(chat: Chat, depth: Depth) -> tuple[float, int]:
    """Return the milliseconds of a turn, and how many pages were read."""
    started, read = time.perf_counter(), 0
    async for event in chat.turn(Ask(QUESTION, ChatSettings(search=True, depth=depth))).events():
        if isinstance(event, Reading):
            read = sum(page.fact is None for page in event.pages)
    return (time.perf_counter() - started) * 1000, read


@asynccontextmanager
async def _chat(size: int, **settings: Any) -> AsyncIterator[Chat]:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, size), daemon=True)
    server.start()
    place = f"127.0.0.1:{ours.recv()}"
    loaded = Settings.load(
        searxng_url=f"http://{place}",
        provider_priority="searxng",
        read_private=place,
        cache_ttl=0,
        model="extractive",
        **settings,
    )
    async with SearchService.from_settings(loaded) as service:
        chat = Chat(service, open_model(loaded))
        try:
            yield chat
        finally:
            await chat.aclose()
            server.terminate()


def serve(told: Connection, size: int) -> None:
    """Serve a search with five results, and their pages."""
    text = PARAGRAPH * (size // len(PARAGRAPH.encode()))
    body = f"<!doctype html><meta charset=utf-8><title>云岭大桥</title><article>{text}{ANSWER}</article>".encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that the server calls
            search = self.path.startswith("/search")
            rows = [
                {
                    "url": f"http://127.0.0.1:{port}/{n}",
                    "title": f"云岭大桥 {n}",
                    "content": "云岭大桥是一座桥。",
                    "engine": "x",
                }
                for n in range(5)
            ]
            answer = json.dumps({"results": rows, "unresponsive_engines": []}).encode() if search else body
            self.send_response(200)
            self.send_header("Content-Type", "application/json" if search else "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    told.send(port)
    server.serve_forever()


async def _memory() -> list[float]:
    """Return the megabytes that reading five huge pages takes at its peak, how many were read, and the milliseconds."""
    async with _chat(USUAL) as chat:
        await _ask(chat, Depth.READ)
    async with _chat(HUGE, read_timeout=30) as chat:
        await _ask(chat, Depth.SNIPPETS)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ms, read = await _ask(chat, Depth.READ)
        return [(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000, read, ms]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_memory())))
