"""The searches of a conversation are kept as long as the service keeps its own, and a hit says how old it is."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from qiusuo.chat.events.turn import RoundState
from qiusuo.chat.sessions.searches import SessionCache
from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.tools.langchain import SearchTool
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.scripted_model import Call, Reply

HEADLINES = "今日 头条新闻"
DAY = 24 * 3600.0


class Clock:
    """Stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def search(query: str = HEADLINES) -> Reply:
    return Reply.tools(Call("web_search", {"query": query}))


def asking(clock: Clock, memory: Memory | None = None, **more: Any) -> ChatWorld:
    """Return a server in which the model searches for the headlines in each of two turns.

    With a memory it is a server that was started again: its own cache is empty, the conversation goes on.
    """
    world = ChatWorld(search(), Reply.text("一 [1]。"), search(), Reply.text("二 [1]。"), clock=clock, **more)
    if memory is not None:
        world.memory = Memory.from_dict(json.loads(json.dumps(memory.to_dict())))
    return world


async def first_turn(clock: Clock, *, empty: bool = False, **more: Any) -> Memory:
    async with asking(clock, **more) as world:
        world.world["searxng"].empty = empty
        await world.ask("有什么新闻", AGENT)
        return world.memory


class TestTime:
    async def test_the_same_query_is_not_asked_twice(self, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        memory = await first_turn(clock)
        async with asking(clock, memory) as world:
            heard = await world.ask("再问", AGENT)
            assert world.requests() == 0
        assert heard.rounds[0].cached
        assert heard.rounds[0].found == 5
        assert "the conversation's cache" in caplog.text

    async def test_ten_days_later_it_is_asked_again(self, clock: Clock) -> None:
        memory = await first_turn(clock)
        clock.now += 10 * DAY
        async with asking(clock, memory) as world:
            heard = await world.ask("有什么新闻", AGENT)
            assert world.requests() == 1
        assert not heard.rounds[0].cached

    async def test_it_takes_the_time_of_the_settings(self, clock: Clock) -> None:
        memory = await first_turn(clock, cache_ttl=300)
        clock.now += 299
        async with asking(clock, memory, cache_ttl=300) as world:
            await world.ask("有什么新闻", AGENT)
            assert world.requests() == 0
            memory = world.memory
        clock.now += 2  # a hit does not make it younger
        async with asking(clock, memory, cache_ttl=300) as world:
            await world.ask("有什么新闻", AGENT)
            assert world.requests() == 1

    async def test_without_a_cache_nothing_is_kept(self, clock: Clock) -> None:
        async with asking(clock, cache_ttl=0) as world:
            await world.ask("有什么新闻", AGENT)
            await world.ask("有什么新闻", AGENT)
            assert world.requests() == 2
            assert world.memory.cache.to_dict() == []

    async def test_nothing_found_is_believed_for_a_minute(self, clock: Clock) -> None:
        memory = await first_turn(clock, empty=True)
        clock.now += 59
        async with asking(clock, memory) as world:
            assert (await world.ask("再问", AGENT)).rounds[0].state is RoundState.EMPTY
            assert world.requests() == 0
            memory = world.memory
        clock.now += 2
        async with asking(clock, memory) as world:
            assert (await world.ask("再问", AGENT)).rounds[0].state is RoundState.DONE
            assert world.requests() == 1

    async def test_what_the_service_had_in_its_cache_does_not_become_younger(self, clock: Clock) -> None:
        async with asking(clock) as world:
            await world.chat.service.asearch(HEADLINES, num_results=5)
            await world.ask("有什么新闻", AGENT)
            assert world.requests() == 1
            assert world.memory.cache.to_dict() == []  # its age is the service's to know

    async def test_entries_of_before_whose_age_nobody_knows_are_dropped(self, clock: Clock) -> None:
        memory = await first_turn(clock)
        kept = memory.to_dict()
        kept["cache"] = [entry[:2] for entry in kept["cache"]]
        async with asking(clock, Memory.from_dict(json.loads(json.dumps(kept)))) as world:
            await world.ask("再问", AGENT)
            assert world.requests() == 1


class TestAge:
    async def test_the_model_and_the_reader_are_told(self, clock: Clock) -> None:
        memory = await first_turn(clock)
        clock.now += 20 * 60
        async with asking(clock, memory) as world:
            heard = await world.ask("再问", AGENT)
            told = world.model.requests[-1].messages[-1]["content"]
        assert "20 分钟前" in told
        assert "20 min ago" in told
        assert heard.rounds[0].age == 20 * 60
        assert heard.rounds[0].to_dict()["age"] == 20 * 60

    async def test_a_new_search_has_no_age(self, clock: Clock) -> None:
        async with asking(clock) as world:
            heard = await world.ask("有什么新闻", AGENT)
            assert "ago" not in world.model.requests[-1].messages[-1]["content"].splitlines()[1]
        assert heard.rounds[0].age is None


class TestWhose:
    async def test_it_belongs_to_one_conversation(self, clock: Clock) -> None:
        await first_turn(clock)
        async with asking(clock, Memory()) as world:
            await world.ask("问题", AGENT)
            assert world.requests() == 1

    async def test_another_engine_is_asked_itself(self, clock: Clock) -> None:
        both: dict[str, Any] = {"engines": ("searxng", "tavily")}
        memory = await first_turn(clock, **both)
        async with asking(clock, memory, **both) as world:
            heard = await world.ask("再问", ChatSettings(mode=Mode.AGENT, engine="tavily"))
            assert world.requests("tavily") == 1
        assert heard.rounds[0].engine == "tavily"

    async def test_stale_results_are_not_kept(self, clock: Clock) -> None:
        async with asking(clock) as world:
            await world.ask("有什么新闻", AGENT)
            tool = SearchTool(service=world.world.service, cache=_Shelf())
            old = SearchResponse("茶", (SearchResultItem("旧", "https://example.com/", "…"),), "searxng", stale=True)
            tool._keep("茶", old)
            assert (await tool.find("茶")).results[0].title != "旧"

    def test_it_keeps_the_twenty_used_last(self) -> None:
        cache = SessionCache()
        for index in range(20):
            cache.put(str(index), SearchResponse(str(index), (), "x"), 1.0)
        assert cache.get("0") is not None
        cache.put("20", SearchResponse("20", (), "x"), 1.0)
        assert len(cache) == 20
        assert cache.get("1") is None
        assert cache.get("0") is not None
        again = SessionCache.from_dict(json.loads(json.dumps(cache.to_dict())))
        assert len(again) == 20
        assert again.get("20") is not None


class _Shelf:
    """A cache that somebody brings to the tool."""

    def __init__(self) -> None:
        self.kept: dict[str, SearchResponse] = {}

    def get(self, query: str) -> SearchResponse | None:
        return self.kept.get(query)

    def put(self, query: str, response: SearchResponse) -> None:
        self.kept[query] = response
