"""What a turn adds to the model's own time, beside the same model streamed directly; and many streams at once."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any

import aiohttp
import orjson
from aiohttp import web
from langchain_openai import ChatOpenAI

from bench.processes import running
from bench.search import PlainTavily, serve_upstream
from bench.table import Report
from qiusuo import SearchService
from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Delta, Round, RoundState, Usage
from qiusuo.chat.models.opening import model_from
from qiusuo.chat.models.port import ModelInfo
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.http import HttpClient

TOKENS = 500
TURNS = 12
STREAMS = 100
PACE = 0.05
PACED_TOKENS = 100
STAGGER = 0.02
FIRST_TOKEN_MS = 10.0
PER_TOKEN_MS = 0.1
STALL_MS = 500.0


def measure() -> Report:
    """Run everything and report."""
    with ExitStack() as stack:
        upstream = stack.enter_context(running(serve_upstream))
        model = stack.enter_context(running(_serve_model))
        server = stack.enter_context(running(_serve_ours, upstream, model))
        return asyncio.run(_measure(upstream, model, server))


async def _measure(upstream: str, model: str, server: str) -> Report:
    report = Report(
        "Answers",
        f"A scripted model on loopback that sends {TOKENS} tokens at full speed; *direct* is LangChain's `ChatOpenAI` "
        f"alone, *ours* a whole turn of chat mode (search, injection, citations, check). Best of {TURNS} turns, taken "
        f"alternately. For the stall test the model sends a token every {PACE * 1000:.0f} ms to each of {STREAMS} "
        f"readers of one server process; they begin {STAGGER * 1000:.0f} ms apart and all overlap.",
    )
    chat_model = ChatOpenAI(model="bench", base_url=f"{model}/v1", api_key="bench", max_retries=0)  # type: ignore[arg-type]
    http = HttpClient()
    engine = TavilyEngine(PlainTavily.key, base_url=upstream, http=http)
    service = SearchService([engine], Settings.load(rate_limit=0), http=http)
    info = ModelInfo("openai:bench", "bench", "remote", context_tokens=100_000)
    chat = Chat(service, model_from(chat_model, info))
    direct: list[tuple[float, float]] = []
    ours: list[tuple[float, float]] = []
    for turn in range(TURNS):
        direct.append(await _direct(chat_model, turn))
        ours.append(await _turn(chat, turn))
    await chat.aclose()
    await service.aclose()
    first_direct, first_ours = (min(times[0] for times in runs) for runs in (direct, ours))
    token_direct, token_ours = (min(times[1] for times in runs) for runs in (direct, ours))
    added = first_ours - first_direct
    report.add("direct: first token", f"{first_direct:.1f} ms")
    report.add(
        "ours: first token, less the search's own time",
        f"{first_ours:.1f} ms",
        f"{added:+.1f} ms",
        f"at most {FIRST_TOKEN_MS:.0f} ms more",
        met=added <= FIRST_TOKEN_MS,
    )
    more = token_ours - token_direct
    report.add("direct: each token", f"{token_direct:.3f} ms")
    report.add(
        "ours: each token",
        f"{token_ours:.3f} ms",
        f"{more:+.3f} ms",
        f"at most {PER_TOKEN_MS} ms more",
        met=more <= PER_TOKEN_MS,
    )
    gaps = await _many(server)
    worst = max(gaps)
    report.add(
        f"{STREAMS} streams at once: longest silence of any",
        f"{worst:.0f} ms",
        f"middle {statistics.median(gaps):.0f} ms, the model's own pace {PACE * 1000:.0f} ms",
        f"no stall: under {STALL_MS:.0f} ms",
        met=worst < STALL_MS,
    )
    return report


async def _direct(model: ChatOpenAI, turn: int) -> tuple[float, float]:
    start = time.perf_counter()
    stamps = [time.perf_counter() async for chunk in model.astream(f"bench {turn}") if chunk.content]
    return (stamps[0] - start) * 1000, (stamps[-1] - stamps[0]) * 1000 / (len(stamps) - 1)


async def _turn(chat: Chat, turn: int) -> tuple[float, float]:
    start = time.perf_counter()
    search = 0.0
    began = start
    stamps: list[float] = []
    async for event in chat.turn(Ask(f"bench {turn}", ChatSettings(search=True))).events():
        match event:
            case Round(state=RoundState.RUNNING):
                began = time.perf_counter()
            case Round():
                search = time.perf_counter() - began
            case Delta():
                stamps.append(time.perf_counter())
            case Usage():
                assert event.searches == 1
    return (stamps[0] - start - search) * 1000, (stamps[-1] - stamps[0]) * 1000 / TOKENS


async def _many(server: str) -> list[float]:
    """Return the longest silence of each of many streams at once, in milliseconds."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await _listen(session, server, 0)  # the first answer loads what the others find there
        return await asyncio.gather(*(_listen(session, server, number) for number in range(STREAMS)))


async def _listen(session: aiohttp.ClientSession, server: str, number: int) -> float:
    await asyncio.sleep(number * STAGGER)
    async with session.post(f"{server}/api/chat/sessions", json={}) as created:
        identity = (await created.json())["id"]
    body = {"text": f"paced {number}"}
    longest = 0.0
    last: float | None = None
    async with session.post(f"{server}/api/chat/sessions/{identity}/turns", json=body) as answer:
        async for line in answer.content:
            if line.startswith(b"event: delta"):
                stamp = time.perf_counter()
                if last is not None:
                    longest = max(longest, stamp - last)
                last = stamp
    assert last is not None
    return longest * 1000


def _serve_ours(address: Any, upstream: str, model: str) -> None:
    from bench.rest import _run_uvicorn  # noqa: PLC0415 - in the server's process only
    from qiusuo.chat.stores.opening import open_store  # noqa: PLC0415
    from qiusuo.web.app import create_app  # noqa: PLC0415
    from qiusuo.web.chat.routes import chat_extension  # noqa: PLC0415

    engine = TavilyEngine(PlainTavily.key, base_url=upstream)
    chat_model = ChatOpenAI(model="bench", base_url=f"{model}/v1", api_key="bench", max_retries=0)  # type: ignore[arg-type]
    extension = chat_extension(
        model_from(chat_model, ModelInfo("openai:bench", "bench", "remote")), open_store(":memory:")
    )
    service = SearchService([engine], Settings.load(rate_limit=0))
    _run_uvicorn(create_app(service, extensions=[extension]), address)


def _serve_model(address: Any) -> None:
    """Play the model: what is asked for as ``paced`` comes slowly, everything else at once."""

    async def complete(request: web.Request) -> web.StreamResponse:
        paced = "paced" in (await request.json())["messages"][-1]["content"]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        async for piece in _pieces(paced=paced):
            await response.write(piece)
        await response.write_eof()
        return response

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", complete)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.put(f"http://127.0.0.1:{runner.addresses[0][1]}")
        await asyncio.sleep(3600)

    asyncio.run(serve())


async def _pieces(*, paced: bool) -> AsyncIterator[bytes]:
    for index in range(PACED_TOKENS if paced else TOKENS):
        if paced:
            await asyncio.sleep(PACE)
        yield _chunk({"content": f"word{index} " + ("[1]. " if index % 20 == 19 and not paced else "")})
    yield _chunk({}, "stop")
    yield b"data: [DONE]\n\n"


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    return b"data: " + orjson.dumps(data) + b"\n\n"
