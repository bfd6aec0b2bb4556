"""Recognises tool calls that a model writes as text instead of making them.

Small models, and large ones behind a template that is not theirs, answer ``{"name": "web_search", "arguments":
{"query": "…"}}``: bare, fenced as JSON, or between ``<tool_call>`` marks. Such text is held back while it streams in,
so that no reader sees it; what turns out to be something else is given out after all.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator
from typing import Any, Final

from langchain_core.messages import ToolCall

# Where a call may begin: at the start of a line.
_BEGIN: Final = re.compile(
    r"(?<=\n)[ \t]*(?:<tool_call>|<\|tool_call\|>|<\|python_tag\|>|\[TOOL_CALLS\]"
    r"|(?:```(?:json|tool_call|tool_code|tool)?[ \t]*\n\s*)?\[?\s*\{(?=\s*(?:\"|\Z)))"
)
# What may grow into such a beginning.
_MAY_BEGIN: Final = re.compile(
    r"(?<=\n)[ \t]*(?:`{1,2}|```[a-z_]*[ \t]*|```(?:json|tool_call|tool_code|tool)?[ \t]*\n\s*\[?\s*"
    r"|<\|?[a-z_]*\|?|\[[A-Z_]*|\[\s*)?$"
)
_NAMES: Final = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
_WRAPPING: Final = re.compile(r"```[a-z_]*|</?tool_call>|<\|[a-z_]+\|>|\[/?TOOL_CALLS\]")
_LONGEST_CALL: Final = 20_000


class CallFilter:
    """Takes the pieces of a message, gives back what is no tool call; ``finish`` returns the rest and the calls."""

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = tools
        self._held = ""
        self._last = "\n"  # the character before what is held

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that is certain to be no call."""
        if not self._tools:
            return piece
        self._held += piece
        text = self._last + self._held
        begin = _BEGIN.search(text)
        if begin is not None and "}" in piece and self._is_something_else(begin.end() - 1):
            return self._release(len(self._held))
        begin = begin or _MAY_BEGIN.search(text)
        if begin is None or len(text) - begin.start() > _LONGEST_CALL:
            return self._release(len(self._held))
        return self._release(begin.start() - 1)

    def _is_something_else(self, position: int) -> bool:
        """Tell whether whole JSON is held that calls no tool: an example in the answer, say."""
        start = self._held.find("{", max(position - 1, 0))
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(self._held, start)
        except ValueError:
            return False
        return _call(value, self._tools) is None

    def _release(self, until: int) -> str:
        released, self._held = self._held[:until], self._held[until:]
        if released:
            self._last = released[-1]
        return released

    def finish(self) -> tuple[str, list[ToolCall]]:
        """End the message; return the text that was held back for nothing, and the calls that were in it."""
        held, self._held = self._held, ""
        calls = list(calls_in(held, self._tools)) if held else []
        return ("" if calls else held), calls


def calls_in(text: str, tools: Collection[str]) -> Iterator[ToolCall]:
    """Return the tool calls that are written in a text, of these tools only."""
    decoder = json.JSONDecoder(strict=False)
    text = _WRAPPING.sub(" ", text)
    position = 0
    while (position := _next_brace(text, position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, position)
        except ValueError:
            position += 1
            continue
        for entry in value if isinstance(value, list) else [value]:
            call = _call(entry, tools)
            if call is not None:
                yield call


def _next_brace(text: str, start: int) -> int:
    found = [index for index in (text.find("{", start), text.find("[", start)) if index >= 0]
    return min(found, default=-1)


def _call(value: Any, tools: Collection[str]) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in _NAMES if key in value), None)
    if isinstance(name, dict):  # OpenAI's shape: {"function": {"name": …, "arguments": …}}
        return _call(name, tools)
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {"query": arguments}
    if not isinstance(name, str) or name not in tools or not isinstance(arguments, dict):
        return None
    return ToolCall(name=name, args=arguments, id=f"text_{secrets.token_hex(6)}", type="tool_call")
