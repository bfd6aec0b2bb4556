"""Faults that ``/v1/chat/completions`` once had."""

from __future__ import annotations

import time

import pytest
from openai import OpenAI

from qiusuo.chat.events import Delta, Event, Retraction
from qiusuo.web.openai import News
from qiusuo.web.openai_request import THOUGHT_END, _as_the_model_said
from tests.support.openai_world import ENGLISH, QUESTION, assert_marks, content_of, serving, user
from tests.support.scripted_model import Call, Gate, Reply


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
        assert _as_the_model_said(text) == text

    @pytest.mark.parametrize("line", ["\n\n> ⚠️ **No search** again", "\n- [1] a", "\n\n## References\n- [1] a"])
    def test_an_answer_full_of_such_lines_takes_no_time(self, line: str) -> None:
        text = line * 20_000 + "\nx"
        began = time.thread_time()
        assert _as_the_model_said(text) == text.strip()
        assert time.thread_time() - began < 1


PERIOD = "The notice period is two months"
WRONG = Reply.text("The notice period is ", "six months [1]. The notice period is two months [2].")
TOLD = "\n\n> ⚠️ Not found in source [1]: “The notice period is six months”"


class TestWhatTheSourceDoesNotSay:
    def test_the_text_tells_so(self) -> None:
        with serving(WRONG) as served:
            data = served.ask(user(PERIOD))
        content = data["choices"][0]["message"]["content"]
        assert content.endswith(TOLD)
        assert content.index("## References") < content.index(TOLD)
        assert [claim["support"] for claim in data["qiusuo"]["check"]["report"]["claims"]] == ["not_found", "supported"]

    def test_so_does_a_stream(self) -> None:
        with serving(WRONG) as served, OpenAI(**served.options) as client:
            chunks = list(client.chat.completions.create(model="qiusuo-chat", messages=user(PERIOD), stream=True))
        assert content_of(chunks).endswith(TOLD)

    def test_in_the_language_of_the_turn_and_without_references_too(self) -> None:
        with serving(Reply.text("通知期为六个月[1]。")) as served:
            content = served.ask(user("通知期为二个月"), references=False)["choices"][0]["message"]["content"]
        assert content.endswith("\n\n> ⚠️ 来源中未找到 [1]：“通知期为六个月”")
        assert "参考文献" not in content

    def test_what_is_borne_out_needs_no_words(self) -> None:
        with serving(Reply.text(f"{PERIOD} [1].")) as served:
            assert "⚠️" not in served.ask(user(PERIOD))["choices"][0]["message"]["content"]

    def test_many_are_named_few_are_quoted_and_no_markdown_gets_in(self) -> None:
        claims = ["Rome has *seven* hills [1][2].", *(f"Cats number {n} bark at noon [{n}]." for n in range(3, 6))]
        with serving(Reply.text(" ".join(claims))) as served:
            content = served.ask(user(PERIOD))["choices"][0]["message"]["content"]
        line = content.rpartition("\n")[2]
        assert line.startswith("> ⚠️ Not found in source [1][2]: “Rome has \\*seven\\* hills”; [3]: “")
        assert line.endswith("; [5]")

    def test_it_does_not_come_back_to_the_model(self) -> None:
        with serving(WRONG, Reply.text("Yes.")) as served:
            first = served.ask(user(PERIOD))["choices"][0]["message"]["content"]
            served.ask([*user(PERIOD), {"role": "assistant", "content": first}, *user("Sure?")], search=False)
            said = "The notice period is six months [1]. The notice period is two months [2]."
            assert served.prompt()[2] == ("assistant", said)


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
        assert _as_the_model_said(answer) == answer
        assert _as_the_model_said(f"hm{THOUGHT_END}I look.\n\nso{THOUGHT_END}{answer}") == answer
