"""A turn that is stopped, and faults of our own in the middle of one."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from qiusuo.chat.events.turn import Delta, Done, Event, Notice, RoundState, Status, TurnState
from qiusuo.chat.live.conversations import Conversations, LiveTurn
from qiusuo.chat.live.running import joined
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.turns.context import Ask
from qiusuo.testing import Fault
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.scripted_model import Call, Gate, Reply

OWNER = "local"


OFF = ChatSettings()


def search(query: str) -> Call:
    return Call("web_search", {"query": query})


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
            turn = world.chat.turn(Ask("茶的历史", SEARCH), world.memory)
            async for event in turn.events():
                if isinstance(event, Status):
                    turn.stop()
            assert turn.record.state is TurnState.STOPPED
            assert [each["state"] for each in turn.record.rounds] == [RoundState.FAILED.value]
            assert turn.record.rounds[0]["reason"]

    async def test_what_was_said_before_a_stop_is_remembered_without_links(self) -> None:
        gate = Gate()
        async with ChatWorld(Reply.text("见 [1]。", gate), Reply.text("好")) as world:
            turn = world.chat.turn(Ask("茶的历史", SEARCH), world.memory)
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

        monkeypatch.setattr("qiusuo.chat.turns.chat_turn.prompts.chat_system", broken)
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
            assert any("fetch_page 出了故障" in text and "oops" not in text for text in told)

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
        [(number, whole)] = joined(0, events)
        assert time.thread_time() - began < 5  # it was minutes
        assert number == 199_999
        assert isinstance(whole, Delta)
        assert len(whole.text) == 2_000_000
