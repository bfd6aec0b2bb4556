"""Thoughts that a model sends as text, opened by it or by the template of its prompt."""

from __future__ import annotations

import pytest

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.folding import fold
from qiusuo.chat.events.turn import Check, Retraction, TurnRecord, Usage
from qiusuo.chat.models.clients.openai_chat import CompatibleChat
from qiusuo.chat.models.opening import model_from
from qiusuo.chat.models.port import ModelInfo
from qiusuo.chat.sessions.session import ChatSettings
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.scripted_model import Call, Delay, Reply

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
            ("They ask for `tea", "</think>", "\n\nTea is hot [1]."),
            ("They ask for tea </think> \n\nTea is hot [1].",),
            ("Hm:\n\n    - tea.", "</think>", "\nTea is hot [1]."),
            ("他们问茶。", "</think>", "Tea is hot [1]."),
            ("**茶**", "</think>", "\n\nTea is hot [1]."),
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
        call = Reply.tools(Call("web_search", {"query": "tea"}), say=("hm.</think>Let me look.",))
        async with ChatWorld(call, Reply.text("Now I know.\n", "</think>\n", "Hot [1].")) as world:
            heard = await world.ask("tea", AGENT)
        assert heard.done.answer == "Let me look.\n\nHot [[1]](https://site1.example.com/page/1)."
        assert [event.answer for event in heard.of(Retraction)] == ["Let me look."]

    async def test_a_message_may_have_nothing_but_the_thought_and_a_call(self) -> None:
        call = Reply.tools(Call("web_search", {"query": "tea"}), say=("I should look", "</think>"))
        async with ChatWorld(call, Reply.text("Hot [1].")) as world:
            heard = await world.ask("tea", AGENT)
        assert heard.done.answer == "Hot [[1]](https://site1.example.com/page/1)."

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
            "标签 '</think>' 表示思考结束。",
            "它的结束标记是</think>，后面是回答。",
            "它的结束标记是</think>后面是回答。",
            "它的结束标记是：</think>\n\n后面是回答。",
            "The tag is **</think>** here.",
            "It is *</think>* here.",
            "| Mark | Meaning |\n|---|---|\n| </think> | the end |",
            "模板里写《</think>》。",
            "For example:\n\n    </think>\n\nends it.",
            "For example:\n\n    thought</think>\n    answer\n\nends it.",
            "Marks:\n\n- </think>\n- another",
            "Marks:\n\n1. </think>\n2. another",
            "The tag </think> ends it.",
            "We have two of them.\n</think>: the end.",
        ],
    )
    @pytest.mark.parametrize("size", [1, 4, 100])
    async def test_the_mark_stays(self, answer: str, size: int) -> None:
        pieces = [answer[start : start + size] for start in range(0, len(answer), size)]
        async with ChatWorld(Reply.text(*pieces)) as world:
            heard = await world.ask("what ends a thought", OFF)
        assert heard.text == heard.done.answer == answer

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    async def test_by_a_model_whose_thoughts_come_apart(self, field: str) -> None:
        answer = "Templates end with\n</think>\n\nand then comes the answer."
        async with ChatWorld(Reply.text({field: "Hm."}, answer)) as world:
            client = CompatibleChat(model="scripted", base_url=world.model.base_url, api_key=world.model.key)
            world.chat = Chat(world.world.service, model_from(client, ModelInfo("scripted", "Scripted", "remote")))
            heard = await world.ask("what ends a thought", OFF)
        assert heard.text == heard.done.answer == answer
