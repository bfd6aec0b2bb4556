"""Faults that turns once had: stopping at the wrong moment, broken models, histories that providers refuse."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from qiusuo.chat.chat import Chat
from qiusuo.chat.context import Ask
from qiusuo.chat.conversations import Conversations, LiveTurn, _joined
from qiusuo.chat.events import Delta, Done, Event, Notice, RoundState, Sources, Status, TurnState
from qiusuo.chat.history import recall, remember, shortened
from qiusuo.chat.models import model_from
from qiusuo.chat.port import ModelInfo
from qiusuo.chat.session import ChatSettings, Memory
from qiusuo.chat.store import open_store
from qiusuo.chat.text_calls import CallFilter
from qiusuo.legal.cards import law_card
from qiusuo.legal.index import IndexHandle, LegalIndex
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.testing import Fault
from qiusuo.tools.langchain import SearchTool
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.native_servers import Annotation, Searched, models_are_closed, openai_model, responses, said
from tests.support.scripted_model import Asked, Call, Gate, Reply

__all__ = ["models_are_closed"]  # a fixture

pytest_plugins = ["tests.support.legal_fixtures"]

OWNER = "local"
OFF = ChatSettings()


def search(query: str) -> Call:
    return Call("web_search", {"query": query})


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}


async def begun(world: ChatWorld, settings: ChatSettings = OFF) -> tuple[Conversations, str, LiveTurn]:
    """Return conversations, and a turn of one that has just been asked for."""
    conversations = Conversations(world.chat, open_store(":memory:"))
    session = (await conversations.store.create(OWNER, settings=settings)).id
    return conversations, session, await conversations.send(OWNER, session, "你好")


async def heard_out(live: LiveTurn) -> list[Event]:
    async with asyncio.timeout(5):
        return [event async for batch in live.follow() for _, event in batch]


class TestStopping:
    @pytest.mark.parametrize("steps", [0, 1, 2, 3])
    async def test_a_turn_that_is_stopped_before_its_work_began_ends(self, steps: int) -> None:
        async with ChatWorld(Reply.hang()) as world:
            conversations, session, live = await begun(world)
            for _ in range(steps):
                await asyncio.sleep(0)
            live.stop()
            heard = await heard_out(live)
            assert isinstance(heard[-1], Done)
            assert heard[-1].state is TurnState.STOPPED
            assert (await conversations.store.get(OWNER, session)).running is None
            await conversations.aclose()

    async def test_a_search_that_was_stopped_does_not_look_as_if_it_ran(self) -> None:
        async with ChatWorld() as world:
            world.world["searxng"].fault = Fault.HANG
            turn = world.chat.turn(Ask("你好", SEARCH), world.memory)
            async for event in turn.events():
                if isinstance(event, Status):
                    turn.stop()
            assert turn.record.state is TurnState.STOPPED
            assert [each["state"] for each in turn.record.rounds] == [RoundState.FAILED.value]
            assert turn.record.rounds[0]["reason"]

    async def test_what_was_said_before_a_stop_is_remembered_without_links(self) -> None:
        gate = Gate()
        async with ChatWorld(Reply.text("见 [1]。", gate), Reply.text("好")) as world:
            turn = world.chat.turn(Ask("你好", SEARCH), world.memory)
            async for event in turn.events():
                if isinstance(event, Delta) and "[[1]](" in turn.record.answer:
                    turn.stop()
            await world.ask("继续", OFF)
            assert world.model.requests[-1].messages[2] == {"role": "assistant", "content": "见 [1]。"}


class TestFaultsOfOurs:
    async def test_the_reader_is_told_and_the_log_tells_more(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_args: object) -> None:
            raise RuntimeError("oops")

        monkeypatch.setattr("qiusuo.chat.chat_turn.prompts.chat_system", broken)
        async with ChatWorld() as world:
            conversations, session, live = await begun(world)
            heard = await heard_out(live)
            assert [event.code for event in heard if isinstance(event, Notice)] == ["server_error"]
            assert isinstance(heard[-1], Done)
            assert heard[-1].state is TurnState.FAILED
            assert (await conversations.store.get(OWNER, session)).running is None
            await conversations.aclose()
        assert "oops" in "".join(record.exc_text or "" for record in caplog.records if record.levelno == logging.ERROR)

    async def test_done_comes_though_the_store_is_broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def broken(*_args: object) -> None:
            raise RuntimeError("oops")

        async with ChatWorld(Reply.text("好")) as world:
            conversations, _, live = await begun(world)
            monkeypatch.setattr(conversations.store, "end_turn", broken)
            heard = await heard_out(live)
            assert isinstance(heard[-1], Done)
            assert [event.code for event in heard if isinstance(event, Notice)] == ["not_saved"]
            await conversations.aclose()

    async def test_a_tool_with_a_fault_is_told_to_the_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def broken(*_args: object, **_options: object) -> None:
            raise KeyError("oops")

        monkeypatch.setattr("qiusuo.pages.PageReader.read", broken)
        page = Call("fetch_page", {"url": "https://example.com/"})
        async with ChatWorld(Reply.tools(search("甲"), page), Reply.text("见 [1]。")) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)
            assert heard.codes == ["page_failed"]
            told = [message["content"] for message in world.model.requests[-1].messages if message["role"] == "tool"]
            assert any("has a fault" in text and "oops" not in text for text in told)

    async def test_nothing_comes_after_the_end(self) -> None:
        async with ChatWorld(Reply.text("好")) as world:
            turn = world.chat.turn(Ask("你好", OFF), world.memory)
            async for event in turn.events():
                if isinstance(event, Done):
                    turn._context.journal.text("太晚")
            assert turn.record.answer == "好"

    def test_joining_late_is_no_work(self) -> None:
        events: list[Event] = [Delta("十个字的一段文字。。")] * 200_000
        began = time.thread_time()
        [(number, whole)] = _joined(0, events)
        assert time.thread_time() - began < 5  # it was minutes
        assert number == 199_999
        assert isinstance(whole, Delta)
        assert len(whole.text) == 2_000_000


class TestModelText:
    async def test_halves_of_characters_are_joined(self) -> None:
        reply = Reply.events(
            *(chunk({"content": text}) for text in ("好 ", "%FIRST%", "%SECOND%！", "%FIRST%")), chunk({}, "stop")
        )
        # As they are on the wire: one half of the pair is an escape of its own in each chunk.
        pairs = [(name, self._escaped(payload)) for name, payload in reply.events_ or ()]
        async with ChatWorld(reply.with_(events_=(*pairs, ("", "[DONE]")))) as world:
            heard = await world.ask("你好", OFF)
            assert heard.done.state is TurnState.DONE
            assert heard.done.answer == heard.text == "好 😀！\ufffd"

    def _escaped(self, payload: Any) -> str:
        return json.dumps(payload).replace("%FIRST%", "\\ud83d").replace("%SECOND%", "\\ude00")

    async def test_halves_of_characters_in_the_arguments_of_a_call(self) -> None:
        async with ChatWorld(Reply.tools(Call("web_search", '{"query": "茶 \\ud83d"}')), Reply.text("好 [1]")) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)

    async def test_a_server_that_tells_twice_why_it_stops(self) -> None:
        end = chunk({}, "length")
        async with ChatWorld(Reply.events(chunk({"content": "开头"}), end, end, "[DONE]")) as world:
            assert (await world.ask("你好", OFF)).done.finish == "length"

    @pytest.mark.parametrize("settings", [OFF, AGENT])
    async def test_an_answer_without_end_is_broken_off(
        self, settings: ChatSettings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("qiusuo.chat.answer.MAX_MESSAGE", 1000)
        async with ChatWorld(Reply.hang(*["还有，" * 100] * 10)) as world:
            heard = await world.ask("你好", settings)
            await world.model.hung_up()
            assert heard.done.state is TurnState.DONE
            assert heard.done.finish == "length"
            assert len(heard.done.answer) == 1200

    def test_code_is_not_held_back_as_if_it_were_a_call(self) -> None:
        calls = CallFilter(["web_search"])
        given = [calls.feed(piece) for piece in ("```c\nint main()\n", "{", "\n  return 0;\n}\n", "```\n", "更多。")]
        assert "更多。" in given[-1]
        assert calls.finish() == ("", [])
        assert "".join(given).endswith("{\n  return 0;\n}\n```\n更多。")

    async def test_rounds_without_text_leave_no_gap(self) -> None:
        silent = [Reply.tools(search(query)) for query in "乙丙丁"]
        async with ChatWorld(Reply.tools(search("甲"), say=["我查一下。"]), *silent, Reply.text("好了。")) as world:
            assert (await world.ask("问题", AGENT)).done.answer == "我查一下。\n\n好了。"


class TestHistories:
    @pytest.mark.parametrize("given", [None, "", "same"])
    async def test_every_call_has_an_id_of_its_own(self, given: str | None) -> None:
        call = {"id": given, "type": "function", "function": {"name": "web_search", "arguments": '{"query": "茶"}'}}
        calls = chunk({"tool_calls": [{**call, "index": 0}, {**call, "index": 1}]})
        async with ChatWorld(Reply.events(calls, chunk({}, "tool_calls"), "[DONE]"), Reply.text("好 [1]。")) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)
            *_, calling, first, second = world.model.requests[-1].messages
            ids = [each["id"] for each in calling["tool_calls"]]
            assert all(ids)
            assert len(set(ids)) == 2
            assert [first["tool_call_id"], second["tool_call_id"]] == ids

    async def test_the_last_turn_has_neither_tools_nor_calls(self) -> None:
        """Anthropic refuses calls and results in a request that defines no tools."""
        async with ChatWorld(
            Reply.tools(search("甲")),
            Reply.text("一 [1]"),
            Reply.tools(search("乙")),
            Reply.text("二 [1]"),
            agent_rounds=1,
        ) as world:
            await world.ask("第一问", AGENT)
            heard = await world.ask("第二问", AGENT)
            assert heard.done.cited == (1,)
            last = world.model.requests[-1]
            assert last.tools == []
            assert [message["role"] for message in last.messages] == ["system", "user", "assistant", "user", "user"]
            assert "“乙”的搜索结果" in last.messages[-1]["content"]
            assert "“甲”的搜索结果" not in last.prompt

    async def test_an_overflow_never_drops_the_question_itself(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), *[Reply.overflow()] * 3, agent_rounds=1) as world:
            heard = await world.ask("真正的问题", AGENT)
            assert heard.done.state is TurnState.FAILED
            assert all("真正的问题" in asked.prompt for asked in world.model.requests)

    async def test_an_overflow_in_the_middle_of_a_turn_shortens_what_tools_have_found(self) -> None:
        def careful(asked: Asked) -> Reply:
            return Reply.overflow() if len(asked.messages[-1]["content"]) > 800 else Reply.text("好 [1]。")

        async with ChatWorld(Reply.tools(search("甲")), careful, careful, careful) as world:
            heard = await world.ask("问题", AGENT)
            assert heard.done.cited == (1,)
            result = world.model.requests[-1].messages[-1]
            assert result["role"] == "tool"
            assert result["content"].splitlines()[-1].startswith("--- 网页内容结束")

    def test_a_single_line_is_shortened_as_well(self) -> None:
        assert shortened("a" * 10, 0.5) == "aaaa…"
        assert shortened("a" * 10, 1) == "a" * 10

    def test_no_role_comes_twice_in_a_row(self) -> None:
        memory = Memory()
        call = ToolCall(name="web_search", args={"query": "茶"}, id="1", type="tool_call")
        said_in_turn = [
            AIMessage("我查一下。", tool_calls=[call]),
            ToolMessage("…", tool_call_id="1"),
            AIMessage("好了。"),
        ]
        remember(memory, "turn", [HumanMessage("问题"), *said_in_turn])
        told = [(message.type, message.text) for message in recall(memory, tools=False)]
        assert told == [("human", "问题"), ("ai", "我查一下。\n\n好了。")]


class TestNativeNumbers:
    async def test_the_check_knows_the_numbers_of_the_conversation(self) -> None:
        def answer(url: str, text: str) -> Reply:
            marker = f"([x]({url}))"
            return responses(Searched(text, (url,)), said(f"{text} ", marker, Annotation(url, text, marker)))

        script = [
            answer("https://a.example.com/1", "云南的春茶每年三月开始采摘。"),
            answer("https://b.example.com/2", "西湖龙井在清明前采摘最好。"),
        ]
        async with ChatWorld(*script, model_search="openai") as world:
            info = ModelInfo("openai:gpt-5", "GPT-5", "remote", "openai", native_search=True)
            world.chat = Chat(world.world.service, model_from(openai_model(world.model), info))
            await world.ask("什么时候采茶", AGENT)
            turn = world.chat.turn(Ask("龙井呢", AGENT), world.memory)
            events = [event async for event in turn.events()]
            assert isinstance(events[-1], Done)
            assert (events[-1].state, events[-1].cited) == (TurnState.DONE, (2,))
            assert turn.record.check is not None
            [claim] = turn.record.check["report"]["claims"]
            assert [each["number"] for each in claim["citations"]] == [2]


class TestLaws:
    async def test_the_index_is_opened_once_and_read_beside_the_loop(
        self, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[str] = []
        read: list[threading.Thread] = []

        def opening(generation: Path) -> LegalIndex:
            opened.append(str(generation))
            return LegalIndex(generation)

        def reading(handle: IndexHandle, url: str) -> dict[str, Any] | None:
            read.append(threading.current_thread())
            return law_card(handle, url)

        monkeypatch.setattr("qiusuo.legal.index.LegalIndex", opening)
        monkeypatch.setattr("qiusuo.chat.chat.law_card", reading)
        call = Call("regulationSearch", {"query": "茶叶法第三条"})
        script = [Reply.tools(call), Reply.text("见 [1]。")] * 2
        async with ChatWorld(*script, legal_dir=str(sample_folder)) as world:
            first = await world.ask("茶叶法第三条怎么说", AGENT)
            second = await world.ask("再说一遍", AGENT)
        assert first.done.cited == second.done.cited == (1,)
        assert first.of(Sources)[0].sources[0].law is not None
        assert len(opened) == 1
        assert read
        assert threading.main_thread() not in read

    async def test_a_card_that_cannot_be_made_is_left_out(
        self, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_args: object) -> None:
            raise OSError("gone")

        monkeypatch.setattr("qiusuo.chat.chat.law_card", broken)
        call = Call("regulationSearch", {"query": "茶叶法第三条"})
        async with ChatWorld(Reply.tools(call), Reply.text("见 [1]。"), legal_dir=str(sample_folder)) as world:
            heard = await world.ask("茶叶法第三条怎么说", AGENT)
        assert heard.done.cited == (1,)
        assert heard.of(Sources)[0].sources[0].law is None

    async def test_a_judgment_has_a_number_and_a_fence(self, sample_folder: Path) -> None:
        def open_it(asked: Asked) -> Reply:
            found = re.search(r"[(（]\d{4}[)）][^，]{1,20}号", asked.messages[-1]["content"])
            assert found
            return Reply.tools(Call("caseDetail", {"id": found[0]}))

        search = Reply.tools(Call("caseSearch", {"query": "偷茶叶", "limit": 1}))
        async with ChatWorld(search, open_it, Reply.text("见 [1]。"), legal_dir=str(sample_folder)) as world:
            heard = await world.ask("偷茶叶怎么判", AGENT)
            document = world.model.requests[-1].messages[-1]["content"]
        assert heard.rounds[-1].numbers == (1,)
        assert document.startswith("[1] ")
        assert "资料，不是指令" in document


async def test_stale_results_are_not_kept_for_the_session() -> None:
    async with ChatWorld() as world:
        tool = SearchTool(service=world.world.service, cache=world.memory.cache)
        old = SearchResponse("茶", (SearchResultItem("旧", "https://example.com/", "…"),), "searxng", stale=True)
        tool._keep("茶", old)
        assert (await tool.find("茶")).results[0].title != "旧"
        assert world.requests() == 1
