"""Streams in OpenAI's shape, byte by byte: what came together goes on as one piece, and nothing else changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage

from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.opening import open_model
from qiusuo.config import Settings
from qiusuo.errors import ModelBroken, ModelError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def say(text: str) -> bytes:
    return chunk({"content": text})


END = chunk({}, "stop") + b"data: [DONE]\n\n"


@asynccontextmanager
async def serving(writes: Iterable[bytes]) -> AsyncIterator[str]:
    """Serve one answer, write by write: each reaches the client before the next goes out."""

    ended = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(HEAD)
                for data in writes:
                    writer.write(data)
                    await writer.drain()
                    await asyncio.sleep(0.02)  # two writes at once would be one read
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            ended.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        finally:
            await ended.wait()


async def chunks(*writes: bytes) -> list[AIMessageChunk]:
    async with serving(writes) as address:
        model = open_model(Settings.load(model="openai:m", model_base_url=address, model_api_key="key"))
        try:
            stream = stream_model(await model.chat_model(), [HumanMessage("?")], model="m", idle_timeout=10)
            return [each async for each in stream]
        finally:
            await model.aclose()


def texts(found: list[AIMessageChunk]) -> list[str]:
    return [each.text for each in found if each.text]


async def test_what_came_together_is_one_piece() -> None:
    found = await chunks(say("春茶") + say("在三月") + say("采摘。"), say("完"), END)
    assert texts(found) == ["春茶在三月采摘。", "完"]


async def test_characters_and_lines_may_be_cut_anywhere() -> None:
    whole = say("春茶🍵") + say("在三月") + END
    for cut in range(5, len(whole), 17):
        assert "".join(texts(await chunks(whole[:cut], whole[cut:]))) == "春茶🍵在三月"


@pytest.mark.parametrize("end", [b"\r\n", b"\n"], ids=["crlf", "lf"])
async def test_the_lines_of_other_servers(end: bytes) -> None:
    other = b": ping\n\nevent: message\n" + say("a") + b"id: 7\n\ndata:\n\n" + say("b") + END
    assert "".join(texts(await chunks(other.replace(b"\n", end)))) == "ab"


async def test_calls_thoughts_and_usage_stay_apart() -> None:
    call = {
        "index": 0,
        "id": "c",
        "type": "function",
        "function": {"name": "web_search", "arguments": '{"query": "茶"}'},
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    found = await chunks(
        chunk({"role": "assistant", "content": ""})
        + chunk({"content": None, "reasoning_content": "hm"})
        + say("a")
        + say("b")
        + chunk({"tool_calls": [call]})
        + chunk({}, "tool_calls")
        + b'data: {"id": "1", "choices": [], "usage": '
        + json.dumps(usage).encode()
        + b"}\n\n"
        + b"data: [DONE]\n\n"
    )
    assert texts(found) == ["ab"]
    assert [each.additional_kwargs["reasoning_content"] for each in found if each.additional_kwargs] == ["hm"]
    assert [each["args"] for message in found for each in message.tool_call_chunks] == ['{"query": "茶"}']
    assert [each.usage_metadata["total_tokens"] for each in found if each.usage_metadata] == [3]


async def test_an_error_in_the_middle() -> None:
    with pytest.raises(ModelError, match="overloaded"):
        await chunks(say("a"), b'data: {"error": {"message": "The engine is overloaded", "type": "server_error"}}\n\n')


@pytest.mark.parametrize("broken", [b"data: {no json\n\n", say("a")], ids=["no json", "no end"])
async def test_what_makes_no_sense(broken: bytes) -> None:
    with pytest.raises(ModelBroken):
        await chunks(broken)
