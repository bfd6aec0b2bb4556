"""Faults that turns once had: stopping at the wrong moment, broken models, histories that providers refuse."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from chat_world import AGENT, SEARCH, ChatWorld
from native_servers import Annotation, Searched, models_are_closed, openai_model, responses, said
from qiusuo.chat.chat import Chat
from qiusuo.chat.context import Ask
from qiusuo.chat.conversations import Conversations
from qiusuo.chat.events import Delta, Done, Notice, RoundState, TurnState
from qiusuo.chat.history import recall, remember
from qiusuo.chat.models import model_from
from qiusuo.chat.port import ModelInfo
from qiusuo.chat.session import Memory
from qiusuo.chat.store import open_store
from qiusuo.chat.text_calls import CallFilter
from scripted_model import Call, Gate, Reply

__all__ = ["models_are_closed"]  # a fixture

OWNER = "local"


def search(query: str) -> Call:
    return Call("web_search", {"query": query})


async def begun(world: ChatWorld, question: str = "你好") -> tuple[Conversations, str, Any]:
    """Return conversations, and a turn of one that has just been asked for."""
    conversations = Conversations(world.chat, open_store(":memory:"))
    session = (await conversations.store.create(OWNER, settings=SEARCH)).id
    return conversations, session, await conversations.send(OWNER, session, question)


class TestStopping:
    @pytest.mark.parametrize("steps", [0, 1, 2])
    async def test_a_turn_that_is_stopped_before_its_work_began_ends(self, steps: int) -> None:
        async with ChatWorld(Reply.hang(), Reply.hang()) as world:
            conversations, session, live = await begun(world)
            for _ in range(steps):
                await asyncio.sleep(0)
            live.stop()
            async with asyncio.timeout(5):
                heard = [event async for batch in live.follow() for _, event in batch]
            assert isinstance(heard[-1], Done)
            assert heard[-1].state is TurnState.STOPPED
            assert (await conversations.store.get(OWNER, session)).running is None
            await conversations.aclose()

    async def test_a_search_that_was_stopped_does_not_look_as_if_it_ran(self) -> None:
        async with ChatWorld() as world:
            world.world["searxng"].hang()
            turn = world.chat.turn(Ask("你好", SEARCH), world.memory)
            heard = []
            async for event in turn.events():
                heard.append(event)
                if event.type == "status":
                    turn.stop()
            assert turn.record.state is TurnState.STOPPED
            assert [each["state"] for each in turn.record.rounds] == [RoundState.FAILED.value]
            assert heard[-1].type == "done"
