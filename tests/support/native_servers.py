"""Answers of providers whose models search by themselves, each in its own shape, and models that ask for them.

The replies go into a :class:`scripted_model.ScriptedModel`; the models are those of :mod:`native_models`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.native_models import (
    QUESTION,
    Heard,
    anthropic_model,
    failure,
    gemini_model,
    hear,
    info,
    models_are_closed,
    openai_model,
    perplexity_model,
    search_of,
    xai_model,
)
from tests.support.scripted_model import Gate, Reply

__all__ = [
    "QUESTION",
    "Heard",
    "anthropic_model",
    "failure",
    "gemini_model",
    "hear",
    "info",
    "models_are_closed",
    "openai_model",
    "perplexity_model",
    "search_of",
    "xai_model",
]

# OpenAI's Responses, which xAI, Qwen, Doubao and DeepSeek speak as well.


@dataclass(frozen=True)
class Annotation:
    """A citation of the last ``marker`` in the text so far; without a marker, of the given place."""

    url: str
    title: str = ""
    marker: str = ""
    start: int = 0
    end: int = 0

    def written(self, text: str) -> dict[str, Any]:
        start = text.rindex(self.marker) if self.marker else self.start
        end = start + len(self.marker) if self.marker else self.end
        return {
            "type": "url_citation",
            "url": self.url,
            "title": self.title,
            "start_index": start,
            "end_index": end,
        }


@dataclass(frozen=True)
class Said:
    """A message of a response: text in deltas, with annotations and gates between them."""

    parts: tuple[str | Annotation | Gate, ...]
    phase: str = ""

    @property
    def text(self) -> str:
        return "".join(part for part in self.parts if isinstance(part, str))

    def item(self, number: int) -> dict[str, Any]:
        text = self.text
        notes = [part.written(text) for part in self.parts if isinstance(part, Annotation)]
        content = [{"type": "output_text", "text": text, "annotations": notes}]
        phase = {"phase": self.phase} if self.phase else {}
        return {
            "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content,
        } | phase  # fmt: skip

    def events(self, number: int) -> Iterator[Any]:
        item = self.item(number)
        place = {"output_index": number, "content_index": 0, "item_id": item["id"]}
        empty = {**item, "content": [], "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": number, "item": empty}
        part = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **place, "part": part}
        text, notes = "", 0
        for each in self.parts:
            if isinstance(each, str):
                text += each
                yield {"type": "response.output_text.delta", **place, "delta": each, "logprobs": []}
            elif isinstance(each, Annotation):
                note = {"annotation_index": notes, "annotation": each.written(text)}
                yield {"type": "response.output_text.annotation.added", **place, **note}
                notes += 1
            else:
                yield each
        yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
        yield {"type": "response.output_item.done", "output_index": number, "item": item}


@dataclass(frozen=True)
class Searched:
    """A search of a response; ``urls`` are the pages that were looked at."""

    query: str
    urls: tuple[str, ...] = ()

    def item(self, number: int) -> dict[str, Any]:
        sources = [{"type": "url", "url": url} for url in self.urls]
        action = {"type": "search", "query": self.query, "queries": [self.query], "sources": sources}
        return {"type": "web_search_call", "id": f"ws_{number}", "status": "completed", "action": action}

    def events(self, number: int) -> Iterator[Any]:
        item = self.item(number)
        started = {"type": "web_search_call", "id": item["id"], "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": number, "item": started}
        about = {"output_index": number, "item_id": item["id"]}
        yield {"type": "response.web_search_call.searching", **about}
        yield {"type": "response.output_item.done", "output_index": number, "item": item}


@dataclass(frozen=True)
class Refused:
    """A refusal of the model, in its own words."""

    words: str

    def item(self, number: int) -> dict[str, Any]:
        content = [{"type": "refusal", "refusal": self.words}]
        return {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }

    def events(self, number: int) -> Iterator[Any]:
        place = {"output_index": number, "content_index": 0, "item_id": f"msg_{number}"}
        yield {"type": "response.refusal.delta", **place, "delta": self.words}
        yield {"type": "response.refusal.done", **place, "refusal": self.words}


Item = Said | Searched | Refused


def said(*parts: str | Annotation | Gate, phase: str = "") -> Said:
    return Said(parts, phase)


def response_of(items: Sequence[Item], status: str = "completed", **fields: Any) -> dict[str, Any]:
    """The whole response, as it comes without streaming and at the end of a stream."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": [item.item(number) for number, item in enumerate(items)],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": 11,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 18,
        },
        **fields,
    }


def responses(*items: Item, stream: bool = True, ends: bool = True, **fields: Any) -> Reply:
    """A response in OpenAI's shape, streamed or whole."""
    whole = response_of(items, **fields)
    if not stream:
        return Reply.body(whole)
    events: list[Any] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for number, item in enumerate(items):
        events += item.events(number)
    if ends:
        kind = "response.completed" if whole["status"] == "completed" else "response.incomplete"
        events.append({"type": kind, "response": whole})
    return Reply.events(*_numbered(events))


def failed_response(code: str, message: str) -> Reply:
    """HTTP 200, and then an error in the stream."""
    whole = response_of([], status="failed", error={"code": code, "message": message})
    start = {"type": "response.created", "response": {**whole, "status": "in_progress", "error": None}}
    return Reply.events(*_numbered([start, {"type": "response.failed", "response": whole}]))


def _numbered(events: Sequence[Any]) -> Iterator[Any]:
    for number, event in enumerate(events):
        named = isinstance(event, Mapping)
        yield (event["type"], {**event, "sequence_number": number}) if named else event


# Anthropic's Messages.


def cited(*texts: str, by: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """A text block, in deltas, with its citations (``url``, ``title``, ``cited_text``)."""
    notes = [{"type": "web_search_result_location", "encrypted_index": "Eo8BCio=", **each} for each in by]
    return {"type": "text", "texts": texts, "citations": notes}


def asks(query: str, number: int = 1) -> dict[str, Any]:
    return {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "web_search", "input": {"query": query}}


def found(*pages: tuple[str, str], number: int = 1) -> dict[str, Any]:
    rows = [
        {"type": "web_search_result", "url": url, "title": title, "encrypted_content": "EqgfCio=", "page_age": None}
        for url, title in pages
    ]
    return {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number}", "content": rows}


def not_found(code: str, number: int = 1) -> dict[str, Any]:
    """The search has failed, inside HTTP 200."""
    error = {"type": "web_search_tool_result_error", "error_code": code}
    return {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number}", "content": error}


def claude(*blocks: dict[str, Any], stop: str = "end_turn", stream: bool = True, ends: bool = True) -> Reply:
    """A message in Anthropic's shape, streamed or whole."""
    usage = {"input_tokens": 11, "output_tokens": 7}
    head = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "stop_sequence": None,
    }  # fmt: skip
    if not stream:
        return Reply.body({**head, "content": [_whole_block(b) for b in blocks], "stop_reason": stop, "usage": usage})
    start: dict[str, Any] = {**head, "content": [], "stop_reason": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        events += _block_events(index, block)
    if ends:
        delta = {"stop_reason": stop, "stop_sequence": None}
        events += [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return Reply.events(*((event["type"], event) for event in events))


def _whole_block(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] != "text":
        return block
    return {"type": "text", "text": "".join(block["texts"]), "citations": block["citations"] or None}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start: dict[str, Any] = {"type": "text", "text": ""} if block["type"] == "text" else block
    deltas: list[dict[str, Any]] = []
    if block["type"] == "text":
        deltas = [{"type": "citations_delta", "citation": each} for each in block["citations"]]
        deltas += [{"type": "text_delta", "text": text} for text in block["texts"]]
    elif block["type"] == "server_tool_use":
        start = {**block, "input": {}}
        query = block["input"]["query"]
        parts = ('{"que', f'ry": "{query[:2]}', f'{query[2:]}"}}')
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


# Gemini.


def support(text: str, words: str, *chunks: int) -> dict[str, Any]:
    """A grounding support with Google's offsets: bytes of UTF-8, the end not included."""
    start = len(text[: text.index(words)].encode())
    segment: dict[str, Any] = {"endIndex": start + len(words.encode()), "text": words}
    # Zeros are left out on the wire.
    return {"segment": segment | ({"startIndex": start} if start else {}), "groundingChunkIndices": [*chunks]}


def grounding(
    queries: Sequence[str] = (), pages: Sequence[tuple[str, str]] = (), supports: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    return {
        "webSearchQueries": [*queries],
        "groundingChunks": [{"web": {"uri": uri, "title": title}} for uri, title in pages],
        "groundingSupports": [*supports],
        "searchEntryPoint": {"renderedContent": "<div>…</div>"},
    }


def gemini(
    *texts: str, grounded: dict[str, Any] | None = None, finish: str | None = "STOP", stream: bool = True
) -> Reply:
    """An answer in Gemini's shape; the grounding comes with the last chunk."""
    rows = []
    for number, text in enumerate(texts or ("",)):
        last = number == len(texts or ("",)) - 1
        candidate: dict[str, Any] = {
            "index": 0,
            "content": {"role": "model", "parts": [{"text": text}] if text else []},
        }
        if last and finish:
            candidate["finishReason"] = finish
        if last and grounded:
            candidate["groundingMetadata"] = grounded
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        rows.append({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"})
    return Reply.events(*rows) if stream else Reply.body(rows[0])


def google_error(status: int, code: str) -> Reply:
    return Reply.body({"error": {"code": status, "message": "It went wrong.", "status": code}}, status)


# Lists of results beside the text: Perplexity, Zhipu.


def perplexity_agent(*texts: str, results: Sequence[dict[str, Any]] = (), ends: bool = True) -> Reply:
    """An answer of Perplexity's Agent API."""
    whole = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "openai/gpt-5", "status": "completed",
        "output": [], "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
    }  # fmt: skip
    place = {"output_index": 1, "content_index": 0, "item_id": "msg_1"}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress"}},
        {"type": "response.reasoning.search_results", "results": [*results]},
        *({"type": "response.output_text.delta", **place, "delta": text} for text in texts),
    ]
    if ends:
        events.append({"type": "response.completed", "response": whole})
    return Reply.events(*_numbered(events))


def completion_chunks(
    *texts: str, first: Mapping[str, Any] = {}, last: Mapping[str, Any] = {}, ends: bool = True
) -> Reply:
    """A stream of chat completions with fields beside ``choices`` in its first or its last chunk."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}

    rows: list[Any] = [chunk({"role": "assistant", "content": ""}, **first)]
    rows += [chunk({"content": text}) for text in texts]
    if ends:
        rows += [chunk({}, "stop", **last), "[DONE]"]
    return Reply.events(*rows)
