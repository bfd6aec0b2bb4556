"""Clients of ``/v1`` that leave while the model goes on talking: each hang-up reaches the model, however many."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import httpx
import pytest

from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model
from qiusuo.config import Settings
from tests.support.chat_world import scripted
from tests.support.openai_world import QUESTION, Served, serving, user
from tests.support.scripted_model import Asked, Call, Delay, Piece, Reply, ScriptedModel

ROUNDS = 1
AT_ONCE = 50
"""In each of the rows below: 300 in all."""
WORDS: list[Piece] = ["words ", Delay(0.02)]
TALK = Reply.text(*WORDS * 3000)
SEARCH = Reply.tools(Call("web_search", {"query": "spring tea"}))


def talks(asked: Asked) -> Reply:
    """Search first where there are tools, then talk for a minute without a pause that a hang-up could fall into."""
    return SEARCH if asked.tools and asked.messages[-1]["role"] != "tool" else TALK


async def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - the model counts in a thread of its own
            await asyncio.sleep(0.01)


async def ask(served: Served, model: str, *, stream: bool) -> asyncio.StreamWriter:
    """Ask, and wait for the first words where they are streamed."""
    url = httpx.URL(served.web.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    body = json.dumps({"model": model, "messages": user(QUESTION), "stream": stream}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    if stream:
        await reader.readuntil(b"words")
    return writer


def own_client(server: ScriptedModel) -> Model:
    """Return the client that Qiusuo makes for a server in OpenAI's shape."""
    wanted = {"model": "openai:scripted", "model_base_url": server.base_url, "model_api_key": server.key}
    return open_model(Settings.load(**wanted))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("model", "port"),
    [
        ("qiusuo-chat", own_client),
        ("qiusuo-agent", own_client),
        # LangChain's own waits with asyncio.wait_for, which now and then swallows a cancellation.
        pytest.param("qiusuo-chat", scripted, id="qiusuo-chat-langchain"),
    ],
)
async def test_no_connection_to_the_model_is_left(
    model: str, port: Callable[[ScriptedModel], Model], stream: bool
) -> None:
    with serving(otherwise=talks, rate_limit=0, port=port) as served:
        for _ in range(ROUNDS):
            clients = await asyncio.gather(*(ask(served, model, stream=stream) for _ in range(AT_ONCE)))
            await until(lambda: served.model.talking == AT_ONCE)
            for writer in clients:
                writer.close()
            await until(lambda: served.model.talking == 0)
        assert served.model.hang_ups == ROUNDS * AT_ONCE
        # And every place to answer in is free again.
        served.model.otherwise = Reply.text("Enough.")
        assert served.ask(search=False)["choices"][0]["message"]["content"] == "Enough."
