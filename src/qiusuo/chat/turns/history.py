"""What the model is sent of a conversation: kept short by tokens, and only ever appended to in between."""

from __future__ import annotations

import json
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
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from qiusuo.chat.sessions.session import Memory
from qiusuo.citations.linking.references import LINK
from qiusuo.text import truncate

# Trimming to less than the limit leaves room for some turns, in which the beginning stays the same (prefix caches).
_KEPT_SHARE: Final = 0.6
_WIDE: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
CHARS_PER_TOKEN: Final = 4
_PER_MESSAGE: Final = 4


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: one per Chinese character, one per four others. Errs upwards."""
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // CHARS_PER_TOKEN)


def message_tokens(message: BaseMessage) -> int:
    """Return about how many tokens a message has, its tool calls included."""
    calls = getattr(message, "tool_calls", None)
    return _PER_MESSAGE + estimate_tokens(message.text) + (estimate_tokens(str(calls)) if calls else 0)


def tool_tokens(tools: Sequence[BaseTool | dict[str, Any]]) -> int:
    """Return about how many tokens it takes to tell a model of its tools."""
    return sum(estimate_tokens(json.dumps(convert_to_openai_tool(tool), ensure_ascii=False)) for tool in tools)


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
    return messages if tools else _spoken(messages)


def as_words(messages: Sequence[BaseMessage], budget: int) -> tuple[list[BaseMessage], str]:
    """Return messages without tool calls, and as plain text what the tools have returned since the last question.

    For a model that may call no more tools: providers refuse calls and results in a request that offers none. Results
    of more tokens than the budget are all cut by the same share.
    """
    last = max((index for index, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
    results = [message.text for message in messages[last:] if isinstance(message, ToolMessage)]
    share = budget / max(sum(map(estimate_tokens, results)), budget, 1)
    return _spoken(messages), "\n\n".join(shortened(text, share) for text in results)


def with_shorter_results(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return messages in which what tools have returned is half as long."""
    return [
        message.model_copy(update={"content": shortened(message.text, 1 / 2)})
        if isinstance(message, ToolMessage)
        else message
        for message in messages
    ]


def shortened(text: str, share: float) -> str:
    """Return that share of a tool's text. Its last line stays: it tells where the words of others end."""
    if share >= 1:
        return text
    body, _, end = text.rpartition("\n")
    return f"{truncate(body, int(len(body) * share))}\n{end}" if body else truncate(text, int(len(text) * share))


def _spoken(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    spoken: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and not message.text):
            continue
        if not isinstance(message, AIMessage):
            spoken.append(message)
        elif spoken and isinstance(spoken[-1], AIMessage):
            # What was said before a search and after it: many templates take no role twice in a row.
            spoken[-1] = AIMessage(f"{spoken[-1].text}\n\n{message.text}")
        else:
            spoken.append(AIMessage(message.text))
    return spoken


def remember(memory: Memory, turn: str, messages: Sequence[BaseMessage]) -> None:
    """Append what was said in a turn."""
    memory.starts[turn] = len(memory.messages)
    memory.messages.extend(messages_to_dict([_plain(message) for message in messages]))


def without_links(answer: str) -> str:
    """Return an answer with plain markers in the place of links: the model is not to learn to write them itself."""
    return LINK.sub(r"[\1]", answer)


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
