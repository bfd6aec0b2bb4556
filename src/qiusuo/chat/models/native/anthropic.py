"""Search in Anthropic's Messages shape: Claude, and the same endpoint of DeepSeek and MiniMax."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import AIMessageChunk
from langchain_core.runnables import Runnable

from qiusuo.chat.models.native.sources import Numbering, markers
from qiusuo.chat.models.native.stream import Reader, StreamedSearch, blocks_of, copied, piece_of
from qiusuo.chat.models.port import NativePiece
from qiusuo.errors import ModelError, ModelRateLimited, ModelUnavailable
from qiusuo.words import Fact

TOOL_TYPE: Final = "web_search_20250305"
"""The oldest dated type: every model with search takes it, and so do the vendors that copy the endpoint."""

MAX_USES: Final = 5
HELD: Final = 400
"""How much text is held back while no search has succeeded, so that a failed one can still be made good elsewhere."""

_FAILURES: Final[Mapping[str, type[ModelError]]] = {
    "too_many_requests": ModelRateLimited,
    "unavailable": ModelUnavailable,
}
"""Errors that the model cannot mend. A query that is too long, or one search too many, it can."""


class AnthropicSearch(StreamedSearch):
    """The dated server tool ``web_search`` of a Messages endpoint."""

    max_requests: ClassVar[int] = 4

    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        tool = {"type": TOOL_TYPE, "name": "web_search", "max_uses": MAX_USES}
        # Without the usage LangChain drops the reason for the end as well.
        return copied(model, output_version="v0", stream_usage=True).bind_tools([tool])

    def reader(self) -> Reader:
        return AnthropicReader(self.label)

    def follow_up(self, reader: Reader, chunks: Sequence[AIMessageChunk]) -> list[BaseMessage]:
        """A long search pauses the turn: what has come so far goes back as it is, and the answer goes on."""
        if reader.stopped != "pause_turn":
            return []
        first, *rest = chunks
        return [first + rest]


class AnthropicReader(Reader):
    """Reads text blocks, each with the citations that bear it out as a whole."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = label
        self._numbering = Numbering()
        self._index: object = None
        self._cited: list[int | None] = []
        self._blanks = ""
        self._inputs: dict[object, str] = {}
        self._waiting = ""
        self._searched = False
        self._said = False
        self._worked = False

    def read(self, chunk: AIMessageChunk) -> Iterator[NativePiece]:
        for place, block in enumerate(blocks_of(chunk)):
            index = block.get("index", (id(chunk), place))
            kind = block.get("type")
            if index != self._index:
                yield from self._end_block()
                self._index = index
            if kind == "text":
                yield from self._read_text(block)
            elif kind == "server_tool_use" and block.get("name") == "web_search":
                self._worked = True
                asked = block.get("input")
                self._inputs[index] = json.dumps(asked) if asked else ""
            elif kind == "input_json_delta" and index in self._inputs:
                self._inputs[index] += block.get("partial_json") or ""
            elif kind == "web_search_tool_result":
                yield from self._read_results(block.get("content"))

    def pause(self) -> Iterator[NativePiece]:
        yield from self._end_block()
        self._index = None

    def finish(self) -> Iterator[NativePiece]:
        yield from self._end_block()
        self._searched = True
        yield from self._given("")
        yield from piece_of(sources=self._numbering.finish())

    def _read_text(self, block: dict[str, Any]) -> Iterator[NativePiece]:
        text = block.get("text") or ""
        if text and self._said and self._worked:
            yield from self._given("\n\n")
        if text:
            self._said, self._worked = True, False
        # Blanks at the end of a block belong behind its markers.
        text = self._blanks + text
        shown = text.rstrip()
        self._blanks = text[len(shown) :]
        for citation in block.get("citations") or ():
            if isinstance(citation, Mapping):
                known = [citation.get(key) for key in ("url", "title", "cited_text")]
                self._cited.append(self._numbering.cite(*known))
        yield from self._given(shown)

    def _end_block(self) -> Iterator[NativePiece]:
        asked = self._inputs.pop(self._index, "")
        if asked:
            yield from piece_of(queries=_queries(asked))
        text = markers(self._cited) + self._blanks
        self._cited, self._blanks = [], ""
        yield from self._given(text)

    def _read_results(self, content: object) -> Iterator[NativePiece]:
        if isinstance(content, Mapping):
            code = str(content.get("error_code") or "unavailable")
            if (failure := _FAILURES.get(code)) and not self._searched:
                raise failure(Fact("llm.own_search_failed", words=code), engine=self._label)
            return
        for row in content if isinstance(content, list) else ():
            if isinstance(row, Mapping):
                self._numbering.consult(row.get("url"), row.get("title"))
        self._searched = True
        yield from self._given("")

    def _given(self, text: str) -> Iterator[NativePiece]:
        self._waiting += text
        if self._searched or len(self._waiting) > HELD:
            # So much text is an answer: whatever a later search brings, it cannot be taken back.
            self._searched = True
            text, self._waiting = self._waiting, ""
            yield from piece_of(text, sources=self._numbering.take())


def _queries(asked: str) -> list[str]:
    try:
        query = json.loads(asked).get("query")
    except (ValueError, AttributeError):
        return []
    return [query] if isinstance(query, str) and query else []
