"""Thoughts that a model sends as text, opened by it or by the template of its prompt."""

from __future__ import annotations

import pytest

from chat_world import AGENT, ChatWorld
from qiusuo.chat.events import Check, Retraction, TurnRecord, Usage, fold
from qiusuo.chat.session import ChatSettings
from scripted_model import Call, Delay, Reply

OFF = ChatSettings()
THOUGHT = 'The user asks about tea [2]. Perhaps `oolong`, "green"'


class TestOpenedByTheTemplate:
    @pytest.mark.parametrize(
        "pieces",
        [
            (THOUGHT, "</think>", "\n\n", "Tea is hot [1]."),
            (f"{THOUGHT}</think>Tea is hot [1].",),
            (THOUGHT, "\n</th", "ink>\n\nTea is", " hot [1]."),
            tuple(f"{THOUGHT}\n</think>\n\nTea is hot [1]."),
            ("</think>\n\nTea is hot [1].",),
        ],
    )
    async def test_is_no_part_of_the_answer(self, pieces: tuple[str, ...]) -> None:
        async with ChatWorld(Reply.text(*pieces), Reply.text("Yes.")) as world:
            heard = await world.ask("tea")
            await world.ask("sure?", OFF)
            said = world.model.requests[1].messages[-2]["content"]
        assert heard.done.answer == "Tea is hot [[1]](https://site1.example.com/page/1)."
        assert heard.done.cited == (1,)
        assert said == "Tea is hot [1]."
        [check] = heard.of(Check)
        assert [claim["claim"] for claim in check.report["claims"]] == ["Tea is hot"]

    async def test_who_listens_is_told_to_take_it_back(self) -> None:
        async with ChatWorld(Reply.text(THOUGHT, "</think>Hot.")) as world:
            heard = await world.ask("tea", OFF)
        [retraction] = heard.of(Retraction)
        assert retraction.to_dict() == {"type": "retraction", "answer": ""}
        record = TurnRecord("t", "tea")
        for event in heard.events[: heard.events.index(heard.done)]:
            fold(record, event)
        assert record.answer == "Hot."

    async def test_the_first_token_is_the_first_of_the_answer(self) -> None:
        async with ChatWorld(Reply.text(THOUGHT, Delay(0.3), "</think>Hot.")) as world:
            [usage] = (await world.ask("tea", OFF)).of(Usage)
        assert usage.first_token_ms is not None
        assert usage.first_token_ms >= 300

    async def test_what_the_agent_has_said_before_stays(self) -> None:
        call = Reply.tools(Call("web_search", {"query": "tea"}), say=("hm</think>Let me look.",))
        async with ChatWorld(call, Reply.text("Now I know.\n", "</think>\n", "Hot [1].")) as world:
            heard = await world.ask("tea", AGENT)
        assert heard.done.answer == "Let me look.\n\nHot [[1]](https://site1.example.com/page/1)."
        assert [event.answer for event in heard.of(Retraction)] == ["Let me look."]

    async def test_a_call_that_is_only_thought_of_is_not_made(self) -> None:
        thought = 'I could write:\n{"name": "web_search", "arguments": {"query": "tea"}}\nbut no.\n</think>\nHot.'
        async with ChatWorld(Reply.text(thought)) as world:
            heard = await world.ask("tea", AGENT)
            assert world.requests() == 0
        assert heard.done.answer == "Hot."


class TestOpenedByTheModel:
    async def test_blanks_behind_it_are_left_out_however_they_come(self) -> None:
        async with ChatWorld(Reply.text("<think>", "hm", "</think>", "\n\n", " ", "Hot.")) as world:
            heard = await world.ask("tea", OFF)
        assert heard.text == "Hot."
        assert not heard.of(Retraction)


class TestWrittenAbout:
    @pytest.mark.parametrize(
        "answer",
        [
            "The tag `</think>` ends a thought.",
            "It writes <think> and then </think> around it.",
            "```xml\n</think>\n```\nThat is all.",
            "The mark “</think>” ends it.",
            'The mark "</think>" ends it.',
            "A list:\n\n- (</think>) ends it.",
            "a < b and </thing> too <",
        ],
    )
    @pytest.mark.parametrize("size", [1, 4, 100])
    async def test_the_mark_stays(self, answer: str, size: int) -> None:
        pieces = [answer[start : start + size] for start in range(0, len(answer), size)]
        async with ChatWorld(Reply.text(*pieces)) as world:
            heard = await world.ask("what ends a thought", OFF)
        assert heard.text == heard.done.answer == answer
