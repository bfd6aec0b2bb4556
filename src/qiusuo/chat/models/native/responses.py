"""Search in OpenAI's Responses shape: OpenAI, xAI, Qwen, Doubao, DeepSeek."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages.ai import AIMessageChunk
from langchain_core.runnables import Runnable

from qiusuo.chat.models.native.markers import AnnotatedText
from qiusuo.chat.models.native.sources import Numbering
from qiusuo.chat.models.native.stream import Reader, StreamedSearch, blocks_of, copied, piece_of
from qiusuo.chat.models.port import NativePiece

INCLUDE_SOURCES: Final = "web_search_call.action.sources"
UNWATCHED: Final[dict[str, Any]] = {"stream_chunk_timeout": None}
"""The silence is watched here. ChatOpenAI's own watch may lose a cancellation (``asyncio.wait_for`` of Python 3.11)."""


class ResponsesSearch(StreamedSearch):
    """The built-in tool ``web_search`` of a Responses endpoint.

    Args:
        provider: whose search it is.
        label: its name in errors.
        located: whether the place of the search can be left open; OpenAI else takes the United States.
        include: whether the pages that were looked at can be asked for; some refuse the request then.
    """

    def __init__(self, provider: str, label: str, *, located: bool = False, include: bool = False) -> None:
        super().__init__(provider, label)
        self._located = located
        self._include = include

    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        """Bind the tool; the copy always talks to ``/responses``, whatever the model was set to."""
        tool: dict[str, Any] = {"type": "web_search"}
        if self._located:
            tool["user_location"] = {"type": "approximate"}
        extra: dict[str, Any] = {"include": [INCLUDE_SOURCES]} if self._include else {}
        return _responding(model).bind_tools([tool], **extra)

    def reader(self) -> Reader:
        return ResponsesReader()


def _responding(model: BaseChatModel) -> BaseChatModel:
    changes = {"use_responses_api": True, "output_version": "responses/v1", **UNWATCHED}
    if type(model).__module__.partition(".")[0] in {"langchain_openai", "langchain_xai", "qiusuo"}:
        return copied(model, **changes)
    # Other children of ChatOpenAI (ChatDeepSeek, ChatQwen) override the request and fail on Responses payloads: the
    # parent class takes over their settings and connections.
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - an extra

    return ChatOpenAI(**settings_of(model, ChatOpenAI) | changes)


def settings_of(model: BaseChatModel, kind: type[BaseChatModel]) -> dict[str, Any]:
    """Return the settings and connections of a model that another class has as well."""
    return {name: getattr(model, name) for name in model.model_fields_set if name in kind.model_fields}


class ResponsesReader(Reader):
    """Reads text blocks with annotations and the calls of the search."""

    def __init__(self) -> None:
        super().__init__()
        self._numbering = Numbering()
        self._text: AnnotatedText | None = None
        self._block: object = None
        self._skipped: set[object] = set()
        self._said = False

    def read(self, chunk: AIMessageChunk) -> Iterator[NativePiece]:
        for place, block in enumerate(blocks_of(chunk)):
            match block.get("type"):
                case "text":
                    yield from self._read_text(block, block.get("index", (id(chunk), place)))
                case "refusal":
                    # The model's own words, in the language of the question: an answer, not a failure.
                    yield from self._given(str(block.get("refusal") or ""))
                case "web_search_call":
                    yield from self._read_call(block)

    def finish(self) -> Iterator[NativePiece]:
        yield from self._end_block()
        yield from piece_of(sources=self._numbering.finish())

    def _read_text(self, block: dict[str, Any], index: object) -> Iterator[NativePiece]:
        # What the model says while it is still at work ("I will look that up") is no part of the answer.
        if block.get("phase") == "commentary":
            self._skipped.add(index)
        if index in self._skipped:
            return
        if self._text is None or index != self._block:
            yield from self._end_block()
            self._text, self._block = AnnotatedText(self._numbering), index
            if self._said:
                yield from self._given("\n\n")
        self._text.feed(block.get("text") or "")
        for annotation in block.get("annotations") or ():
            if isinstance(annotation, dict) and annotation.get("type") in {"url_citation", "citation"}:
                self._text.annotate(annotation)
        yield from self._given(self._text.release())

    def _end_block(self) -> Iterator[NativePiece]:
        if self._text is not None:
            yield from self._given(self._text.release(final=True))
            self._text = None

    def _given(self, text: str) -> Iterator[NativePiece]:
        self._said = self._said or bool(text)
        yield from piece_of(text, sources=self._numbering.take())

    def _read_call(self, block: dict[str, Any]) -> Iterator[NativePiece]:
        action = block.get("action")
        if not isinstance(action, Mapping):
            return
        for source in action.get("sources") or ():
            if isinstance(source, Mapping):
                self._numbering.consult(source.get("url"), source.get("title"))
        if action.get("type") == "search":
            asked = action.get("queries") or [action.get("query")]
            yield from piece_of(queries=[each for each in asked if isinstance(each, str) and each])
        elif action.get("type") == "open_page":
            self._numbering.consult(action.get("url"))
