"""Prompts of programs: what of them reaches a search provider through ``/v1``."""

from __future__ import annotations

import pytest

from tests.chat.test_questions import QUESTION, SECRET, TASKS, nothing_of
from tests.support.openai_world import Served, serving, user
from tests.support.scripted_model import Reply

PROMPT = "\n\n".join(["Answer from the context.", *SECRET, f"Question: {QUESTION}"])


def queries(served: Served) -> list[str]:
    return [seen.params["q"] for seen in served.web.world["searxng"].seen]


class TestWhatTheProviderGets:
    def test_the_question_and_nothing_of_the_context(self) -> None:
        with serving(Reply.text("Large ones [1].")) as served:
            data = served.ask(user(PROMPT))
            assert queries(served) == [QUESTION]
            assert [each["query"] for each in data["qiusuo"]["rounds"]] == [QUESTION]
            assert SECRET[1] in served.prompt()[-1][1]  # the model has it all

    def test_nor_later_in_the_conversation(self) -> None:
        with serving(otherwise=Reply.text("Large ones.")) as served:
            earlier = [*user(PROMPT), {"role": "assistant", "content": "Large ones."}]
            served.ask([*earlier, *user("What about Germany?")])
            assert queries(served)
            assert nothing_of(SECRET, queries(served))

    @pytest.mark.parametrize("model", ["qiusuo-chat", "qiusuo-agent"])
    def test_tasks_of_chat_programs_are_not_searched_for(self, model: str) -> None:
        with serving(otherwise=Reply.text("Tea.")) as served:
            for task in TASKS:
                assert served.ask(user(task), model=model)["choices"][0]["message"]["content"] == "Tea."
            assert queries(served) == []


@pytest.mark.parametrize(("size", "read"), [("low", False), ("high", True)])
def test_the_context_size_says_how_deep_to_look(size: str, read: bool) -> None:
    with serving(otherwise=Reply.text("1196 米 [1]。"), engine="small") as served:
        served.ask(user("云岭大桥的主跨有多长"), web_search_options={"search_context_size": size})
        assert ("主跨长1196米" in served.model.requests[0].messages[-1]["content"]) is read
