"""What models send as text: halves of characters, two ends or none, calls in the middle of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.agent.text_calls import CallFilter
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.scripted_model import Call, Reply

OFF = ChatSettings()


def search(query: str) -> Call:
    return Call("web_search", {"query": query})


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}


class TestModelText:
    async def test_halves_of_characters_are_joined(self) -> None:
        reply = Reply.events(
            *(chunk({"content": text}) for text in ("好 ", "%FIRST%", "%SECOND%！", "%FIRST%")), chunk({}, "stop")
        )
        # As they are on the wire: one half of the pair is an escape of its own in each chunk.
        pairs = [(name, self._escaped(payload)) for name, payload in reply.events_ or ()]
        async with ChatWorld(reply.with_(events_=(*pairs, ("", "[DONE]")))) as world:
            heard = await world.ask("你好", OFF)
            assert heard.done.state is TurnState.DONE
            assert heard.done.answer == heard.text == "好 😀！\ufffd"

    def _escaped(self, payload: Any) -> str:
        return json.dumps(payload).replace("%FIRST%", "\\ud83d").replace("%SECOND%", "\\ude00")

    async def test_halves_of_characters_in_the_arguments_of_a_call(self) -> None:
        async with ChatWorld(Reply.tools(Call("web_search", '{"query": "茶 \\ud83d"}')), Reply.text("好 [1]")) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)

    async def test_a_server_that_tells_twice_why_it_stops(self) -> None:
        end = chunk({}, "length")
        async with ChatWorld(Reply.events(chunk({"content": "开头"}), end, end, "[DONE]")) as world:
            assert (await world.ask("你好", OFF)).done.finish == "length"

    @pytest.mark.parametrize("settings", [OFF, AGENT])
    async def test_an_answer_without_end_is_broken_off(
        self, settings: ChatSettings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("qiusuo.chat.turns.answer.MAX_MESSAGE", 1000)
        async with ChatWorld(Reply.hang(*["还有，" * 100] * 10)) as world:
            heard = await world.ask("你好", settings)
            await world.model.hung_up()
            assert heard.done.state is TurnState.DONE
            assert heard.done.finish == "length"
            assert len(heard.done.answer) == 1200

    def test_code_is_not_held_back_as_if_it_were_a_call(self) -> None:
        calls = CallFilter(["web_search"])
        given = [calls.feed(piece) for piece in ("```c\nint main()\n", "{", "\n  return 0;\n}\n", "```\n", "更多。")]
        assert "更多。" in given[-1]
        assert calls.finish() == ("", [])
        assert "".join(given).endswith("{\n  return 0;\n}\n```\n更多。")

    async def test_rounds_without_text_leave_no_gap(self) -> None:
        silent = [Reply.tools(search(query)) for query in "乙丙丁"]
        async with ChatWorld(Reply.tools(search("甲"), say=["我查一下。"]), *silent, Reply.text("好了。")) as world:
            assert (await world.ask("问题", AGENT)).done.answer == "我查一下。\n\n好了。"
