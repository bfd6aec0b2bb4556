"""Where the first model fails before it has said anything, the second answers, and the reader is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from qiusuo.chat.events.turn import ModelTaken, Notice, TurnState
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.words import Language
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.scripted_model import Call, Reply, ScriptedModel, Step

FAILURES = {
    "key refused": (Reply.error(401, "Incorrect API key provided.", code="invalid_api_key"), "llm.key_refused"),
    "no credit": (Reply.error(402, "Insufficient Balance"), "llm.no_credit"),
    "limited": (Reply.rate_limited("60"), "llm.slow_down_http"),
    "failing": (Reply.error(500, "boom"), "llm.failed"),
    "overloaded": (Reply.error(529, "overloaded"), "llm.failed"),
    "broken before a word": (Reply.broken(), None),
}


@pytest.fixture
def second() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


def world(second: ScriptedModel, *script: Step, **settings: Any) -> ChatWorld:
    where = {"base_url": second.base_url, "api_key": second.key, "context": 8192}
    models = {"spare": {"model": "compatible:spare", **where}}
    return ChatWorld(*script, second_model="spare", models=models, **settings)


class TestChatMode:
    @pytest.mark.parametrize("failure", list(FAILURES))
    async def test_the_second_answers_from_what_was_found(self, second: ScriptedModel, failure: str) -> None:
        reply, code = FAILURES[failure]
        second.add(Reply.text("Tea is hot [1]."))
        async with world(second, reply, reply) as chat:
            turn = chat.chat.turn(Ask("What is tea?", SEARCH), chat.memory)
            events = [event async for event in turn.events()]
            assert chat.requests() == 1
        assert turn.record.state is TurnState.DONE
        assert turn.record.answer.startswith("Tea is hot")
        assert turn.record.cited == (1,)
        assert turn.record.model == "compatible:spare"
        assert [event.model for event in events if isinstance(event, ModelTaken)] == ["compatible:spare"]
        [told] = [event for event in events if isinstance(event, Notice)]
        assert told.code == "second_model"
        assert told.fact.values["first"] == "Scripted"
        assert told.fact.values["second"] == "OpenAI-compatible · spare"
        assert told.reason is not None
        assert code is None or told.reason.code.startswith(code)

    async def test_after_the_first_word_nothing_is_swapped(self, second: ScriptedModel) -> None:
        async with world(second, Reply.broken("Tea is")) as chat:
            heard = await chat.ask("What is tea?", ChatSettings())
        assert heard.done.state is TurnState.FAILED
        assert heard.done.answer == "Tea is"
        assert heard.codes == ["model_broken"]
        assert second.requests == []

    async def test_what_the_model_refuses_is_not_asked_elsewhere(self, second: ScriptedModel) -> None:
        async with world(second, Reply.filtered()) as chat:
            heard = await chat.ask("What is tea?", ChatSettings())
        assert heard.codes == ["model_rejected"]
        assert second.requests == []

    async def test_if_both_fail_both_reasons_are_told(self, second: ScriptedModel) -> None:
        second.add(Reply.rate_limited("60"))
        async with world(second, FAILURES["key refused"][0]) as chat:
            heard = await chat.ask("What is tea?", ChatSettings())
        assert heard.done.state is TurnState.FAILED
        assert heard.codes == ["second_model", "model_rate_limited"]
        last = heard.of(Notice)[-1].message
        assert "Scripted: The model's provider does not accept the key." in last
        assert "OpenAI-compatible · spare: The model's provider asks us to slow down" in last

    async def test_one_that_was_chosen_by_name_is_not_replaced(self, second: ScriptedModel) -> None:
        with ScriptedModel(FAILURES["key refused"][0]) as chosen:
            table = {"model": "compatible:mine", "base_url": chosen.base_url, "api_key": chosen.key, "context": 8192}
            spare = {"model": "compatible:spare", "base_url": second.base_url, "api_key": second.key}
            async with ChatWorld(second_model="spare", models={"mine": table, "spare": spare}) as chat:
                heard = await chat.ask("What is tea?", ChatSettings(model="mine"))
        assert heard.codes == ["model_auth"]
        assert second.requests == []

    async def test_the_second_may_be_the_one_that_quotes(self) -> None:
        models = {"quotes": {"model": "extractive"}}
        async with ChatWorld(FAILURES["limited"][0], second_model="quotes", models=models) as chat:
            heard = await chat.ask("What is tea?", SEARCH)
        assert heard.done.state is TurnState.DONE
        assert heard.codes[0] == "second_model"
        assert "摘录（无模型）" in heard.of(Notice)[0].wording(Language.CHINESE).what
        assert "model_not_configured" not in heard.codes
        assert heard.done.cited


class TestAgentMode:
    async def test_the_second_does_the_work(self, second: ScriptedModel) -> None:
        second.add(Reply.tools(Call("web_search", {"query": "tea"})), Reply.text("Hot [1]."))
        async with world(second, Reply.error(401, "no", code="invalid_api_key")) as chat:
            heard = await chat.ask("What is tea?", AGENT)
            assert len(chat.model.requests) == 1
            assert chat.requests() == 1
        assert heard.done.state is TurnState.DONE
        assert heard.codes == ["second_model"]
        assert second.requests[0].tools

    async def test_it_goes_on_with_what_was_found_while_nothing_was_said(self, second: ScriptedModel) -> None:
        second.add(Reply.text("Hot [1]."))
        search = Reply.tools(Call("web_search", {"query": "tea"}))
        async with world(second, search, Reply.error(402, "Insufficient Balance")) as chat:
            heard = await chat.ask("What is tea?", AGENT)
            assert chat.requests() == 1
        assert heard.done.cited == (1,)
        assert second.requests[0].messages[-1]["role"] == "tool"

    async def test_after_a_word_it_is_not_swapped(self, second: ScriptedModel) -> None:
        search = Reply.tools(Call("web_search", {"query": "tea"}), say=["I look."])
        async with world(second, search, Reply.error(402, "Insufficient Balance")) as chat:
            heard = await chat.ask("What is tea?", AGENT)
        assert heard.codes == ["model_rate_limited"]
        assert second.requests == []


async def test_in_a_research_the_second_plans_and_writes(second: ScriptedModel) -> None:
    second.otherwise = Reply.text("Tea is hot [1].")
    async with world(second, Reply.error(401, "no", code="invalid_api_key"), research_questions=3) as chat:
        heard = await chat.ask("What is tea?", SEARCH, research=True)
        assert len(chat.model.requests) == 1
    assert heard.done.state is TurnState.DONE
    assert "second_model" in heard.codes
    assert "Tea is hot" in heard.done.answer


async def test_a_first_model_that_is_set_wrongly_is_replaced_too(second: ScriptedModel) -> None:
    second.add(Reply.text("Well."))
    async with world(second) as chat:
        settings = chat.chat.settings.model_copy(update={"model": "nobody:knows"})
        await chat.chat.renew(settings)
        heard = await chat.ask("What is tea?", ChatSettings())
    assert heard.text == "Well."
    assert heard.codes == ["second_model"]
