"""The client for the llama.cpp server in this process. Loaded only when a local file is used (extra ``local``)."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from qiusuo.chat.models.clients.openai_chat import CompatibleChat
from qiusuo.chat.models.local.tools import adapted, demanded
from qiusuo.errors import ModelBroken
from qiusuo.words import Fact


class LocalChat(CompatibleChat):
    """A client whose demanded tool calls are made by grammar; they arrive whole, at the end of the stream."""

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return adapted(super()._get_request_payload(*args, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        if not demanded(kwargs):
            yield from super()._stream(messages, stop, run_manager, **kwargs)
            return
        call = _Call()
        # Without the callbacks: the JSON of the call is nobody's text.
        for chunk in super()._stream(messages, stop, None, **kwargs):
            call.add(chunk)
        yield call.chunk()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = _Call() if demanded(kwargs) else None
        async for chunk in super()._astream(messages, stop, run_manager if call is None else None, **kwargs):
            if call is None:
                yield chunk
            else:
                call.add(chunk)
        if call is not None:
            yield call.chunk()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        result = super()._generate(messages, stop, run_manager, **kwargs)
        return _with_call(result) if demanded(kwargs) else result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        result = await super()._agenerate(messages, stop, run_manager, **kwargs)
        return _with_call(result) if demanded(kwargs) else result


class _Call:
    """Gathers the pieces of a demanded call."""

    def __init__(self) -> None:
        self._text = ""
        self._usage: Any = None
        self._about: dict[str, Any] = {}

    def add(self, chunk: ChatGenerationChunk) -> None:
        message = chunk.message
        self._text += message.text
        self._usage = getattr(message, "usage_metadata", None) or self._usage
        self._about |= chunk.generation_info or {}

    def chunk(self) -> ChatGenerationChunk:
        name, arguments = _read(self._text)
        piece = tool_call_chunk(name=name, args=json.dumps(arguments, ensure_ascii=False), id=_new_id(), index=0)
        message = AIMessageChunk(content="", tool_call_chunks=[piece], usage_metadata=self._usage)
        message.response_metadata["model_provider"] = "openai"
        return ChatGenerationChunk(message=message, generation_info={**self._about, "finish_reason": "tool_calls"})


def _with_call(result: ChatResult) -> ChatResult:
    generation = result.generations[0]
    said = generation.message
    name, arguments = _read(said.text)
    generation.message = AIMessage(
        "",
        tool_calls=[{"name": name, "args": arguments, "id": _new_id(), "type": "tool_call"}],
        usage_metadata=getattr(said, "usage_metadata", None),
        response_metadata={**said.response_metadata, "finish_reason": "tool_calls"},
    )
    return result


def _read(text: str) -> tuple[str, dict[str, Any]]:
    try:
        call = json.loads(text)
        return str(call["name"]), dict(call["arguments"])
    except (ValueError, KeyError, TypeError):  # cut off by the limit of tokens
        raise ModelBroken(Fact("llm.half_a_call")) from None


def _new_id() -> str:
    return f"call_{secrets.token_hex(6)}"
