"""Perplexity: the Sonar models, which always search, and the tool ``web_search`` of its Agent API (Responses)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages.ai import AIMessageChunk
from langchain_core.runnables import Runnable

from qiusuo.chat.models.native.markers import NumberedText
from qiusuo.chat.models.native.sources import Listed
from qiusuo.chat.models.native.stream import Reader, StreamedSearch, blocks_of, copied, piece_of
from qiusuo.chat.models.port import NativePiece


class PerplexitySearch(StreamedSearch):
    """Sonar models on chat completions as they are; all others with the tool on Responses."""

    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        if str(getattr(model, "model", "")).startswith("sonar"):
            return copied(model, use_responses_api=False)
        return copied(model, use_responses_api=True).bind_tools([{"type": "web_search"}])

    def reader(self) -> Reader:
        return ListedReader("search_results", number_key="id", url_key="url", text_key="snippet")


class ListedReader(Reader):
    """Reads text that refers to a list of results, which a chunk has in ``additional_kwargs[key]``."""

    def __init__(self, key: str, *, number_key: str, url_key: str, text_key: str) -> None:
        super().__init__()
        self._key = key
        self._keys = (number_key, url_key, text_key)
        self._listed = Listed()
        self._text = NumberedText(self._listed.number)

    def read(self, chunk: AIMessageChunk) -> Iterator[NativePiece]:
        extra = chunk.additional_kwargs
        self._listed.add(extra.get(self._key) or [{"url": url} for url in extra.get("citations") or ()], *self._keys)
        text = "".join(block.get("text") or "" for block in blocks_of(chunk) if block.get("type") == "text")
        yield from piece_of(self._text.feed(text), sources=self._listed.take())

    def finish(self) -> Iterator[NativePiece]:
        yield from piece_of(self._text.finish(), sources=self._listed.take())
