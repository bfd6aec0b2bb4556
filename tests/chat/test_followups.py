"""What is searched for when a question leans on what was said before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.turns.sources.rewriting import query_by_model
from tests.support.chat_world import ChatWorld
from tests.support.scripted_model import Asked, Delay, Reply

CANCER = "What is throat cancer?"
TREATABLE = "Is it treatable?"


def asks_for_a_query(asked: Asked) -> bool:
    return str(asked.messages[-1]["content"]).endswith(("Query:", "查询："))


def answering(query: Reply | None = None) -> Callable[[Asked], Reply]:
    """Return a model that says ``query`` where it is asked for one (else nothing of use), and answers all else."""
    useless = Reply.text("I am afraid that I cannot help with that request at all, sorry!")
    return lambda asked: (query or useless) if asks_for_a_query(asked) else Reply.text("All right.")


class Talk(ChatWorld):
    """A conversation that notes what was searched for."""

    def __init__(self, query: Reply | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.model.otherwise = answering(query)

    @property
    def queries(self) -> list[str]:
        return [seen.params["q"] for seen in self.world["searxng"].seen if "q" in seen.params]


async def searched(*questions: str, query: Reply | None = None, **settings: Any) -> list[str]:
    """Return what the engine was asked for these questions of one conversation."""
    async with Talk(query, **settings) as talk:
        for question in questions:
            await talk.ask(question)
        return talk.queries


class TestByRule:
    async def test_a_follow_up_is_searched_with_what_it_is_about(self) -> None:
        first, second = await searched("劳动合同试用期最长多久", "那违反了怎么赔偿？")
        assert first.startswith("劳动合同试用期最长多久")
        assert "试用期" in second
        assert "赔偿" in second

    async def test_in_english_too(self) -> None:
        queries = await searched(CANCER, TREATABLE, "Tell me about lung cancer.")
        assert queries == [CANCER, "Is throat cancer treatable?", "Tell me about lung cancer."]

    async def test_what_was_asked_of_the_thing_is_not_carried_along(self) -> None:
        bridge = await searched("云岭大桥的主跨有多长", "它的总设计师是谁", "那小客车收费多少？", "那青石隧道呢")
        assert bridge[1:] == ["云岭大桥的总设计师是谁", "云岭大桥小客车收费多少？", "青石隧道小客车收费多少"]
        tower = await searched("How tall is Larkfield Lighthouse?", "Who designed it?", "Why did it close to visitors?")
        assert tower[-1] == "Why did Larkfield Lighthouse close to visitors?"

    async def test_a_question_that_stands_alone_is_searched_as_typed_and_costs_nothing(self) -> None:
        questions = ["北京今天天气怎么样", "Python 3.14 有什么新特性？"]
        async with Talk() as talk:
            for question in questions:
                await talk.ask(question)
            assert talk.queries == questions
            assert not any(map(asks_for_a_query, talk.model.requests))

    async def test_it_can_be_switched_off(self) -> None:
        assert await searched(CANCER, TREATABLE, followups=False) == [CANCER, TREATABLE]

    async def test_the_reader_sees_what_was_searched_and_the_own_words(self) -> None:
        async with Talk() as talk:
            [alone] = (await talk.ask(CANCER)).rounds
            [leaning] = (await talk.ask(TREATABLE)).rounds
        assert (alone.query, alone.asked) == (CANCER, "")
        assert (leaning.query, leaning.asked) == ("Is throat cancer treatable?", TREATABLE)
        assert leaning.to_dict()["asked"] == TREATABLE

    async def test_the_model_answers_the_question_as_it_was_asked(self) -> None:
        async with Talk() as talk:
            await talk.ask(CANCER)
            await talk.ask(TREATABLE)
            assert talk.model.requests[-1].messages[-1]["content"].endswith(TREATABLE)

    async def test_the_reader_may_say_what_to_search_for(self) -> None:
        async with Talk() as talk:
            await talk.ask(CANCER)
            await talk.ask(TREATABLE, query="throat cancer survival rates")
            await talk.ask("And in children?")
            assert talk.queries[1] == "throat cancer survival rates"
            assert "throat cancer" in talk.queries[2]

    @pytest.mark.parametrize("kept", [True, False])
    async def test_a_conversation_that_is_taken_up_again(self, kept: bool) -> None:
        async with Talk() as talk:
            await talk.ask(CANCER)
            talk.memory = Memory.from_dict(talk.memory.to_dict()) if kept else Memory()
            await talk.ask(TREATABLE)
            assert talk.queries[1] == ("Is throat cancer treatable?" if kept else TREATABLE)


class TestByModel:
    async def test_its_query_is_searched_for(self) -> None:
        query = "Query: Is throat cancer treatable? "
        assert await searched(CANCER, TREATABLE, query=Reply.text(query)) == [CANCER, "Is throat cancer treatable?"]

    async def test_what_it_thought_first_is_left_out(self) -> None:
        reply = Reply.text("<think>They mean the cancer.</think>\n\nIs throat cancer treatable?")
        assert await searched(CANCER, TREATABLE, query=reply) == [CANCER, "Is throat cancer treatable?"]

    async def test_nobody_waits_for_what_it_says_after_its_line(self) -> None:
        reply = Reply.text(
            "<think>The cancer.</think>\n\nthroat cancer chances treatable\n", Delay(30), "I hope it helps!"
        )
        assert await searched(CANCER, TREATABLE, query=reply) == [CANCER, "throat cancer chances treatable"]

    async def test_where_it_is_quite_another_both_are_and_what_they_find_is_one_list(self) -> None:
        async with Talk(Reply.text("treatable all right")) as talk:
            await talk.ask(CANCER)
            heard = await talk.ask(TREATABLE)
            assert sorted(talk.queries[1:]) == ["Is throat cancer treatable?", "treatable all right"]
        assert [each.query for each in heard.rounds] == ["treatable all right", "Is throat cancer treatable?"]
        assert all(each.asked == TREATABLE and each.numbers for each in heard.rounds)

    async def test_the_conversation_is_quoted_in_one_message(self) -> None:
        async with Talk() as talk:
            await talk.ask(CANCER)
            await talk.ask(TREATABLE)
            [asked] = filter(asks_for_a_query, talk.model.requests)
        [message] = asked.messages
        assert message["role"] == "user"
        assert f"Q: {CANCER}" in message["content"]
        assert asked.body["temperature"] == 0

    async def test_a_model_that_takes_no_temperature_is_asked_without(self) -> None:
        words = (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
        )
        error = {"message": words, "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}

        def reasoning(asked: Asked) -> Reply:
            if "temperature" in asked.body:
                return Reply.body({"error": error}, status=400)
            return Reply.text("throat cancer chances treatable" if asks_for_a_query(asked) else "All right.")

        async with Talk() as talk:
            talk.model.otherwise = reasoning
            await talk.ask(CANCER)
            await talk.ask(TREATABLE)
            assert talk.queries == [CANCER, "throat cancer chances treatable"]

    @pytest.mark.parametrize(
        "reply",
        [
            Reply.text("Yes, in most cases: surgery, radiation and chemotherapy are the usual treatments for it."),
            Reply.text(""),
            Reply.text("throat cancer " * 100),
            Reply.text("<think>They ask about cancer"),
            Reply(status=500),
            Reply.text("It is treatable."),
            Reply.text("All right: throat cancer"),
        ],
        ids=[
            *("an answer", "nothing", "too long", "a thought without end", "an error"),
            *("the question again", "what was said before again"),
        ],
    )
    async def test_what_is_no_query_is_not_searched_for(self, reply: Reply) -> None:
        assert await searched(CANCER, TREATABLE, query=reply) == [CANCER, "Is throat cancer treatable?"]

    async def test_it_has_a_deadline_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(query_by_model, "__kwdefaults__", {"seconds": 0.2})
        late = Reply.text(Delay(30), "Is throat cancer treatable in Germany?")
        assert await searched(CANCER, TREATABLE, query=late) == [CANCER, "Is throat cancer treatable?"]


@pytest.mark.parametrize("said", ["谢谢", "好的，谢谢你", "thanks!", "你好"])
async def test_thanks_and_greetings_are_not_searched_for(said: str) -> None:
    assert await searched("昆明天气", said) == ["昆明天气"]
