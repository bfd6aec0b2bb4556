"""Earlier answers that clients send back: the model hears what it said, without what we added."""

from __future__ import annotations

import time

import pytest

from tests.support.openai_world import ENGLISH, QUESTION, heard_again, serving, user
from tests.support.scripted_model import Call, Reply


class TestEarlierAnswers:
    @pytest.mark.parametrize("question", [ENGLISH, QUESTION])
    def test_the_agents_list_is_not_sent_back_to_the_model(self, question: str) -> None:
        script = [
            Reply.tools(Call("web_search", {"query": "spring tea"}), Call("web_search", {"query": "green tea"})),
            Reply.text("March [1]."),
            Reply.text("Yes."),
        ]
        with serving(*script) as served:
            first = served.ask(user(question), model="qiusuo-agent")["choices"][0]["message"]["content"]
            assert "### " in first
            served.ask([*user(question), {"role": "assistant", "content": first}, *user("Sure?")], search=False)
            assert served.prompt()[2] == ("assistant", "March [1].")

    def test_the_models_own_list_stays(self) -> None:
        text = "Tea:\n\n## References\n\n- [1] A book\n\nThat is all.\n- [2] another"
        assert heard_again(text) == text

    @pytest.mark.parametrize("line", ["\n\n> ⚠️ **No search** again", "\n- [1] a", "\n\n## References\n- [1] a"])
    def test_an_answer_full_of_such_lines_takes_no_time(self, line: str) -> None:
        text = line * 20_000 + "\nx"
        began = time.thread_time()
        assert heard_again(text) == text.strip()
        assert time.thread_time() - began < 1
