"""Kimi (Moonshot): the built-in function ``$web_search``, whose call is echoed back to have it carried out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import AIMessageChunk
from langchain_core.runnables import Runnable

from qiusuo.chat.models.native.responses import UNWATCHED
from qiusuo.chat.models.native.stream import Reader, StreamedSearch, blocks_of, copied, piece_of
from qiusuo.chat.models.port import NativePiece
from qiusuo.errors import ModelBroken
from qiusuo.words import Fact

FUNCTION: Final = "$web_search"


class KimiSearch(StreamedSearch):
    """Binds the built-in function and echoes its calls. Kimi names no sources in a form that could be read."""

    max_requests: ClassVar[int] = 5

    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        # bind_tools does not take tools of this type.
        tool = {"type": "builtin_function", "function": {"name": FUNCTION}}
        return copied(model, use_responses_api=False, output_version="v0", **UNWATCHED).bind(tools=[tool])

    def reader(self) -> Reader:
        return KimiReader()

    def follow_up(self, reader: Reader, chunks: Sequence[AIMessageChunk]) -> list[BaseMessage]:
        """Return the call and, as its result, the very arguments that came with it."""
        if reader.stopped != "tool_calls":
            return []
        first, *rest = chunks
        whole = first + rest
        if not whole.tool_call_chunks or any(call["name"] != FUNCTION for call in whole.tool_call_chunks):
            raise ModelBroken(Fact("llm.unknown_function"), engine=self.label)
        results = [
            ToolMessage(call["args"] or "{}", tool_call_id=call["id"] or "", name=FUNCTION)
            for call in whole.tool_call_chunks
        ]
        return [AIMessage(whole.content, tool_calls=whole.tool_calls), *results]


class KimiReader(Reader):
    """Passes the text on; the query is in the arguments of the call, for some of the models."""

    def __init__(self) -> None:
        super().__init__()
        self._arguments = ""

    def read(self, chunk: AIMessageChunk) -> Iterator[NativePiece]:
        self._arguments += "".join(call["args"] or "" for call in chunk.tool_call_chunks)
        text = "".join(block.get("text") or "" for block in blocks_of(chunk) if block.get("type") == "text")
        yield from piece_of(text)

    def pause(self) -> Iterator[NativePiece]:
        try:
            query = json.loads(self._arguments).get("query")
        except (ValueError, AttributeError):
            query = None
        self._arguments = ""
        yield from piece_of(queries=[query] if isinstance(query, str) else ())

    def finish(self) -> Iterator[NativePiece]:
        yield from ()
