"""What the source does not say is told in the text of the answer."""

from __future__ import annotations

from openai import OpenAI

from tests.support.openai_world import content_of, serving, user
from tests.support.scripted_model import Reply

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
