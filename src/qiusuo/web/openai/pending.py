"""Turns that wait for the tools of their clients.

Each request brings its conversation along, but not what our own tools have found before the client's were called. It is
kept here for a while; where it is not (another server, a restart), the model goes on with what the client has sent.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage, messages_from_dict

from qiusuo.chat.chat import Turn
from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.turns.context import Ask
from qiusuo.citations.linking.registry import CitationRegistry

_MOST: Final = 200


class Kept(NamedTuple):
    """The question as the model was sent it, what followed it, and the numbers of the sources."""

    asked: str
    since: tuple[BaseMessage, ...]
    registry: dict[str, Any]
    calls: tuple[ToolCall, ...]


class Pending:
    """The last turns that wait, by their owner and the first call that they wait for."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Kept] = OrderedDict()

    def keep(self, owner: str, turn: Turn) -> None:
        """Keep a turn if it waits for the client."""
        if not turn.calls:
            return
        start = turn.memory.starts.get(turn.record.id)
        if start is None:
            return
        question, *since = messages_from_dict(turn.memory.messages[start:])
        registry, calls = turn.memory.registry.to_dict(), tuple(turn.calls)
        self._kept[owner, str(calls[0]["id"])] = Kept(question.text, tuple(since), registry, calls)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def resumed(self, owner: str, ask: Ask, memory: Memory) -> Ask:
        """Return a question with all that has happened since it, if it is known here; the memory knows its sources.

        What is kept stays: a client may ask again.
        """
        since = ask.client.since
        called = max((index for index, message in enumerate(since) if isinstance(message, AIMessage)), default=None)
        if called is None:
            return ask
        call = since[called]
        first = call.tool_calls[0]["id"] if isinstance(call, AIMessage) and call.tool_calls else ""
        kept = self._kept.get((owner, str(first)))
        if kept is None:
            return ask
        memory.registry = CitationRegistry.from_dict(kept.registry)
        answered = {message.tool_call_id: message for message in since[called:] if isinstance(message, ToolMessage)}
        wanted = [str(one["id"]) for one in kept.calls]
        if not set(wanted) <= set(answered):
            return ask
        results = tuple(answered[each] for each in wanted)
        return replace(ask, client=replace(ask.client, since=(*kept.since, *results), asked=kept.asked))
