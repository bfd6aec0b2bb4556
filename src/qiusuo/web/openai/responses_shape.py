"""Answers as ``/v1/responses`` gives them: whole, and as a stream of numbered events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from qiusuo.chat.events.turn import Done
from qiusuo.web.openai.shape import Completion

_TEXT = {"type": "output_text", "annotations": [], "logprobs": []}


@dataclass(slots=True)
class ResponsesAnswer:
    """One answer on its way to the client."""

    completion: Completion
    keep: Callable[[list[dict[str, Any]]], None]
    items: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 0
    _speaks: bool = False

    @property
    def _id(self) -> str:
        return f"msg_{self.completion.ask.id}"

    def whole(self, done: Done) -> dict[str, Any]:
        """Return the answer at once."""
        text = done.answer + self.completion.tail(done)
        self.items = [*([self._message(text, done.answer)] if text else []), *self._calls()]
        self.keep(self.items)
        return self._response(done)

    def beginning(self) -> bytes:
        """Return the first events."""
        begun = self._response(None)
        return self._event("response.created", response=begun) + self._event("response.in_progress", response=begun)

    def piece(self, text: str) -> bytes:
        """Return the events of the next piece of the answer."""
        opening = b"" if self._speaks else self._open()
        self._speaks = True
        place = {"item_id": self._id, "output_index": 0, "content_index": 0}
        return opening + self._event("response.output_text.delta", **place, delta=text, logprobs=[])

    def ending(self, streamed: str, done: Done) -> list[bytes]:
        """Return the events after the text that was streamed."""
        events: list[bytes] = []
        tail = self.completion.tail(done)
        if tail:
            events.append(self.piece(tail))
        if self._speaks:
            message = self._message(streamed + tail, streamed)
            self.items.append(message)
            events += self._close(message)
        for call in self._calls():
            place = {"item_id": call["id"], "output_index": len(self.items)}
            self.items.append(call)
            begun = {**call, "arguments": "", "status": "in_progress"}
            events += [
                self._event("response.output_item.added", output_index=place["output_index"], item=begun),
                self._event("response.function_call_arguments.delta", **place, delta=call["arguments"]),
                self._event(
                    "response.function_call_arguments.done", **place, name=call["name"], arguments=call["arguments"]
                ),
                self._event("response.output_item.done", output_index=place["output_index"], item=call),
            ]
        self.keep(self.items)
        last = self._response(done)
        return [*events, self._event(f"response.{last['status']}", response=last)]

    def failed(self, error: dict[str, Any]) -> bytes:
        """Return an error that comes in the middle of a stream."""
        told = error["error"]
        failed = {**self._response(None), "status": "failed"}
        failed["error"] = {"code": told["code"] or "server_error", "message": told["message"]}
        about = {"code": told["code"], "message": told["message"], "param": told["param"]}
        return self._event("error", **about) + self._event("response.failed", response=failed)

    def _open(self) -> bytes:
        item = {"type": "message", "id": self._id, "status": "in_progress", "role": "assistant", "content": []}
        part = {**_TEXT, "text": ""}
        return self._event("response.output_item.added", output_index=0, item=item) + self._event(
            "response.content_part.added", item_id=self._id, output_index=0, content_index=0, part=part
        )

    def _close(self, message: dict[str, Any]) -> list[bytes]:
        part = message["content"][0]
        place = {"item_id": self._id, "output_index": 0, "content_index": 0}
        marks = [
            self._event("response.output_text.annotation.added", **place, annotation_index=index, annotation=mark)
            for index, mark in enumerate(part["annotations"])
        ]
        return [
            *marks,
            self._event("response.output_text.done", **place, text=part["text"], logprobs=[]),
            self._event("response.content_part.done", **place, part=part),
            self._event("response.output_item.done", output_index=0, item=message),
        ]

    def _message(self, text: str, answer: str) -> dict[str, Any]:
        marks = [{"type": mark["type"], **mark["url_citation"]} for mark in self.completion.annotations(answer)]
        content = [{**_TEXT, "text": text, "annotations": marks}]
        return {"type": "message", "id": self._id, "status": "completed", "role": "assistant", "content": content}

    def _calls(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "function_call",
                "id": f"fc_{call['id']}",
                "call_id": call["id"],
                "name": call["name"],
                "arguments": orjson.dumps(call["args"]).decode(),
                "status": "completed",
            }
            for call in self.completion.turn.calls
        ]

    def _response(self, done: Done | None) -> dict[str, Any]:
        finish = self.completion.finish(done) if done is not None else ""
        reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
        cut = {"reason": reasons[finish]} if finish in reasons else None
        status = "in_progress" if done is None else "incomplete" if cut else "completed"
        return {
            "id": f"resp_{self.completion.ask.id}",
            "object": "response",
            "created_at": self.completion.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": cut,
            "instructions": None,
            "max_output_tokens": None,
            "metadata": {},
            "model": self.completion.model,
            "output": list(self.items),
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "temperature": None,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "truncation": "disabled",
            "usage": self._usage(done) if done is not None else None,
            "user": None,
            **(self.completion.found() if done is not None else {}),
        }

    def _usage(self, done: Done) -> dict[str, Any]:
        told = self.completion.usage(done)
        return {
            "input_tokens": told["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": told["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": told["total_tokens"],
        }

    def _event(self, kind: str, **more: Any) -> bytes:
        data = orjson.dumps({"type": kind, "sequence_number": self._number, **more})
        self._number += 1
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), data)
