"""Turns that wait for the tools of their clients.

Each request brings its conversation along, but not what our own tools have found before the client's were called. It is
kept here for a while, and with Redis for the other servers too; where it is not (a restart), the model goes on with
what the client has sent.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolCall,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from qiusuo.chat.chat import Turn
from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.turns.context import Ask
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone

_MOST: Final = 200
_SHARED_SECONDS: Final = 600
_SHARED_BYTES: Final = 1024 * 1024


class Kept(NamedTuple):
    """The question as the model was sent it, what followed it, and the numbers of the sources."""

    asked: str
    since: tuple[BaseMessage, ...]
    registry: dict[str, Any]
    calls: tuple[ToolCall, ...]


class Pending:
    """The last turns that wait, by their owner and the first call that they wait for."""

    def __init__(self, shared: SharedState | None = None) -> None:
        self._kept: OrderedDict[tuple[str, str], Kept] = OrderedDict()
        self._shared = shared
        self._sharing: set[asyncio.Task[None]] = set()

    def keep(self, owner: str, turn: Turn) -> None:
        """Keep a turn if it waits for the client."""
        if not turn.calls:
            return
        start = turn.memory.starts.get(turn.record.id)
        if start is None:
            return
        question, *since = messages_from_dict(turn.memory.messages[start:])
        registry, calls = turn.memory.registry.to_dict(), tuple(turn.calls)
        kept = Kept(question.text, tuple(since), registry, calls)
        self._kept[owner, str(calls[0]["id"])] = kept
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        if self._shared is not None:
            task = asyncio.create_task(self._share(self._shared, _key(owner, str(calls[0]["id"])), kept))
            self._sharing.add(task)
            task.add_done_callback(self._sharing.discard)

    async def resumed(self, owner: str, ask: Ask, memory: Memory) -> Ask:
        """Return a question with all that has happened since it, if it is known here; the memory knows its sources.

        What is kept stays: a client may ask again.
        """
        since = ask.client.since
        called = max((index for index, message in enumerate(since) if isinstance(message, AIMessage)), default=None)
        if called is None:
            return ask
        call = since[called]
        first = call.tool_calls[0]["id"] if isinstance(call, AIMessage) and call.tool_calls else ""
        kept = self._kept.get((owner, str(first))) or await self._of_others(owner, str(first))
        if kept is None:
            return ask
        memory.registry = CitationRegistry.from_dict(kept.registry)
        answered = {message.tool_call_id: message for message in since[called:] if isinstance(message, ToolMessage)}
        wanted = [str(one["id"]) for one in kept.calls]
        if not set(wanted) <= set(answered):
            return ask
        results = tuple(answered[each] for each in wanted)
        return replace(ask, client=replace(ask.client, since=(*kept.since, *results), asked=kept.asked))

    async def _share(self, shared: SharedState, key: str, kept: Kept) -> None:
        data = orjson.dumps([kept.asked, messages_to_dict(kept.since), kept.registry, kept.calls], default=str)
        if len(data) <= _SHARED_BYTES:
            try:
                await shared.run(lambda redis: redis.set(key, data, ex=_SHARED_SECONDS))
            except SharedStateGone:
                return

    async def _of_others(self, owner: str, call: str) -> Kept | None:
        """Return what another server has kept."""
        if self._shared is None or not call:
            return None
        try:
            data = await self._shared.run(lambda redis: redis.get(_key(owner, call)))
            if data is None or len(data) > _SHARED_BYTES:
                return None
            asked, since, registry, calls = orjson.loads(data)
            CitationRegistry.from_dict(registry)
            waiting = tuple(ToolCall(name=one["name"], args=one["args"], id=one["id"]) for one in calls)
            return Kept(str(asked), tuple(messages_from_dict(since)), registry, waiting)
        except SharedStateGone:
            return None
        except (KeyError, TypeError, ValueError):
            self._shared.odd("a turn that waits for its client, in Redis,")
            return None


def _key(owner: str, call: str) -> str:
    # Neither a user nor an id of a call lies in Redis.
    return f"{PREFIX}pending:{sha256(f'{owner} {call}'.encode('utf-8', 'replace')).hexdigest()}"
