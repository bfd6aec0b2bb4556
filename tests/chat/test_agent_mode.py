"""Agent mode (P2, P3, C3, S14): the model decides to search; numbers run on; what fails is told once."""

from __future__ import annotations

import pytest

from qiusuo.chat.events.turn import Notice, Round, RoundState, Sources, TurnState
from qiusuo.chat.sessions.session import ChatSettings, Mode
from qiusuo.legal.answers.results import LawDetails, LegalAnswer
from qiusuo.legal.tools import regulations_text
from qiusuo.pages import PageReader
from qiusuo.testing import Fault
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.page_site import Site, response
from tests.support.scripted_model import Asked, Call, Gate, Reply
from tests.support.web_server import page_site


def search(query: str, **fields: str) -> Call:
    return Call("web_search", {"query": query, **fields})


class TestDeciding:
    async def test_the_model_may_answer_without_searching(self) -> None:
        async with ChatWorld(Reply.text("你好！")) as world:
            heard = await world.ask("你好", AGENT)
            assert world.requests() == 0
            assert heard.done.answer == "你好！"
            assert heard.done.references == ""
            assert heard.rounds == []

    async def test_the_model_may_ask_for_news_regulations_and_cases(self) -> None:
        calls = [
            search("选举"),
            search("选举", type="news"),
            search("选举", type="regulation"),
            search("选举", type="case"),
        ]
        async with ChatWorld(Reply.tools(*calls), Reply.text("好 [1]。"), cache_ttl=0) as world:
            await world.ask("选举", AGENT)
            offered = world.model.requests[0].body["tools"][0]
            arguments = offered["function"]["parameters"]["properties"]
            assert arguments["type"]["enum"] == ["general", "news", "regulation", "case"]
            assert arguments["query"]["examples"]
            asked = sorted(seen.params["q"] for seen in world.world["searxng"].seen)
            assert len(asked) == 4
            assert sum("法律法规" in words for words in asked) == 1
            assert sum("裁判文书" in words for words in asked) == 1
            assert [seen.params.get("categories") for seen in world.world["searxng"].seen].count("news") == 1

    async def test_the_model_writes_its_own_query_and_gets_the_results_back(self) -> None:
        async with ChatWorld(Reply.tools(search("2026年诺贝尔物理学奖")), Reply.text("获奖者是甲 [1]。")) as world:
            heard = await world.ask("那个奖是谁拿的", AGENT)
            assert world.world["searxng"].seen[0].params["q"] == "2026年诺贝尔物理学奖"
            first, second = world.model.requests
            assert "example.com" not in first.prompt  # nothing is injected
            assert second.messages[-1]["role"] == "tool"
            assert "[1]" in second.messages[-1]["content"]
            assert "[5]" in second.messages[-1]["content"]
            assert heard.done.answer == "获奖者是甲 [[1]](https://site1.example.com/page/1)。"

    async def test_the_tools_are_offered_with_the_words_of_the_seed(self) -> None:
        async with ChatWorld(Reply.text("好")) as world:
            await world.ask("你好", AGENT)
            tools = {tool["function"]["name"]: tool["function"] for tool in world.model.requests[0].body["tools"]}
            assert {"web_search", "fetch_page"} <= set(tools)
            assert tools["web_search"]["description"].startswith("搜索互联网获取实时信息。")
            assert "query" in tools["web_search"]["parameters"]["properties"]

    @pytest.mark.parametrize(("question", "examples"), [("你好", "示例"), ("hello", "examples")])
    async def test_the_prompt_has_examples_of_queries_and_of_reading_results(
        self, question: str, examples: str
    ) -> None:
        async with ChatWorld(Reply.text("好")) as world:
            await world.ask(question, AGENT)
            system = world.model.requests[0].messages[0]["content"]
            assert system.count(examples) >= 2
            assert "web_search(query=" in system
            assert "[4]" in system

    async def test_searches_in_parallel(self) -> None:
        async with ChatWorld(Reply.tools(search("甲"), search("乙")), Reply.text("甲 [1]，乙 [6]。")) as world:
            heard = await world.ask("比较", AGENT)
            assert world.requests() == 2
            assert sorted(heard.numbers) == [1, 2, 3, 4, 5]  # the loopback engine finds the same pages
            assert {round_.query for round_ in heard.rounds} == {"甲", "乙"}
            assert all(round_.state is RoundState.DONE for round_ in heard.rounds)


class TestRounds:
    async def test_numbers_run_on_over_searches_and_turns(self) -> None:
        async with ChatWorld(
            Reply.tools(search("甲")),
            Reply.tools(Call("fetch_page", {"url": "http://127.0.0.1:1/x"})),
            Reply.text("见 [1]。"),
            Reply.tools(search("丙")),
            Reply.text("见 [3]。"),
        ) as world:
            first = await world.ask("问题", AGENT)
            second = await world.ask("又一个", AGENT)
            assert [round_.number for round_ in first.rounds] == [1, 2]
            assert first.numbers == [1, 2, 3, 4, 5]
            assert second.rounds[0].numbers == (1, 2, 3, 4, 5)

    async def test_the_list_at_the_end_is_grouped_by_round(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), Reply.text("见 [2]。")) as world:
            heard = await world.ask("问题", AGENT)
            assert "### 第 1 轮：甲" in heard.done.references
            assert heard.done.references.count("\n- ") == 5  # all sources, not only the cited one

    async def test_no_citation_no_list(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), Reply.text("不清楚。")) as world:
            assert (await world.ask("问题", AGENT)).done.references == ""

    async def test_the_cap_takes_the_tools_away(self) -> None:
        def insist(asked: Asked) -> Reply:
            count = len(asked.messages)
            return Reply.tools(search(f"查询{count}")) if asked.tools else Reply.text("只知道这些 [1]。")

        async with ChatWorld(*[insist] * 5, agent_rounds=3) as world:
            heard = await world.ask("问题", AGENT)
            assert world.requests() == 3
            assert "rounds_capped" in heard.codes
            assert heard.done.state is TurnState.DONE
            assert heard.done.cited == (1,)
            assert world.model.requests[-1].tools == []
            assert "上限" in world.model.requests[-1].prompt

    async def test_text_before_a_call_is_kept_as_a_paragraph(self) -> None:
        async with ChatWorld(Reply.tools(search("甲"), say=["我查一下。"]), Reply.text("好了。")) as world:
            assert (await world.ask("问题", AGENT)).done.answer == "我查一下。\n\n好了。"


class TestTextCalls:
    @pytest.mark.parametrize(
        "text",
        [
            '{"name": "web_search", "arguments": {"query": "茶"}}',
            '```json\n{"name": "web_search", "arguments": {"query": "茶"}}\n```',
            '<tool_call>\n{"name": "web_search", "arguments": {"query": "茶"}}\n</tool_call>',
            '[{"type": "function", "function": {"name": "web_search", "arguments": "{\\"query\\": \\"茶\\"}"}}]',
            '我来查。\n{"tool": "web_search", "parameters": {"query": "茶"}}',
        ],
    )
    async def test_a_call_that_arrives_as_text_is_made_and_not_shown(self, text: str) -> None:
        pieces = [text[index : index + 4] for index in range(0, len(text), 4)]
        async with ChatWorld(Reply.text(*pieces), Reply.text("绿茶 [1]。")) as world:
            heard = await world.ask("茶", AGENT)
            assert world.world["searxng"].seen[0].params["q"] == "茶"
            assert "web_search" not in heard.text
            assert "{" not in heard.text
            assert heard.done.cited == (1,)

    async def test_json_that_is_no_call_is_shown(self) -> None:
        text = '```json\n{"name": "tea", "price": 3}\n```'
        async with ChatWorld(Reply.text(*text)) as world:
            assert (await world.ask("写一段 JSON", AGENT)).done.answer == text

    async def test_arguments_that_are_no_json_are_taken_as_the_query(self) -> None:
        async with ChatWorld(Reply.tools(Call("web_search", "绿茶")), Reply.text("好 [1]")) as world:
            await world.ask("茶", AGENT)
            assert world.world["searxng"].seen[0].params["q"] == "绿茶"


class TestFailures:
    async def test_when_every_engine_is_down_the_agent_is_told_once_and_stops_trying(self) -> None:
        async with ChatWorld(
            Reply.tools(search("甲")), Reply.text("无法核实。"), engines=("searxng", "tavily"), timeout=1
        ) as world:
            for name in ("searxng", "tavily"):
                world.world[name].fault = Fault.SERVER_ERROR
            heard = await world.ask("问题", AGENT)
            assert heard.done.state is TurnState.DONE
            assert [notice.level for notice in heard.of(Notice)] == ["warning"]
            told = world.model.requests[1]
            assert "web_search" not in told.tools
            assert "fetch_page" in told.tools
            assert "所有搜索引擎都不可用" in told.messages[-1]["content"]

    async def test_search_off_is_said_in_prompt_and_notice(self) -> None:
        async with ChatWorld(Reply.text("我没法搜索。"), engines=()) as world:
            heard = await world.ask("今天的新闻", AGENT)
            assert heard.codes == ["search_disabled"]
            assert "web_search" not in world.model.requests[0].tools
            assert "启用" in world.model.requests[0].messages[0]["content"]

    async def test_an_unknown_tool_does_no_harm(self) -> None:
        async with ChatWorld(Reply.tools(Call("launch", {"x": 1})), Reply.text("好。")) as world:
            assert (await world.ask("问题", AGENT)).done.answer == "好。"

    async def test_stopping_stops_the_search_and_the_loop(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), timeout=60) as world:
            from qiusuo.chat.turns.context import Ask

            world.world["searxng"].fault = Fault.HANG
            turn = world.chat.turn(Ask("问题", AGENT), world.memory)
            async for event in turn.events():
                if isinstance(event, Round):
                    turn.stop()
            assert turn.record.state is TurnState.STOPPED
            assert len(world.model.requests) == 1

    async def test_stopping_hangs_up_on_the_model(self) -> None:
        gate = Gate()
        async with ChatWorld(Reply.text("开头", gate, "结尾")) as world:
            from qiusuo.chat.turns.context import Ask

            turn = world.chat.turn(Ask("问题", AGENT), world.memory)
            async for event in turn.events():
                if event.type == "delta":
                    turn.stop()
            await world.model.hung_up()
            gate.open()
            assert turn.record.state is TurnState.STOPPED
            assert turn.record.answer == "开头"


class TestPages:
    async def test_a_page_that_is_read_is_a_source_and_evidence(self) -> None:
        with page_site() as (site, reader):
            url = f"{site.url}/article"
            async with ChatWorld(
                Reply.tools(Call("fetch_page", {"url": url})),
                Reply.text("搜索服务把多个引擎合而为一，并为每次搜索留下回执 [1]。"),
                reader=reader,
            ) as world:
                heard = await world.ask("读一下", AGENT)
                assert heard.done.cited == (1,)
                check = next(event for event in heard.events if event.type == "check")
                [claim] = check.report["claims"]  # type: ignore[attr-defined]
                assert claim["support"] == "supported"
                assert not claim["citations"][0]["snippetOnly"]
                assert heard.rounds[0].kind == "fetch_page"
            await reader.aclose()

    async def test_a_page_that_cannot_be_read_is_told(self) -> None:
        async with ChatWorld(
            Reply.tools(Call("fetch_page", {"url": "http://10.0.0.1/"})), Reply.text("读不到。")
        ) as world:
            heard = await world.ask("读一下", AGENT)
            assert heard.codes == ["page_failed"]
            assert heard.done.state is TurnState.DONE


PADDING = "".join(f"<p>第{number}段介绍江边的风景、餐馆和交通，与数字无关。</p>" for number in range(400))
TOWER = f"<html><title>东方塔</title><body><article><h1>东方塔</h1>{PADDING}<h2>结构</h2><p>塔身由钢管组成。</p>\
<p>东方塔的总高度为468米。</p><p>塔内共有35层。</p></article></body></html>"
BRIDGE = f"<html><title>长虹桥</title><body><article><h1>长虹桥</h1>{PADDING}<h2>数据</h2>\
<p>长虹桥的高度是91米，比东方塔矮。</p></article></body></html>"


class TestSeveralPages:
    async def test_pages_of_one_call_are_read_side_by_side_and_answered_with_passages(self) -> None:
        async with (
            Site({"/tower": response(TOWER), "/bridge": response(BRIDGE)}) as site,
            PageReader(site.policy()) as reader,
        ):
            urls = [site.url("/tower"), site.url("/bridge"), "http://10.0.0.1/secret"]
            script = (
                Reply.tools(Call("fetch_page", {"urls": urls})),
                Reply.text("东方塔高468米 [1]，长虹桥高91米 [2]。"),
            )
            async with ChatWorld(*script, reader=reader) as world:
                heard = await world.ask("东方塔和长虹桥的高度是多少", AGENT)
                told = world.model.requests[-1].messages[-1]["content"]
        assert sorted(site.paths) == ["/bridge", "/tower"]
        assert [(found.kind, found.state.value) for found in heard.rounds] == [
            ("fetch_page", "done"),
            ("fetch_page", "done"),
            ("fetch_page", "failed"),
        ]
        assert "总高度为468米" in told
        assert "塔身由钢管组成" in told, "the neighbouring sentences"
        assert "结构" in told, "the heading above"
        assert "高度是91米" in told
        assert len(told) < 8000, "passages, not the beginnings of pages"
        assert "10.0.0.1" in told, "the model is told of the page that could not be read"
        assert heard.done.cited == (1, 2)
        assert heard.codes == ["page_failed"]
        check = next(event for event in heard.events if event.type == "check")
        assert check.report["counts"]["supported"] == 2  # type: ignore[attr-defined]

    async def test_the_source_shows_what_answers(self) -> None:
        async with Site({"/tower": response(TOWER)}) as site, PageReader(site.policy()) as reader:
            call = Call("fetch_page", {"url": site.url("/tower")})
            async with ChatWorld(Reply.tools(call), Reply.text("468米 [1]。"), reader=reader) as world:
                heard = await world.ask("东方塔有多高", AGENT)
        [source] = [source for event in heard.of(Sources) for source in event.sources if source.page_read]
        assert "468米" in source.snippet

    async def test_more_pages_than_may_be_read_at_once_are_named(self) -> None:
        async with Site({"/tower": response(TOWER)}) as site, PageReader(site.policy()) as reader:
            call = Call("fetch_page", {"urls": [site.url(f"/tower?{number}") for number in range(7)]})
            async with ChatWorld(Reply.tools(call), Reply.text("好。"), reader=reader) as world:
                await world.ask("东方塔有多高", AGENT)
                told = world.model.requests[-1].messages[-1]["content"]
        assert len(site.paths) == 5
        assert site.url("/tower?6") in told


class TestBudget:
    async def test_the_model_is_told_how_many_rounds_are_left(self) -> None:
        script = (Reply.tools(search("甲")), Reply.tools(search("乙")), Reply.text("好 [1]。"))
        async with ChatWorld(*script, agent_rounds=3) as world:
            await world.ask("问题", AGENT)
            told = [one.messages[-1]["content"].splitlines()[0] for one in world.model.requests[1:]]
        assert "还可以调用工具 2 轮" in told[0]
        assert "还可以调用工具 1 轮" in told[1]

    async def test_in_english(self) -> None:
        async with ChatWorld(Reply.tools(search("tea")), Reply.text("Yes [1].")) as world:
            await world.ask("What is tea?", AGENT)
            assert "5 more rounds" in world.model.requests[-1].messages[-1]["content"].splitlines()[0]


class TestModes:
    async def test_back_in_chat_mode_tool_messages_are_left_out(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), Reply.text("一 [1]"), Reply.text("二")) as world:
            await world.ask("问题", AGENT)
            await world.ask("再问", ChatSettings(mode=Mode.CHAT))
            roles = [message["role"] for message in world.model.requests[-1].messages]
            assert roles == ["system", "user", "assistant", "user"]

    async def test_the_first_call_can_be_required(self) -> None:
        async with ChatWorld(Reply.tools(search("甲")), Reply.text("一 [1]"), agent_tool_choice="required") as world:
            await world.ask("问题", AGENT)
            first, second = world.model.requests
            assert first.body["tool_choice"] == "required"
            assert "tool_choice" not in second.body


def test_only_the_heads_of_entries_get_the_numbers_of_the_conversation() -> None:
    law = "下列行为：\n[2] 掺假\r\n[1] 涨价\u2028[2] 缺秤"
    articles = tuple(LawDetails("茶叶法", f"第{n}条", law, "", "") for n in "一二")
    lines = regulations_text(LegalAnswer("茶", articles), [7, 9]).splitlines()
    assert [line for line in lines if line.startswith("[")] == ["[7] 茶叶法 第一条", "[9] 茶叶法 第二条"]
    assert [line.strip() for line in lines if "掺假" in line or "涨价" in line] == ["(2) 掺假", "(1) 涨价 (2) 缺秤"] * 2
