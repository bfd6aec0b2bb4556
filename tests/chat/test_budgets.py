"""All that a request has fits into the model, and only what the model was shown can be a source."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qiusuo.chat.chat import Chat
from qiusuo.chat.turns.history import estimate_tokens
from tests.support.chat_world import AGENT, SEARCH, ChatWorld, scripted
from tests.support.scripted_model import Asked, Call, Reply

ROOM = 4096
LEFT_FOR_THE_ANSWER = ROOM // 4
HOUSE_RULES = "一律使用敬语。" * 200


def small(world: ChatWorld) -> ChatWorld:
    """Give the world a model with little room."""
    world.chat = Chat(world.world.service, scripted(world.model, context_tokens=ROOM))
    return world


def tokens(asked: Asked) -> int:
    tools: list[Any] = asked.body.get("tools") or []
    return estimate_tokens(asked.prompt) + sum(estimate_tokens(json.dumps(tool, ensure_ascii=False)) for tool in tools)


class TestRoom:
    @pytest.mark.parametrize("system", ["", HOUSE_RULES], ids=["own", "more"])
    async def test_chat_counts_its_rules(self, system: str) -> None:
        async with small(ChatWorld(*[Reply.text("答" * 300) for _ in range(12)])) as world:
            for number in range(12):
                await world.ask(f"第{number}个问题", SEARCH, system=system)
            sizes = [tokens(asked) for asked in world.model.requests]
        assert max(sizes) <= ROOM - LEFT_FOR_THE_ANSWER
        assert max(sizes) > ROOM // 2  # and what room there is, is used

    @pytest.mark.parametrize("system", ["", HOUSE_RULES], ids=["own", "more"])
    async def test_the_agent_counts_its_tools_too(self, system: str) -> None:
        async with small(ChatWorld(*[Reply.text("答" * 300) for _ in range(12)])) as world:
            for number in range(12):
                await world.ask(f"第{number}个问题", AGENT, system=system)
            sizes = [tokens(asked) for asked in world.model.requests]
        assert max(sizes) <= ROOM - LEFT_FOR_THE_ANSWER

    async def test_results_of_the_last_round_leave_room_for_the_rules(self) -> None:
        queries = [Call("web_search", {"query": f"{'茶' * 150}{number}"}) for number in range(5)]
        script = [Reply.tools(*queries), Reply.text("好 [1]。")]
        async with small(ChatWorld(*script, agent_rounds=1, snippet_length=400)) as world:
            heard = await world.ask("问题", AGENT, system=HOUSE_RULES)
            last = world.model.requests[-1]
        assert heard.done.answer.startswith("好")
        assert tokens(last) <= ROOM - LEFT_FOR_THE_ANSWER // 2


class TestOnlyWhatWasShown:
    async def test_what_did_not_fit_is_no_source(self) -> None:
        async with ChatWorld(Reply.text("Tea is hot [1]. Tea is cold [5]."), injection_tokens=200) as world:
            heard = await world.ask("tea")
            prompt = world.model.requests[0].messages[-1]["content"]
        shown = [number for number in range(1, 6) if f"[{number}] " in prompt]
        assert 1 <= len(shown) < 5
        assert heard.numbers == list(heard.rounds[0].numbers) == shown
        assert heard.rounds[0].found == len(shown)
        assert heard.done.cited == (1,)
        assert heard.done.answer.endswith("Tea is cold [5].")

    async def test_nor_does_it_get_a_citation_that_is_added(self) -> None:
        words = 'About green tea leaves: text 5 "quoted" 中文 <ok>.'
        async with ChatWorld(Reply.text(words), injection_tokens=200) as world:
            heard = await world.ask("green tea leaves")
        assert 5 not in heard.done.cited
