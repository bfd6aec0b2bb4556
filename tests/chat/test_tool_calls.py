"""Calls that cannot be made as they are: the model gets an answer to each, the reader is told honestly."""

from __future__ import annotations

import pytest

from qiusuo.chat.events.turn import Notice, TurnState
from qiusuo.chat.questions import LONGEST
from qiusuo.pipeline.request import MAX_QUERY_CHARS
from qiusuo.words import Language
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.scripted_model import Call, Reply


def search(query: object) -> Call:
    return Call("web_search", {"query": query})


class TestEmptySearch:
    @pytest.mark.parametrize("arguments", [{"query": ""}, {"query": " \n"}, {"query": None}, {}, {"query": ["茶"]}])
    async def test_the_model_is_told_what_to_send_and_the_reader_whose_fault_it_was(
        self, arguments: dict[str, object]
    ) -> None:
        async with ChatWorld(
            Reply.tools(Call("web_search", arguments)), Reply.tools(search("茶")), Reply.text("茶 [1]。")
        ) as world:
            heard = await world.ask("茶", AGENT)
            told = world.model.requests[1].messages[-1]
            assert told["role"] == "tool"
            assert '{"query": "' in told["content"]
            assert "web_search" in world.model.requests[1].tools  # it may try again
            assert world.requests() == 1
        assert heard.codes == ["empty_query"]
        [notice] = heard.of(Notice)
        for language in Language:
            words = " ".join(notice.to_dict(language)[part] for part in ("title", "message", "fix"))
            assert "JSON" not in words
            assert "SearXNG" not in words
        assert notice.commands == ()
        assert heard.done.cited == (1,)
        assert [found.query for found in heard.rounds] == ["茶"]

    async def test_words_that_cannot_be_searched_for_are_no_fault_of_the_service_either(self) -> None:
        async with ChatWorld(Reply.tools(search("茶" * (MAX_QUERY_CHARS + 1))), Reply.text("不清楚。")) as world:
            heard = await world.ask("茶", AGENT)
            assert str(LONGEST) in world.model.requests[1].messages[-1]["content"]
        assert heard.codes == ["query_unusable"]
        assert "JSON" not in heard.of(Notice)[0].to_dict(Language.CHINESE)["fix"]

    async def test_a_page_without_an_address(self) -> None:
        async with ChatWorld(Reply.tools(Call("fetch_page", {"url": ""})), Reply.text("好。")) as world:
            heard = await world.ask("读一下", AGENT)
        assert heard.codes == ["page_failed"]
        assert heard.done.state is TurnState.DONE


class TestManyAtOnce:
    async def test_each_call_gets_an_answer_and_the_reader_sees_that_some_were_not_made(self) -> None:
        calls = [search(f"查询{number}") for number in range(8)]
        async with ChatWorld(Reply.tools(*calls), Reply.text("好 [1]。")) as world:
            heard = await world.ask("问题", AGENT)
            messages = world.model.requests[1].messages
            assert world.requests() == 5
        calling, *answers = messages[-9:]
        assert [call["id"] for call in calling["tool_calls"]] == [answer["tool_call_id"] for answer in answers]
        assert [("没有执行" in answer["content"]) for answer in answers] == [False] * 5 + [True] * 3
        assert "calls_capped" in heard.codes
        [notice] = heard.of(Notice)
        assert notice.fact.values == {"asked": 8, "most": 5}
        assert len(heard.rounds) == 5

    async def test_five_are_made_without_a_word(self) -> None:
        calls = [search(f"查询{number}") for number in range(5)]
        async with ChatWorld(Reply.tools(*calls), Reply.text("好 [1]。")) as world:
            heard = await world.ask("问题", AGENT)
            assert world.requests() == 5
        assert heard.codes == []

    async def test_a_model_that_calls_without_end_is_bounded(self) -> None:
        calls = [search(f"查询{number}") for number in range(300)]
        async with ChatWorld(Reply.tools(*calls), Reply.text("好 [1]。")) as world:
            heard = await world.ask("问题", AGENT)
            assert len(world.model.requests[1].messages) < 100
        assert heard.of(Notice)[0].fact.values == {"asked": 300, "most": 5}

    async def test_a_call_of_nothing_we_know_without_arguments_is_answered_too(self) -> None:
        async with ChatWorld(Reply.tools(Call("launch", "nothing of JSON")), Reply.text("好。")) as world:
            heard = await world.ask("问题", AGENT)
            assert world.model.requests[1].messages[-1]["role"] == "tool"
        assert heard.done.answer == "好。"
