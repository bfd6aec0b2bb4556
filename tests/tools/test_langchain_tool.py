"""SearchTool as LangChain sees it, and in a real agent run with a scripted chat model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.pages import PageReader
from qiusuo.testing import Fault
from qiusuo.tools.langchain import SearchTool, as_langchain_tool, search_tools
from qiusuo.tools.specs import OWN_TOOLS, QueryArguments, Toolbox
from tests.support.world import World

# One process for all: importing LangChain is slow.
pytestmark = pytest.mark.xdist_group("langchain")

DESCRIPTION = "搜索互联网获取实时信息。当需要了解最新事件、实时数据、当前新闻或验证信息时使用此工具。"
ARGUMENT = "搜索查询关键词,应该具体、清晰、针对性强"


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"^\[(\d+)\]", text, re.MULTILINE)]


class TestInterface:
    async def test_is_a_langchain_tool_with_the_exact_texts(self) -> None:
        async with World("tavily") as here:
            tool = SearchTool(service=here.service)
            assert isinstance(tool, BaseTool)
            assert tool.name == "web_search"
            assert tool.description == DESCRIPTION
            function = convert_to_openai_tool(tool)["function"]
            assert list(function["parameters"]["properties"]) == ["query"]
            assert function["parameters"]["properties"]["query"]["description"] == ARGUMENT
            examples = function["parameters"]["properties"]["query"]["examples"]
            assert examples == QueryArguments.model_json_schema()["properties"]["query"]["examples"]
            assert function["description"] == DESCRIPTION
            assert function["parameters"]["required"] == ["query"]

    async def test_at_most_five_results_of_two_hundred_characters(self) -> None:
        async with World("tavily") as here:
            text = await SearchTool(service=here.service).ainvoke({"query": "x" * 300})
            assert numbers(text) == [1, 2, 3, 4, 5]
            snippets = [line.strip() for line in text.splitlines() if line.startswith("    About")]
            assert snippets
            assert all(len(snippet) <= 200 for snippet in snippets)

    def test_sync_call_uses_the_sync_service(self) -> None:
        with World("tavily") as here:
            assert numbers(SearchTool(service=here.service).invoke({"query": "同步"})) == [1, 2, 3, 4, 5]

    async def test_structured_results_travel_as_artifact(self) -> None:
        async with World("tavily") as here:
            call = {"name": "web_search", "args": {"query": "x"}, "id": "1", "type": "tool_call"}
            message = await SearchTool(service=here.service).ainvoke(call)
            assert isinstance(message, ToolMessage)
            assert message.artifact["provider"] == "tavily"
            assert message.artifact["numbers"] == [1, 2, 3, 4, 5]
            assert message.artifact["results"][0]["url"].startswith("https://site1")

    async def test_an_answer_from_the_cache_says_so(self) -> None:
        async with World("tavily") as here:
            tool = SearchTool(service=here.service)
            call = {"name": "web_search", "args": {"query": "x"}, "id": "1", "type": "tool_call"}
            first, second = await tool.ainvoke(call), await tool.ainvoke(call)
            assert (first.artifact["cached"], second.artifact["cached"]) == (False, True)
            assert "from the cache" not in first.text
            assert "from the cache" in second.text

    async def test_concurrent_calls_do_not_mix(self) -> None:
        async with World("tavily") as here:
            tool = SearchTool(service=here.service)
            texts = await asyncio.gather(*(tool.ainvoke({"query": f"topic{number}"}) for number in range(20)))
            assert all(f"topic{number} & result" in text for number, text in enumerate(texts))

    async def test_todays_date_is_in_the_text(self) -> None:
        async with World("tavily") as here:
            assert re.search(r"今天是 \d{4}-\d\d-\d\d", await SearchTool(service=here.service).ainvoke({"query": "x"}))


class TestNumbers:
    async def test_the_registry_numbers_run_on_and_known_pages_keep_theirs(self) -> None:
        async with World("tavily", "brave") as here:
            registry = CitationRegistry()
            tool = SearchTool(service=here.service, registry=registry)
            first = await tool.ainvoke({"query": "a"})
            again = await tool.ainvoke({"query": "b"})
            assert numbers(first) == [1, 2, 3, 4, 5]
            assert numbers(again) == [1, 2, 3, 4, 5]  # the loopback provider finds the same pages
            assert len(registry.sources) == 5

    def test_threads_share_one_registry(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        with World("tavily") as here, ThreadPoolExecutor(8) as pool:
            registry = CitationRegistry()
            tool = SearchTool(service=here.service, registry=registry)
            list(pool.map(lambda number: tool.invoke({"query": f"q{number}"}), range(16)))
            assert [source.number for source in registry.sources] == [1, 2, 3, 4, 5]


class TestErrors:
    @pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.AUTH, Fault.HTML, Fault.RESET])
    async def test_a_failure_is_text_for_the_model_and_marked_as_error(self, fault: Fault) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = fault
            for query, beginning in (("x", "Search failed, "), ("茶", "搜索失败：")):
                call = {"name": "web_search", "args": {"query": query}, "id": "1", "type": "tool_call"}
                message = await SearchTool(service=here.service).ainvoke(call)
                assert message.status == "error"
                assert message.content.startswith(beginning)
                assert "tavily" in message.content
                assert here["tavily"].key not in message.content

    def test_sync_failure_too(self) -> None:
        with World("tavily") as here:
            here["tavily"].fault = Fault.SERVER_ERROR
            assert "Search failed" in SearchTool(service=here.service).invoke({"query": "x"})

    async def test_blank_query_is_refused_without_a_request(self) -> None:
        async with World("tavily") as here:
            assert "query is empty" in await SearchTool(service=here.service).ainvoke({"query": "  "})
            assert here.requests("tavily") == 0

    async def test_no_engine_no_tool_but_the_reason(self) -> None:
        async with World("tavily") as here:
            tools, reason = await search_tools(here.service)
            assert [tool.name for tool in tools] == ["web_search"]
            assert reason == ""
        async with World() as nothing:
            tools, reason = await search_tools(nothing.service)
            assert tools == []
            assert "联网搜索未启用" in reason


class TestWebSearchJson:
    async def test_camel_case_json_with_type(self) -> None:
        async with World("tavily") as here, PageReader() as reader:
            tool = as_langchain_tool(Toolbox(here.service, reader).specs["webSearch"])
            data = json.loads(await tool.ainvoke({"query": "选举", "type": "news"}))
            assert tool.name == "webSearch"
            assert data["totalResults"] == len(data["results"]) == 10
            assert isinstance(data["searchTime"], int)
            assert data["cached"] is False
            assert data["type"] == "news"
            assert here["tavily"].seen[0].json["topic"] == "news"
            assert json.loads(await tool.ainvoke({"query": "选举", "type": "news"}))["cached"] is True

    async def test_an_argument_that_is_none_is_the_default(self) -> None:
        async with World("tavily") as here, PageReader() as reader:
            tool = as_langchain_tool(Toolbox(here.service, reader).specs["webSearch"])
            assert json.loads(await tool.ainvoke({"query": "x", "type": None}))["type"] == "general"

    async def test_the_model_is_sent_examples_and_limits(self) -> None:
        async with World("tavily") as here, PageReader() as reader:
            specs = Toolbox(here.service, reader).specs
            assert set(specs) <= OWN_TOOLS, "no plug-in can take their place"
            sent = {name: convert_to_openai_tool(as_langchain_tool(spec))["function"] for name, spec in specs.items()}
            assert sent["webSearch"]["parameters"]["properties"]["query"]["examples"]
            assert sent["webSearch"]["description"] == specs["webSearch"].description
            limits = sent["fetch_page"]["parameters"]["properties"]["max_chars"]
            assert (limits["minimum"], limits["maximum"]) == (200, 50_000)

    async def test_unknown_type_is_a_readable_error(self) -> None:
        async with World("tavily") as here, PageReader() as reader:
            tool = as_langchain_tool(Toolbox(here.service, reader).specs["webSearch"])
            assert "type" in await tool.ainvoke({"query": "x", "type": "gossip"})
            assert here.requests("tavily") == 0

    async def test_a_synchronous_call_works_inside_a_running_loop(self) -> None:
        async with World("tavily") as here, PageReader() as reader:
            tool = as_langchain_tool(Toolbox(here.service, reader).specs["webSearch"])
            assert json.loads(tool.invoke({"query": "notebook"}))["totalResults"] == 10


class ScriptedModel(BaseChatModel):
    """Asks for two searches at once, then answers from what it got."""

    seen: list[list[BaseMessage]] = []  # noqa: RUF012 - a pydantic field, copied per instance

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedModel:
        assert [convert_to_openai_tool(tool)["function"]["name"] for tool in tools] == ["web_search"]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(messages)
        if not any(isinstance(message, ToolMessage) for message in messages):
            calls = [
                {"name": "web_search", "args": {"query": query}, "id": str(index), "type": "tool_call"}
                for index, query in enumerate(("Rust 语言", "Zig 语言"))
            ]
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=calls))])
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="见 [1] 与 [2]。"))])


class TestAgent:
    async def test_create_agent_calls_the_tool_twice_in_parallel(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.SLOW
            registry = CitationRegistry()
            agent: Any = create_agent(ScriptedModel(), [SearchTool(service=here.service, registry=registry)])
            state = await agent.ainvoke({"messages": [("user", "比较 Rust 和 Zig")]})
            answers = [message for message in state["messages"] if isinstance(message, ToolMessage)]
            assert len(answers) == 2
            assert {seen.json["query"] for seen in here["tavily"].seen} == {"Rust 语言", "Zig 语言"}
            for message in answers:
                assert numbers(str(message.content)) == [1, 2, 3, 4, 5]
                assert message.artifact["totalResults"] == 5
            assert [round_.query for round_ in registry.rounds] == ["Rust 语言", "Zig 语言"]
            assert state["messages"][-1].content == "见 [1] 与 [2]。"
