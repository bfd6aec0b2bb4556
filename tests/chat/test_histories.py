"""What of a conversation goes to the model: whole calls, roles in turn, and never more than fits."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.sessions.session import ChatSettings, Memory
from qiusuo.chat.turns.history import recall, remember, shortened
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.scripted_model import Asked, Call, Reply

OFF = ChatSettings()


def search(query: str) -> Call:
    return Call("web_search", {"query": query})


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}


class TestHistories:
    @pytest.mark.parametrize("given", [None, "", "same"])
    async def test_every_call_has_an_id_of_its_own(self, given: str | None) -> None:
        call = {"id": given, "type": "function", "function": {"name": "web_search", "arguments": '{"query": "茶"}'}}
        calls = chunk({"tool_calls": [{**call, "index": 0}, {**call, "index": 1}]})
        async with ChatWorld(Reply.events(calls, chunk({}, "tool_calls"), "[DONE]"), Reply.text("好 [1]。")) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)
            *_, calling, first, second = world.model.requests[-1].messages
            ids = [each["id"] for each in calling["tool_calls"]]
            assert all(ids)
            assert len(set(ids)) == 2
            assert [first["tool_call_id"], second["tool_call_id"]] == ids

    async def test_the_last_turn_has_neither_tools_nor_calls(self) -> None:
        """Anthropic refuses calls and results in a request that defines no tools."""
        async with ChatWorld(
            Reply.tools(search("甲")),
            Reply.text("一 [1]"),
            Reply.tools(search("乙")),
            Reply.text("二 [1]"),
            agent_rounds=1,
        ) as world:
            await world.ask("第一问", AGENT)
            heard = await world.ask("第二问", AGENT)
            assert heard.done.cited == (1,)
            last = world.model.requests[-1]
            assert last.tools == []
            assert [message["role"] for message in last.messages] == ["system", "user", "assistant", "user", "user"]
            assert "“乙”的搜索结果" in last.messages[-1]["content"]
            assert "“甲”的搜索结果" not in last.prompt

    async def test_an_overflow_never_drops_the_question_itself(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), *[Reply.overflow()] * 3, agent_rounds=1) as world:
            heard = await world.ask("真正的问题", AGENT)
            assert heard.done.state is TurnState.FAILED
            assert all("真正的问题" in asked.prompt for asked in world.model.requests)

    async def test_an_overflow_in_the_middle_of_a_turn_shortens_what_tools_have_found(self) -> None:
        def careful(asked: Asked) -> Reply:
            return Reply.overflow() if len(asked.messages[-1]["content"]) > 800 else Reply.text("好 [1]。")

        async with ChatWorld(Reply.tools(search("甲")), careful, careful, careful) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)
            result = world.model.requests[-1].messages[-1]
            assert result["role"] == "tool"
            assert result["content"].splitlines()[-1].startswith("--- 网页内容结束")

    def test_a_single_line_is_shortened_as_well(self) -> None:
        assert shortened("a" * 10, 0.5) == "aaaa…"
        assert shortened("a" * 10, 1) == "a" * 10

    def test_no_role_comes_twice_in_a_row(self) -> None:
        memory = Memory()
        call = ToolCall(name="web_search", args={"query": "茶"}, id="1", type="tool_call")
        said_in_turn = [
            AIMessage("我查一下。", tool_calls=[call]),
            ToolMessage("…", tool_call_id="1"),
            AIMessage("好了。"),
        ]
        remember(memory, "turn", [HumanMessage("问题"), *said_in_turn])
        told = [(message.type, message.text) for message in recall(memory, tools=False)]
        assert told == [("human", "问题"), ("ai", "我查一下。\n\n好了。")]
