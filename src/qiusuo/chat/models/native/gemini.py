"""Search with Google in Gemini's shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages.ai import AIMessageChunk
from langchain_core.runnables import Runnable

from qiusuo.chat.models.native.sources import Numbering, markers
from qiusuo.chat.models.native.stream import Reader, StreamedSearch, blocks_of, copied, piece_of
from qiusuo.chat.models.port import NativePiece


class GeminiSearch(StreamedSearch):
    """The tool ``google_search``."""

    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        # LangChain writes into the dict that it is given: this one is made for the call.
        return copied(model, output_version="v0").bind_tools([{"google_search": {}}])

    def reader(self) -> Reader:
        return GeminiReader()


class GeminiReader(Reader):
    """Keeps the text until its end: which sentence rests on which page is told only then.

    Citations are the point of a searched answer, so they come before the pleasure of watching it being written.
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._grounding: list[Mapping[str, Any]] = []
        self._asked: list[str] = []

    def read(self, chunk: AIMessageChunk) -> Iterator[NativePiece]:
        self._text += "".join(block.get("text") or "" for block in blocks_of(chunk) if block.get("type") == "text")
        found = chunk.response_metadata.get("grounding_metadata")
        if isinstance(found, Mapping):
            self._grounding.append(found)
            fresh = [query for query in _rows(found, "web_search_queries", str) if query not in self._asked]
            self._asked += fresh
            yield from piece_of(queries=fresh)

    def finish(self) -> Iterator[NativePiece]:
        numbering = Numbering()
        cited: dict[int, list[int | None]] = {}
        chunks: list[Any] = []
        for grounding in self._grounding:
            chunks = _rows(grounding, "grounding_chunks", Mapping) or chunks
            for support in sorted(_rows(grounding, "grounding_supports", Mapping), key=_end):
                place = self._end_of(support.get("segment") or {})
                numbers = [
                    numbering.cite(*_page(chunks[index]))
                    for index in _rows(support, "grounding_chunk_indices", int)
                    if 0 <= index < len(chunks)
                ]
                if place is not None:
                    cited.setdefault(place, []).extend(numbers)
            for chunk in chunks:
                numbering.consult(*_page(chunk))
        text, done = "", 0
        for place, numbers in sorted(cited.items()):
            text += self._text[done:place] + markers(sorted(number for number in numbers if number is not None))
            done = place
        yield from piece_of(text + self._text[done:], sources=numbering.finish())

    def _end_of(self, segment: Mapping[str, Any]) -> int | None:
        """Return where a segment ends in the text; None if it is not in it."""
        words = str(segment.get("text") or "")
        # Offsets count bytes of UTF-8, and within one part of the answer: they hold only where the words agree.
        raw = self._text.encode()
        start, end = segment.get("start_index") or 0, segment.get("end_index") or 0
        if end and (not words or raw[start:end] == words.encode()):
            return len(raw[:end].decode(errors="ignore"))
        found = self._text.find(words) if words else -1
        return None if found < 0 else found + len(words)


def _page(chunk: Mapping[str, Any]) -> tuple[Any, Any]:
    web = chunk.get("web") or {}
    # The address is a redirect of Google's; the title is the domain that it leads to.
    return web.get("uri"), web.get("title") or web.get("domain")


def _end(support: Mapping[str, Any]) -> int:
    return int((support.get("segment") or {}).get("end_index") or 0)


def _rows(data: Mapping[str, Any], key: str, kind: type) -> list[Any]:
    return [row for row in data.get(key) or () if isinstance(row, kind)]
