"""What the model is sent of a conversation: kept short by tokens, and only ever appended to in between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from qiusuo.chat.session import Memory

# Trimming to less than the limit leaves room for some turns, in which the beginning stays the same (prefix caches).
_KEPT_SHARE: Final = 0.6
_WIDE: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_CHARS_PER_TOKEN: Final = 4
_PER_MESSAGE: Final = 4


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: one per Chinese character, one per four others. Errs upwards."""
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // _CHARS_PER_TOKEN)


def message_tokens(message: BaseMessage) -> int:
    """Return about how many tokens a message has, its tool calls included."""
    calls = getattr(message, "tool_calls", None)
    return _PER_MESSAGE + estimate_tokens(message.text) + (estimate_tokens(str(calls)) if calls else 0)


def trim(memory: Memory, budget: int) -> int:
    """Drop the oldest turns from the memory where it is over the budget; return how many were dropped."""
    messages = messages_from_dict(memory.messages)
    sizes = [message_tokens(message) for message in messages]
    total = sum(sizes)
    if total <= budget:
        return 0
    dropped = 0
    starts = sorted(memory.starts.items(), key=lambda entry: entry[1])
    while starts and total > budget * _KEPT_SHARE:
        turn, start = starts.pop(0)
        end = starts[0][1] if starts else len(sizes)
        total -= sum(sizes[start:end])
        del memory.starts[turn]
        dropped += 1
    first = starts[0][1] if starts else len(memory.messages)
    del memory.messages[:first]
    for turn in memory.starts:
        memory.starts[turn] -= first
    return dropped


def recall(memory: Memory, *, tools: bool) -> list[BaseMessage]:
    """Return the messages so far. Without tools, calls and their results are left out: no provider takes them then."""
    messages = messages_from_dict(memory.messages)
    if tools:
        return messages
    return [
        AIMessage(message.text) if isinstance(message, AIMessage) and message.tool_calls else message
        for message in messages
        if not isinstance(message, ToolMessage) and (message.text or not isinstance(message, AIMessage))
    ]


def remember(memory: Memory, turn: str, messages: Sequence[BaseMessage]) -> None:
    """Append what was said in a turn."""
    memory.starts[turn] = len(memory.messages)
    memory.messages.extend(messages_to_dict([_plain(message) for message in messages]))


def _plain(message: BaseMessage) -> BaseMessage:
    """Return a message without what the provider told of it, and without artifacts: the cache has those."""
    kept: dict[str, Any] = {}
    match message:
        case AIMessage():
            return AIMessage(message.text, tool_calls=message.tool_calls)
        case ToolMessage():
            kept = {"tool_call_id": message.tool_call_id, "name": message.name, "status": message.status}
            return ToolMessage(message.text, **kept)
        case _:
            return HumanMessage(message.text)
