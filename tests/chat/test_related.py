"""What may be asked next: from the model in the same call, else from what the search has brought."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Related, TurnRecord, TurnState
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.related import LONGEST, RelatedFilter, Suggestions, tidy
from tests.support.chat_world import AGENT, ChatWorld, Heard
from tests.support.scripted_model import Call, Reply

BLOCK = "<related-questions>\n1. Which tea is oldest?\n- **How is it kept?**\nWhere does it grow?\n</related-questions>"
THREE = ("Which tea is oldest?", "How is it kept?", "Where does it grow?")
OFF = ChatSettings()


def related(heard: Heard) -> tuple[str, ...]:
    return next((event.questions for event in heard.of(Related)), ())


class TestByTheModel:
    async def test_they_come_with_the_answer_in_one_call_and_are_no_part_of_it(self) -> None:
        pieces = ["Green tea [1].", "\n", "\n<rel", "ated-ques", *BLOCK.removeprefix("<related-ques").split("s")]
        pieces = [*pieces[:4], *(f"{one}s" for one in pieces[4:-1]), pieces[-1]]
        async with ChatWorld(Reply.text(*pieces), Reply.text("More.")) as world:
            heard = await world.ask("What is green tea?", related=True)
            assert heard.text.startswith("Green tea [[1]](")
            assert heard.done.answer == heard.text
            assert "related" not in heard.text
            assert not any("<" in event.to_dict().get("text", "") for event in heard.events)
            assert related(heard) == THREE
            assert len(world.model.requests) == 1
            assert "<related-questions>" in world.model.requests[0].messages[0]["content"]
            await world.ask("And black tea?", OFF, related=True)
            told = [each["content"] for each in world.model.requests[1].messages if each["role"] == "assistant"]
            assert told == ["Green tea [1]."]

    async def test_in_agent_mode_too(self) -> None:
        script = (Reply.tools(Call("web_search", {"query": "tea"})), Reply.text(f"Tea [1].\n\n{BLOCK}"))
        async with ChatWorld(*script) as world:
            heard = await world.ask("What is green tea?", AGENT, related=True)
            assert heard.text.strip().endswith(").")
            assert related(heard) == THREE

    async def test_a_model_that_ignores_it_has_none(self) -> None:
        async with ChatWorld(Reply.text("Green.")) as world:
            world.world["searxng"].provider.suggestions = ("green tea price",)  # type: ignore[attr-defined]
            assert related(await world.ask("What is green tea?", related=True)) == ()

    @pytest.mark.parametrize("more", [{}, {"related": True}], ids=["nobody wants them", "thanks"])
    async def test_not_where_nobody_wants_them_nor_after_thanks(self, more: dict[str, Any]) -> None:
        async with ChatWorld(Reply.text("You are welcome.")) as world:
            heard = await world.ask("thank you!" if more else "What is tea?", OFF, **more)
            assert related(heard) == ()
            assert "related" not in world.model.requests[0].messages[0]["content"]

    async def test_not_after_a_failure_or_an_answer_that_was_cut(self) -> None:
        async with ChatWorld(
            Reply.error(401, code="invalid_api_key"), Reply.text(f"Half\n{BLOCK}", finish="length")
        ) as world:
            failed = await world.ask("What is tea?", OFF, related=True)
            assert (failed.done.state, related(failed)) == (TurnState.FAILED, ())
            cut = await world.ask("What is tea?", OFF, related=True)
            assert (cut.done.answer, related(cut)) == ("Half", ())


class TestWithoutAModel:
    async def test_what_others_search_for(self) -> None:
        async with ChatWorld() as world:
            searxng = world.world["searxng"].provider
            searxng.suggestions = ("green tea price", "<b>green</b> tea <script>x</script>", "What is green tea?")  # type: ignore[attr-defined]
            chat = Chat(world.world.service, open_model(world.chat.settings))
            world.chat, own = chat, world.chat
            heard = await world.ask("What is green tea?", related=True)
            assert related(heard)[0] == "green tea price"
            assert len(related(heard)) == 2
            assert "<" not in str(related(heard))
            # The same from the cache.
            assert related(await world.ask("what is green tea?", related=True)) == related(heard)
            await own.aclose()

    def test_headings_of_pages_that_are_questions(self) -> None:
        wanted = Suggestions("What is tea?", wanted=True, found=["tea prices"])
        page = "# Tea\n\ntext\n\n## How is tea made?\n\n### References\n\n## 绿茶怎么保存\n\n## What is tea?\n"
        assert wanted.questions([page]) == ("tea prices", "How is tea made?", "绿茶怎么保存")
        assert Suggestions("x", found=["tea prices"]).questions([page]) == ()


class TestTheFilter:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            (f"A\n\n{BLOCK}", "A"),
            (f"A {BLOCK}\n", "A\n"),
            (f"A\n```\n{BLOCK}\n```", "A"),
            (f"A\n\n```python\nx < y\n```\n\n{BLOCK}", "A\n\n```python\nx < y\n```"),
            (f"{BLOCK}\n\nA", "\n\nA"),
            ("a < b and <relation> and `x` ", "a < b and <relation> and `x` "),
            ("A\n<related-questions>\nOne more?\nCut of", "A"),
            ("A\n<related-questions", "A\n<related-questions"),
        ],
    )
    def test_it_is_never_shown_however_it_is_cut(self, text: str, shown: str) -> None:
        for step in (1, 2, 7, len(text)):
            cut = RelatedFilter()
            places = [*range(0, len(text), step), len(text)]
            given = "".join(cut.feed(text[start:end]) for start, end in pairwise(places)) + cut.finish()
            assert given == shown

    def test_an_end_that_was_forgotten_loses_no_answer(self) -> None:
        cut = RelatedFilter()
        words = "word " * 400
        given = cut.feed(f"A\n<related-questions>\nOne?\nTwo?\nThree?\n\n{words}") + cut.finish()
        assert given.split() == ["A", *words.split()]
        assert tidy(cut.questions, "") == ("One?", "Two?", "Three?")

    def test_what_is_shown_is_short_and_plain(self) -> None:
        wild = [
            "x" * (LONGEST + 1),
            "see https://evil.example/ now",
            "[a](b) link",
            "ok?",
            "Is\u202e it\u0007 tea?",
            "is it tea",
        ]
        assert tidy(wild, "") == ("Is it tea?",)


def test_they_are_kept_with_the_turn() -> None:
    record = TurnRecord("a", "b", related=("c",))
    assert TurnRecord.from_dict(record.to_dict()).related == ("c",)
    assert TurnRecord.from_dict({"id": "a", "question": "b"}).related == ()
