"""One numbering of sources for a conversation, whatever its mode; an answer's rounds and its list agree."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, messages_to_dict

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Check
from qiusuo.chat.sessions.session import ChatSettings, Memory
from tests.support.chat_world import AGENT, SEARCH, ChatWorld, Heard, scripted
from tests.support.scripted_model import Asked, Call, Reply, Step

OFF = ChatSettings()
ENTRY = re.compile(r"^\[(\d+)\] (.+)$", re.MULTILINE)
LISTED = re.compile(r"^- \[\[(\d+)\]\]\((\S+)\) ", re.MULTILINE)
ROUND = re.compile(r"^### 第 (\d+) 轮：(.+)$", re.MULTILINE)


def search(*queries: str) -> Reply:
    return Reply.tools(*[Call("web_search", {"query": query}) for query in queries])


def pages_of_each(world: ChatWorld) -> ChatWorld:
    """Let each query find pages of its own."""

    def page(number: int, query: str) -> dict[str, str]:
        word = query.encode("idna").decode()
        words = f"About {query}: text {number} of the pages that were found for it."
        date = f"2026-10-{number:02d}"
        return {"title": f"{query} {number}", "url": f"https://{word}.example/{number}", "snippet": words, "date": date}

    world.world["searxng"].provider.page = page  # type: ignore[method-assign]
    return world


def talk(*script: Step, **more: object) -> ChatWorld:
    return pages_of_each(ChatWorld(*script, **{"followups": False, **more}))  # type: ignore[arg-type]


def sources_by_number(asked: Asked) -> dict[int, set[str]]:
    """Return what each number stands for in the results that a request shows."""
    found: dict[int, set[str]] = defaultdict(set)
    for number, title in ENTRY.findall(asked.prompt):
        found[int(number)].add(re.sub(r" \(\d{4}-.*\)$", "", title))
    return found


def listed(heard: Heard) -> dict[int, str]:
    return {int(number): url for number, url in LISTED.findall(heard.done.references)}


def restarted(world: ChatWorld) -> None:
    world.memory = Memory.from_dict(json.loads(json.dumps(world.memory.to_dict())))


class TestOneNumbering:
    @pytest.mark.parametrize("restart", [False, True])
    async def test_an_agent_goes_on_where_chat_mode_ended(self, restart: bool) -> None:
        async with talk(Reply.text("甲 [2]。"), search("second"), Reply.text("乙 [6]，比甲 [2] 好。")) as world:
            first = await world.ask("first", SEARCH)
            if restart:
                restarted(world)
            second = await world.ask("再查", AGENT)
            shown = sources_by_number(world.model.requests[-1])
        assert sorted(shown) == list(range(1, 11))
        assert all(len(titles) == 1 for titles in shown.values())
        assert second.numbers == [6, 7, 8, 9, 10]
        assert first.done.answer == "甲 [[2]](https://first.example/2)。"
        assert second.done.answer == "乙 [[6]](https://second.example/1)，比甲 [[2]](https://first.example/2) 好。"
        assert listed(first) == {2: "https://first.example/2"}
        assert listed(second) == {2: "https://first.example/2"} | {
            5 + number: f"https://second.example/{number}" for number in range(1, 6)
        }

    async def test_chat_mode_goes_on_where_an_agent_ended(self) -> None:
        async with talk(search("first"), Reply.text("甲 [1]。"), Reply.text("乙 [7]。")) as world:
            await world.ask("查一下", AGENT)
            second = await world.ask("second", SEARCH)
            prompt = world.model.requests[-1].messages[-1]["content"]
        assert [int(number) for number, _ in ENTRY.findall(prompt)] == [6, 7, 8, 9, 10]
        assert second.rounds[0].numbers == (6, 7, 8, 9, 10)
        assert second.done.cited == (7,)
        assert listed(second) == {7: "https://second.example/2"}

    async def test_chat_mode_goes_on_after_chat_mode(self) -> None:
        async with talk(Reply.text("甲 [1]。"), Reply.text("乙 [6]。")) as world:
            await world.ask("first", SEARCH)
            second = await world.ask("second", SEARCH)
            shown = sources_by_number(world.model.requests[-1])
        assert all(len(titles) == 1 for titles in shown.values())
        assert listed(second) == {6: "https://second.example/1"}

    async def test_a_number_of_before_is_linked_without_a_search(self) -> None:
        async with talk(Reply.text("甲 [2]。"), Reply.text("如前所述 [2]。")) as world:
            await world.ask("first", SEARCH)
            second = await world.ask("再说一遍", OFF)
        assert second.done.answer == "如前所述 [[2]](https://first.example/2)。"
        assert listed(second) == {2: "https://first.example/2"}

    async def test_turns_that_were_forgotten_keep_their_numbers(self) -> None:
        words = "答" * 400
        async with talk(*[Reply.text(words)] * 6, search("last"), Reply.text("末 [31]。")) as world:
            world.chat = Chat(world.world.service, scripted(world.model, context_tokens=4096))
            for number in range(6):
                await world.ask(f"q{number}", SEARCH)
            heard = await world.ask("最后", AGENT)
            assert world.model.requests[-1].prompt.count("的搜索结果") < 7  # some are forgotten
            shown = sources_by_number(world.model.requests[-1])
        assert all(len(titles) == 1 for titles in shown.values())
        assert heard.numbers == [31, 32, 33, 34, 35]
        assert heard.done.answer == "末 [[31]](https://last.example/1)。"

    async def test_a_page_that_is_found_again_is_judged_by_its_new_words(self) -> None:
        async with ChatWorld(Reply.text("好 [1]。"), Reply.text("About green tea: text 1 [1].")) as world:
            await world.ask("something else", SEARCH)  # the same pages, with other words
            heard = await world.ask("green tea", SEARCH)
        [check] = heard.of(Check)
        assert [claim["support"] for claim in check.report["claims"]] == ["supported"]

    async def test_conversations_of_before_do_not_collide_either(self) -> None:
        said = [HumanMessage("结果：\n[1] 旧页\n    https://old.example/1\n\n问题：旧"), AIMessage("见 [1]。")]
        kept = {
            "messages": messages_to_dict(said),
            "starts": {"t1": 0},
            "registry": {"sources": [], "rounds": []},
            "cache": [],
        }
        async with talk(search("second"), Reply.text("乙 [1]。")) as world:
            world.memory = Memory.from_dict(json.loads(json.dumps(kept)))
            heard = await world.ask("再查", AGENT)
            restarted(world)  # and only once
            shown = sources_by_number(world.model.requests[-1])
            assert "(1) 旧页" in world.model.requests[-1].prompt
        assert shown[1] == {"second 1"}
        assert heard.done.answer == "乙 [[1]](https://second.example/1)。"
        assert "乙 [1]" in json.dumps(world.memory.to_dict(), ensure_ascii=False)


class TestRoundsAndList:
    async def test_a_search_from_the_cache_is_listed_as_any_other(self) -> None:
        async with talk(
            search("first"), Reply.text("甲 [1]。"), search("second"), search("first"), Reply.text("乙 [6]，甲 [1]。")
        ) as world:
            await world.ask("查一下", AGENT)
            heard = await world.ask("再查", AGENT)
        assert [(found.number, found.query) for found in heard.rounds] == [(1, "second"), (2, "first")]
        assert ROUND.findall(heard.done.references) == [("1", "second"), ("2", "first")]
        assert sorted(listed(heard)) == list(range(1, 11))
        assert sorted(heard.numbers) == list(range(1, 11))

    async def test_a_turn_that_only_repeats_a_search_lists_it(self) -> None:
        async with talk(search("first"), Reply.text("甲 [1]。"), search("first"), Reply.text("还是甲 [1]。")) as world:
            first = await world.ask("查一下", AGENT)
            heard = await world.ask("再查", AGENT)
        assert heard.done.references == first.done.references
        assert heard.rounds[0].cached

    async def test_a_round_that_failed_keeps_its_number(self) -> None:
        lost = Reply.tools(Call("fetch_page", {"url": "http://127.0.0.1:1/x"}))
        async with talk(lost, search("second"), Reply.text("乙 [1]。")) as world:
            heard = await world.ask("查一下", AGENT)
        assert [(found.number, found.kind) for found in heard.rounds] == [(1, "fetch_page"), (2, "web_search")]
        assert ROUND.findall(heard.done.references) == [("2", "second")]

    async def test_what_an_answer_has_listed_is_not_listed_twice(self) -> None:
        async with ChatWorld(search("甲", "乙"), Reply.text("见 [1]。")) as world:  # both find the same pages
            heard = await world.ask("查一下", AGENT)
        assert len(LISTED.findall(heard.done.references)) == 5
        assert "已列于前：[[1]]" in heard.done.references


class TestAddedCitations:
    @pytest.mark.parametrize("settings", [OFF, AGENT])
    async def test_none_are_added_where_nothing_was_searched(self, settings: ChatSettings) -> None:
        words = 'About green tea leaves: text 3 "quoted" 中文 <ok>.'
        async with ChatWorld(search("green tea leaves"), Reply.text("See [3]."), Reply.text(words)) as world:
            await world.ask("green tea leaves", AGENT)
            heard = await world.ask("say it again", settings)
        assert heard.done.answer == words
        assert heard.done.references == ""
        assert "citations_added" not in heard.codes

    async def test_only_what_this_turn_has_found_is_added(self) -> None:
        words = "About first: text 3 of the pages that were found for it."
        async with talk(Reply.text("甲 [1]。"), Reply.text(words)) as world:
            await world.ask("first", SEARCH)
            heard = await world.ask("second", SEARCH)
        assert not {1, 2, 3, 4, 5} & set(heard.done.cited)
