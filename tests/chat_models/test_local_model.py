"""A real language model in this process: llama.cpp with SmolLM2 135M."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.doctor.wire import Reach, reach
from qiusuo.errors import ContextOverflow, ModelNotConfigured
from tests.support import real_model
from tests.support.real_model import one_thread

__all__ = ["one_thread"]  # a fixture
pytestmark = real_model.marks

CONTEXT = 1024
IDLE = 300.0


@tool
def web_search(query: str, count: int = 5) -> str:
    """Search the web for current information."""
    return f"{query} {count}"


@tool
def fetch_page(url: str) -> str:
    """Read a page."""
    return url


@pytest_asyncio.fixture
async def model() -> AsyncIterator[Model]:
    opened = open_model(Settings.load(model=real_model.SETTING, model_context=CONTEXT, model_temperature=0))
    try:
        yield opened
    finally:
        await opened.aclose()


async def gathered(chat: object, *messages: BaseMessage) -> AIMessageChunk:
    whole: AIMessageChunk | None = None
    async for chunk in stream_model(chat, messages, model="smol", idle_timeout=IDLE):  # type: ignore[arg-type]
        whole = chunk if whole is None else whole + chunk
    assert whole is not None
    return whole


def address_of(chat: BaseChatModel) -> str:
    return str(chat.openai_api_base)  # type: ignore[attr-defined]


class TestText:
    async def test_it_streams_words_and_counts_tokens(self, model: Model) -> None:
        chat = await model.chat_model()
        pieces = [
            chunk
            async for chunk in stream_model(
                chat.bind(max_tokens=24), [HumanMessage("Say hello.")], model="smol", idle_timeout=IDLE
            )
        ]
        assert len([piece for piece in pieces if piece.text]) > 3
        whole = pieces[0]
        for piece in pieces[1:]:
            whole += piece
        assert whole.text.strip()
        assert whole.usage_metadata is not None
        assert whole.usage_metadata["output_tokens"] > 3
        assert whole.response_metadata["finish_reason"] in {"stop", "length"}

    async def test_a_conversation_that_is_too_long_is_told_as_such(self, model: Model) -> None:
        with pytest.raises(ContextOverflow, match="too long") as caught:
            await gathered(await model.chat_model(), HumanMessage("tea " * (CONTEXT + 200)))
        assert caught.value.status == 400


class TestToolCalls:
    async def test_a_demanded_call_is_valid(self, model: Model) -> None:
        chat = (await model.chat_model()).bind_tools([web_search, fetch_page], tool_choice="any")
        message = await gathered(chat, SystemMessage("Be helpful."), HumanMessage("What is the weather in Paris?"))
        (call,) = message.tool_calls
        assert call["name"] in {"web_search", "fetch_page"}
        assert set(call["args"]) <= {"query", "url"}
        assert all(isinstance(value, str) and value for value in call["args"].values())
        assert message.text == ""
        assert message.invalid_tool_calls == []
        assert message.response_metadata["finish_reason"] == "tool_calls"

    async def test_a_tool_that_is_named_is_the_one_called(self, model: Model) -> None:
        chat = (await model.chat_model()).bind_tools([web_search, fetch_page], tool_choice="web_search")
        message = await chat.ainvoke([HumanMessage("Who wrote Hamlet?")])
        assert [call["name"] for call in message.tool_calls] == ["web_search"]
        assert list(message.tool_calls[0]["args"]) == ["query"]

    async def test_after_the_results_it_answers_in_words(self, model: Model) -> None:
        call = {"name": "web_search", "args": {"query": "Hamlet"}, "id": "call_1", "type": "tool_call"}
        messages: list[BaseMessage] = [
            HumanMessage("Who wrote Hamlet?"),
            AIMessage("", tool_calls=[call]),
            ToolMessage("[1] Hamlet is a play by William Shakespeare.", tool_call_id="call_1"),
        ]
        chat = (await model.chat_model()).bind_tools([web_search])
        message = await gathered(chat.bind(max_tokens=32), *messages)
        assert message.text.strip()
        assert message.tool_calls == []


class TestLife:
    async def test_one_server_for_a_file_until_the_last_user_leaves(self, model: Model) -> None:
        other = open_model(Settings.load(model=real_model.SETTING, model_context=CONTEXT))
        address = address_of(await model.chat_model())
        assert address_of(await other.chat_model()) == address
        await other.aclose()
        assert await reach(address) is Reach.OPEN
        await model.aclose()
        assert await reach(address) is Reach.REFUSED

    async def test_it_listens_on_loopback_and_wants_its_key(self, model: Model) -> None:
        import httpx

        address = address_of(await model.chat_model())
        assert urlsplit(address).hostname == "127.0.0.1"
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            assert (await client.post(f"{address}/chat/completions", json=body)).status_code == 401

    async def test_what_is_shown_of_it(self, model: Model) -> None:
        assert (model.info.kind, model.info.label) == ("local", real_model.FILE.stem)
        assert model.info.context_tokens == CONTEXT


class TestNotConfigured:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ModelNotConfigured, match="cannot be read: No such file") as caught:
            open_model(Settings.load(model=f"local:{tmp_path / 'gone.gguf'}"))
        assert "local:/path/to/model.gguf" in caught.value.fix

    def test_another_kind_of_file(self, tmp_path: Path) -> None:
        (tmp_path / "page.gguf").write_text("<html>")
        with pytest.raises(ModelNotConfigured, match="no GGUF file"):
            open_model(Settings.load(model=f"local:{tmp_path / 'page.gguf'}"))

    async def test_a_broken_file(self, tmp_path: Path) -> None:
        (tmp_path / "half.gguf").write_bytes(real_model.FILE.read_bytes()[:200_000])
        model = open_model(Settings.load(model=f"local:{tmp_path / 'half.gguf'}"))
        with pytest.raises(ModelNotConfigured, match=r"cannot load .*half\.gguf"):
            await model.chat_model()
        await model.aclose()

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
        with pytest.raises(ModelNotConfigured) as caught:
            open_model(Settings.load(model=real_model.SETTING))
        assert caught.value.commands == (install_command("qiusuo[local]"),)
