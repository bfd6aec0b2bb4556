"""Thoughts in the text of a model that never opened them."""

from __future__ import annotations

import pytest
from openai import OpenAI

from qiusuo.chat.events.turn import Delta, Event, Retraction
from qiusuo.web.openai.earlier import THOUGHT_END
from qiusuo.web.openai.routes import News
from tests.support.openai_world import ENGLISH, assert_marks, content_of, heard_again, serving, user
from tests.support.scripted_model import Call, Gate, Reply


class TestThoughtsThatNobodyOpened:
    def test_a_whole_answer_has_none(self) -> None:
        with serving(Reply.text("Let me see [1].", "\n</think>\n\nIn March [2].")) as served:
            message = served.ask(user(ENGLISH), references=False)["choices"][0]["message"]
        assert message["content"].startswith("In March [[2]](")
        assert_marks(message["content"], message["annotations"], [2])

    def test_in_a_stream_they_end_where_the_model_ended_them(self) -> None:
        gate = Gate()
        reply = Reply.text("Let me see", gate, ".\n</think>\n\n", "In March.")
        with serving(reply, Reply.text("Yes.")) as served, OpenAI(**served.options) as client:
            options = {"search": False}
            chunks = []
            for chunk in client.chat.completions.create(
                model="qiusuo-chat", messages=user(ENGLISH), stream=True, extra_body=options
            ):
                chunks.append(chunk)
                if "Let me" in content_of(chunks):
                    gate.open()
            content = content_of(chunks)
            served.ask([*user(ENGLISH), {"role": "assistant", "content": content}, *user("Sure?")], **options)
            said = served.prompt()[2]
        assert content == "Let me see\n</think> \n\nIn March."
        assert said == ("assistant", "In March.")

    def test_in_each_round_of_the_agent(self) -> None:
        first, second = Gate(), Gate()
        script = [
            Reply.tools(
                Call("web_search", {"query": "tea"}), say=("Let me see", first, ".\n</think>\n\n", "I'll search.")
            ),
            Reply.text("Now I know", second, ".\n</think>\n\n", "In March."),
            Reply.text("Yes."),
        ]
        with serving(*script) as served, OpenAI(**served.options) as client:
            chunks = []
            for chunk in client.chat.completions.create(
                model="qiusuo-agent", messages=user(ENGLISH), stream=True, extra_body={"references": False}
            ):
                chunks.append(chunk)
                for gate, words in ((first, "Let me"), (second, "Now I")):
                    if words in content_of(chunks):
                        gate.open()
            content = content_of(chunks)
            served.ask([*user(ENGLISH), {"role": "assistant", "content": content}, *user("Sure?")], search=False)
            said = served.prompt()[2]
        thoughts = "Let me see </think> I'll search. Now I know </think>"
        assert " ".join(content.split()) == f"{thoughts} In March."
        assert said == ("assistant", "In March.")

    @pytest.mark.parametrize(
        ("batches", "streamed"),
        [
            # The second thought was never sent: it is left out, and so is its end.
            (
                [[Delta("hm" * 9)], [Retraction(""), Delta("I look.")], [Delta("\n\nso"), Retraction("I look.")]],
                "hm" * 9 + THOUGHT_END + "I look.",
            ),
            # What was said between the thoughts came together with them: all of it goes out.
            (
                [[Delta("hm" * 9)], [Retraction(""), Delta("A" * 40), Delta("\n\nso"), Retraction("A" * 40)]],
                "hm" * 9 + THOUGHT_END + "A" * 40,
            ),
            ([[Delta("A" * 100), Delta("\n\nhm"), Retraction("A" * 100)], [Delta("\n\nHot.")]], "A" * 100 + "\n\nHot."),
            (
                [[Delta("I look."), Delta("\n\nhm")], [Retraction("I look.")], [Delta("\n\nHot.")]],
                "I look.\n\nhm" + THOUGHT_END + "\n\nHot.",
            ),
        ],
    )
    def test_nothing_of_the_answer_is_lost_or_sent_twice(self, batches: list[list[Event]], streamed: str) -> None:
        news = News()
        assert "".join(news.of(batch) for batch in batches) == streamed

    def test_an_answer_about_the_mark_comes_back_whole(self) -> None:
        answer = "Templates end with:\n</think>\n\nand then the answer."
        assert heard_again(answer) == answer
        assert heard_again(f"hm{THOUGHT_END}I look.\n\nso{THOUGHT_END}{answer}") == answer
