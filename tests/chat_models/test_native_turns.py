"""S15: a model with its own web search is asked first, and no other API; its citations reach the same source list."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Done, Notice, Round, Sources, TurnState
from qiusuo.chat.models.opening import model_from
from qiusuo.chat.models.port import ModelInfo
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.words import Language
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.native_servers import (
    Annotation,
    Searched,
    anthropic_model,
    asks,
    cited,
    claude,
    found,
    models_are_closed,
    not_found,
    openai_model,
    responses,
    said,
)
from tests.support.scripted_model import Reply, Step

__all__ = ["models_are_closed"]  # a fixture

PAGE = "https://weather.example.cn/shanghai?utm_source=openai"
MARKER = f"([weather.example.cn]({PAGE}))"
ANSWER = responses(
    Searched("上海 天气", (PAGE,)), said("上海今天晴，18 度。 ", MARKER, Annotation(PAGE, "上海天气", MARKER))
)
INFO = ModelInfo("openai:gpt-5", "GPT-5", "remote", "openai", native_search=True)


def world(*script: Step, **settings: Any) -> ChatWorld:
    """A conversation whose model has OpenAI's own search."""
    made = ChatWorld(*script, model_search="openai", **settings)
    made.chat = Chat(made.world.service, model_from(openai_model(made.model), INFO))
    return made


class TestNativeFirst:
    async def test_no_other_search_api_is_called_and_the_citations_are_ours(self) -> None:
        async with world(ANSWER) as it:
            heard = await it.ask("上海天气如何")
            assert it.requests() == 0
            assert heard.done.state is TurnState.DONE
            assert "[[1]](https://weather.example.cn/shanghai)" in heard.done.answer
            assert "utm_source" not in heard.done.answer
            assert [round_.kind for round_ in heard.rounds] == ["native"]
            assert heard.rounds[0].query == "上海 天气"
            assert heard.rounds[0].engine_label == "GPT-5"
            [sources] = heard.of(Sources)
            assert (sources.sources[0].number, sources.sources[0].title) == (1, "上海天气")
            assert heard.done.references.startswith("## 参考文献")

    @pytest.mark.parametrize("engine", [None, "native"])
    async def test_what_is_kept_to_some_sites_is_searched_by_an_engine(self, engine: str | None) -> None:
        async with world(Reply.text("晴 [1]。")) as it:
            heard = await it.ask("上海天气如何", ChatSettings(search=True, engine=engine, sites=("site1.example.com",)))
            assert [round_.engine for round_ in heard.rounds] == ["searxng"]
            assert heard.numbers == [1]

    async def test_where_there_is_no_engine_the_reader_is_told(self) -> None:
        async with world(ANSWER, engines=()) as it:
            heard = await it.ask("上海天气如何", ChatSettings(search=True, focus="news"))
            assert [round_.kind for round_ in heard.rounds] == ["native"]
            assert "focus_not_kept" in heard.codes

    async def test_switch_off_the_model_may_not_search(self) -> None:
        async with world(Reply.text("你好")) as it:
            heard = await it.ask("你好", ChatSettings())
            assert it.model.requests[0].path == "/v1/chat/completions"
            assert it.model.requests[0].tools == []
            assert heard.of(Round) == []

    async def test_when_it_fails_the_next_provider_is_asked(self) -> None:
        async with world() as it:
            it.model.otherwise = lambda asked: (
                Reply.error(503) if asked.path.endswith("responses") else Reply.text("晴 [1]。")
            )
            heard = await it.ask("上海天气如何")
            assert it.requests() == 1
            [told] = [
                notice.wording(Language.CHINESE).what for notice in heard.of(Notice) if notice.code == "native_failed"
            ]
            assert "模型的服务商出错（HTTP 503）" in told
            assert heard.done.cited == (1,)

    async def test_another_order_goes_first(self) -> None:
        async with world(Reply.text("晴 [1]。"), provider_priority="searxng,native") as it:
            await it.ask("上海天气如何")
            assert it.requests() == 1
            assert it.model.requests[0].path == "/v1/chat/completions"

    async def test_an_engine_that_was_chosen_goes_first(self) -> None:
        async with world(Reply.text("晴 [1]。")) as it:
            await it.ask("上海天气如何", ChatSettings(search=True, engine="searxng"))
            assert it.requests() == 1

    @pytest.mark.parametrize("settings", [SEARCH, AGENT], ids=["chat", "agent"])
    async def test_numbers_run_on(self, settings: ChatSettings) -> None:
        other = "https://news.example.com/a"
        marker = f"([news]({other}))"
        second = responses(Searched("新闻", (other,)), said("新闻。 ", marker, Annotation(other, "新闻", marker)))
        async with world(ANSWER, second) as it:
            await it.ask("上海天气如何", settings)
            heard = await it.ask("有什么新闻", settings)
            assert "[[2]](https://news.example.com/a)" in heard.done.answer
            assert heard.done.cited == (2,)
            assert f"- [[2]]({other})" in heard.done.references
            assert ("### 第 1 轮：新闻" in heard.done.references) == (settings is AGENT)

    async def test_the_conversation_goes_on(self) -> None:
        async with world(ANSWER, ANSWER) as it:
            await it.ask("上海天气如何")
            await it.ask("明天呢")
            assert "18 度" in it.model.requests[1].prompt


class TestAnthropic:
    def world(self, *script: Step) -> ChatWorld:
        made = ChatWorld(*script, model_search="anthropic")
        info = ModelInfo("anthropic:claude-sonnet-5", "Claude", "remote", "anthropic", native_search=True)
        made.chat = Chat(made.world.service, model_from(anthropic_model(made.model), info))
        return made

    async def test_the_words_of_the_source_are_the_evidence(self) -> None:
        page = ("https://weather.example.cn/shanghai", "上海天气")
        note = {"url": page[0], "title": page[1], "cited_text": "上海今天晴，18 度。"}
        async with self.world(claude(asks("上海天气"), found(page), cited("上海今天晴，18 度。", by=[note]))) as it:
            heard = await it.ask("上海天气如何", SEARCH)
            assert it.requests() == 0
            check = next(event for event in heard.events if event.type == "check")
            assert check.to_dict()["report"]["counts"]["supported"] == 1

    async def test_a_failure_inside_of_200_goes_to_the_next_provider(self) -> None:
        async with self.world(claude(asks("上海天气"), not_found("unavailable"), cited("抱歉。"))) as it:
            it.model.otherwise = claude(cited("晴 [1]。"))
            heard = await it.ask("上海天气如何", SEARCH)
            assert it.requests() == 1
            assert "native_failed" in heard.codes
            assert heard.done.cited == (1,)


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
