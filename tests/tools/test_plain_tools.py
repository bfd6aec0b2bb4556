"""The plain search tools: every acceptance line of the requirements document on TavilyWebSearchTool is a test here."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.tools import StructuredTool
from pydantic.fields import FieldInfo

from qiusuo.config import Settings, TavilyWebSearchConfig, WebSearchConfig
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.tools import TavilyWebSearchTool, Tool, WebSearchTool, create_web_search_tool, plain
from qiusuo.tools.plain import SearchArguments


@pytest.fixture
def tavily() -> Iterator[ProviderServer]:
    with ProviderServer(Tavily()) as server:
        yield server


@pytest.fixture
def brave() -> Iterator[ProviderServer]:
    with ProviderServer(Brave()) as server:
        yield server


async def ask(tool: Tool, **arguments: object) -> str:
    async with tool:  # type: ignore[attr-defined]
        return await tool.execute(**arguments)


def tavily_tool(server: ProviderServer) -> TavilyWebSearchTool:
    return TavilyWebSearchTool(server.key, base_url=server.base_url)


def brave_tool(server: ProviderServer) -> WebSearchTool:
    return WebSearchTool(server.key, base_url=server.base_url)


def shape(text: str) -> list[str]:
    """What an answer looks like, without its words and its random mark."""
    text = re.sub(r"[0-9a-f]{8}", "MARK", text)
    return [
        re.sub(r"(URL|Description): .*", r"\1: …", re.sub(r"(\d+)\. .*", r"\1. …", line)) for line in text.splitlines()
    ]


class TestRequirement1ToolClass:
    def test_inherits_from_tool(self) -> None:
        assert issubclass(TavilyWebSearchTool, Tool)

    def test_name(self) -> None:
        assert TavilyWebSearchTool.name == "tavily_web_search"

    def test_has_a_description(self) -> None:
        assert "Tavily" in TavilyWebSearchTool.description

    def test_defines_parameters(self) -> None:
        parameters = TavilyWebSearchTool("k").parameters
        assert parameters["type"] == "object"
        assert parameters["required"] == ["query"]
        assert parameters["properties"]["query"]["type"] == "string"
        count = parameters["properties"]["count"]
        assert (count["type"], count["default"], count["minimum"], count["maximum"]) == ("integer", 10, 1, 10)

    def test_exports_an_openai_function(self) -> None:
        function = TavilyWebSearchTool("k").to_openai()
        assert function["type"] == "function"
        assert function["function"]["name"] == "tavily_web_search"
        assert json.dumps(function)


class TestRequirement2Api:
    async def test_execute_uses_the_tavily_api(self, tavily: ProviderServer) -> None:
        await ask(tavily_tool(tavily), query="x")
        assert (tavily.seen[0].method, tavily.seen[0].path) == ("POST", "/search")

    async def test_sends_the_query(self, tavily: ProviderServer) -> None:
        await ask(tavily_tool(tavily), query="量子 计算")
        assert tavily.seen[0].json["query"] == "量子 计算"

    async def test_count_controls_the_number_of_results(self, tavily: ProviderServer) -> None:
        text = await ask(tavily_tool(tavily), query="x", count=3)
        assert tavily.seen[0].json["max_results"] == 3
        assert re.findall(r"^(\d+)\. ", text, re.MULTILINE) == ["1", "2", "3"]

    async def test_formats_title_url_description(self, tavily: ProviderServer) -> None:
        text = await ask(tavily_tool(tavily), query="rust", count=1)
        assert "1. rust & result 1" in text
        assert "URL: https://site1.example.com/page/1" in text
        assert "Description: About rust: text 1" in text

    @pytest.mark.parametrize(("asked", "sent"), [(1, 1), (10, 10), (11, 10), (500, 10)])
    async def test_same_limits_as_the_brave_tool(
        self, tavily: ProviderServer, brave: ProviderServer, asked: int, sent: int
    ) -> None:
        await ask(tavily_tool(tavily), query="x", count=asked)
        await ask(brave_tool(brave), query="x", count=asked)
        assert tavily.seen[0].json["max_results"] == sent
        assert brave.seen[0].params["count"] == str(sent)


class TestRequirement3Key:
    async def test_environment_first(
        self, tavily: ProviderServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("TAVILY_API_KEY", tavily.key)
        file = tmp_path / "config.toml"
        file.write_text('[engines.tavily]\napi_key = "from-file"\n')
        tool = TavilyWebSearchTool("from-config", settings=Settings.load(file), base_url=tavily.base_url)
        assert "1. " in await ask(tool, query="x")
        assert tavily.seen[0].headers["authorization"] == f"Bearer {tavily.key}"

    async def test_configuration_file_where_the_environment_has_none(
        self, tavily: ProviderServer, tmp_path: Path
    ) -> None:
        file = tmp_path / "config.toml"
        file.write_text(f'[engines.tavily]\napi_key = "{tavily.key}"\nbase_url = "{tavily.base_url}"\n')
        assert "1. " in await ask(TavilyWebSearchTool(settings=Settings.load(file)), query="x")

    @pytest.mark.parametrize("tool", [TavilyWebSearchTool, WebSearchTool])
    async def test_the_key_of_the_tools_own_table_in_the_file(
        self,
        tool: type[TavilyWebSearchTool | WebSearchTool],
        tavily: ProviderServer,
        brave: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        file = tmp_path / "config.toml"
        file.write_text(
            f'[web_search]\napi_key = "{brave.key}"\n[web_search.tavily]\napi_key = "{tavily.key}"\n'
            f'[engines.brave]\nbase_url = "{brave.base_url}"\napi_key = "not-this"\n'
            f'[engines.tavily]\nbase_url = "{tavily.base_url}"\napi_key = "not-this"\n'
        )
        monkeypatch.setenv("QIUSUO_CONFIG", str(file))
        assert "1. " in await ask(tool(), query="x")

    async def test_neither_gives_a_clear_error(self) -> None:
        text = await ask(TavilyWebSearchTool(), query="x")
        assert text.startswith("Error: tavily: Tavily needs an API key.")

    async def test_the_error_names_variable_and_file(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text("timeout = 5\n")
        text = await ask(TavilyWebSearchTool(settings=Settings.load(file)), query="x")
        assert "TAVILY_API_KEY" in text
        assert str(file) in text
        assert "config.toml" in await ask(TavilyWebSearchTool(), query="x")

    def test_no_key_is_written_in_the_code(self) -> None:
        assert not re.search(r"tvly-\w+|BSA\w{10,}", inspect.getsource(plain))


class TestRequirement4Validation:
    @pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": "   "}, {"query": None}])
    async def test_missing_or_empty_query(self, tavily: ProviderServer, arguments: dict[str, object]) -> None:
        text = await ask(tavily_tool(tavily), **arguments)
        assert text.startswith("Error: Invalid arguments: query")
        assert tavily.seen == []

    @pytest.mark.parametrize("count", [0, -1, "many", 2.5])
    async def test_count_below_one_or_no_number(self, tavily: ProviderServer, count: object) -> None:
        text = await ask(tavily_tool(tavily), query="x", count=count)
        assert text.startswith("Error: Invalid arguments: count")
        assert tavily.seen == []

    async def test_count_none_is_the_default(self, tavily: ProviderServer, brave: ProviderServer) -> None:
        assert "\n10. " in await ask(tavily_tool(tavily), query="x", count=None)
        assert "\n10. " in await ask(brave_tool(brave), query="x", count=None)

    async def test_count_none_is_the_default_through_langchain(self, tavily: ProviderServer) -> None:
        async with tavily_tool(tavily) as plain_tool:
            tool = StructuredTool.from_function(
                coroutine=plain_tool.execute,
                name=plain_tool.name,
                description=plain_tool.description,
                args_schema=plain_tool.arguments,
            )
            assert "\n10. " in await tool.ainvoke({"query": "x", "count": None})

    async def test_count_above_ten_becomes_ten(self, tavily: ProviderServer) -> None:
        text = await ask(tavily_tool(tavily), query="x", count=99)
        assert "\n10. " in text
        assert "\n11. " not in text

    @pytest.mark.parametrize("fault", [Fault.RESET, Fault.HTML, Fault.TRUNCATED, Fault.SERVER_ERROR])
    async def test_a_failing_request_is_a_friendly_text(self, tavily: ProviderServer, fault: Fault) -> None:
        tavily.fault = fault
        text = await ask(tavily_tool(tavily), query="x")
        assert text.startswith("Error: Tavily search failed: ")
        assert "Traceback" not in text
        assert tavily.key not in text

    async def test_no_connection_is_a_friendly_text(self, tavily: ProviderServer) -> None:
        tool = tavily_tool(tavily)
        tavily.close()
        assert "refuses the connection" in await ask(tool, query="x")
        assert "拒绝连接" in await ask(tool, query="茶")

    @pytest.mark.parametrize(
        ("fault", "status", "words"),
        [
            (Fault.AUTH, 401, "invalid API key"),
            (Fault.QUOTA, 432, "usage limit"),
            (Fault.RATE_LIMITED, 429, "Too many requests"),
            (Fault.SERVER_ERROR, 500, "Internal error"),
        ],
    )
    async def test_http_errors_name_status_and_description(
        self, tavily: ProviderServer, fault: Fault, status: int, words: str
    ) -> None:
        tavily.fault = fault
        text = await ask(tavily_tool(tavily), query="x")
        assert f"HTTP {status}" in text
        assert words in text

    def test_only_specific_exceptions_are_caught(self) -> None:
        caught = [
            ast.unparse(handler.type) if handler.type else ""
            for handler in ast.walk(ast.parse(inspect.getsource(plain)))
            if isinstance(handler, ast.ExceptHandler)
        ]
        assert caught
        assert not {"", "Exception", "BaseException"} & set(caught)


class TestRequirement5SameInterface:
    def test_same_parameters_types_and_defaults(self) -> None:
        assert TavilyWebSearchTool("k").parameters == WebSearchTool("k").parameters

    async def test_same_format_of_results(self, tavily: ProviderServer, brave: ProviderServer) -> None:
        ours = await ask(tavily_tool(tavily), query="same")
        theirs = await ask(brave_tool(brave), query="same")
        assert shape(ours) == shape(theirs)

    async def test_same_default_count(self, tavily: ProviderServer, brave: ProviderServer) -> None:
        await ask(tavily_tool(tavily), query="x")
        await ask(brave_tool(brave), query="x")
        assert tavily.seen[0].json["max_results"] == 10
        assert brave.seen[0].params["count"] == "10"

    async def test_same_text_when_nothing_is_found(self, tavily: ProviderServer, brave: ProviderServer) -> None:
        tavily.empty = brave.empty = True
        ours, theirs = await ask(tavily_tool(tavily), query="x"), await ask(brave_tool(brave), query="x")
        assert ours == theirs == "No results for: x"


async def test_an_answer_from_the_cache_says_so(tavily: ProviderServer) -> None:
    async with tavily_tool(tavily) as tool:
        assert (await tool.execute(query="x")).splitlines()[0] == "Results for: x"
        assert (await tool.execute(query="x")).splitlines()[0] == "Results for: x (cached)"
        tavily.empty = True
        assert await tool.execute(query="y") == "No results for: y"
        assert await tool.execute(query="y") == "No results for: y (cached)"


class TestRequirement6BraveUnchanged:
    def test_name(self) -> None:
        assert WebSearchTool.name == "web_search"

    async def test_uses_the_brave_api(self, brave: ProviderServer) -> None:
        text = await ask(brave_tool(brave), query="x")
        assert brave.seen[0].path == "/res/v1/web/search"
        assert "1. " in text

    async def test_key_from_brave_api_key(self, brave: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BRAVE_API_KEY", brave.key)
        await ask(WebSearchTool(base_url=brave.base_url), query="x")
        assert brave.seen[0].headers["x-subscription-token"] == brave.key

    async def test_without_key_it_names_its_own_variable(self) -> None:
        text = await ask(WebSearchTool(), query="x")
        assert "BRAVE_API_KEY" in text
        assert "TAVILY" not in text

    async def test_both_tools_work_side_by_side(self, tavily: ProviderServer, brave: ProviderServer) -> None:

        tavily.fault = Fault.SERVER_ERROR
        failed, found = await asyncio.gather(ask(tavily_tool(tavily), query="x"), ask(brave_tool(brave), query="x"))
        assert failed.startswith("Error")
        assert "1. " in found


class TestRequirement7TavilyConfig:
    def test_class_beside_web_search_config(self) -> None:
        assert TavilyWebSearchConfig.__module__ == WebSearchConfig.__module__
        assert not issubclass(TavilyWebSearchConfig, WebSearchConfig)

    def test_api_key_field(self) -> None:
        field: FieldInfo = TavilyWebSearchConfig.model_fields["api_key"]
        assert field.annotation == str | None
        assert field.default is None

    def test_is_described(self) -> None:
        assert "Tavily" in (TavilyWebSearchConfig.__doc__ or "")

    def test_key_is_not_shown(self) -> None:
        assert "secret-1" not in repr(TavilyWebSearchConfig(api_key="secret-1"))


class TestRequirement8TavilyField:
    def test_type_and_default(self) -> None:
        field = WebSearchConfig.model_fields["tavily"]
        assert field.annotation == TavilyWebSearchConfig | None
        assert field.default is None

    def test_description_says_that_tavily_replaces_brave(self) -> None:
        assert "instead of Brave" in (WebSearchConfig.model_fields["tavily"].description or "")


class TestRequirement9Choice:
    def test_tavily_set_gives_the_tavily_tool(self) -> None:
        assert isinstance(create_web_search_tool(WebSearchConfig(tavily=TavilyWebSearchConfig())), TavilyWebSearchTool)

    async def test_brave_settings_are_then_ignored(self) -> None:
        config = WebSearchConfig(api_key="brave-key", tavily=TavilyWebSearchConfig())
        assert "TAVILY_API_KEY" in await ask(create_web_search_tool(config), query="x")

    def test_none_gives_the_brave_tool(self) -> None:
        assert isinstance(create_web_search_tool(WebSearchConfig()), WebSearchTool)

    async def test_the_brave_settings_are_used(self, brave: ProviderServer, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        base = {"engines": {"brave": {"base_url": brave.base_url}}, "web_search": {"apiKey": brave.key}}
        file.write_text(json.dumps(base))
        assert "1. " in await ask(create_web_search_tool(settings=Settings.load(file)), query="x")

    def test_the_configuration_file_decides(self, tmp_path: Path) -> None:
        file = tmp_path / "config.yaml"
        file.write_text("web_search:\n  tavily:\n    api_key: k\n")
        assert isinstance(create_web_search_tool(settings=Settings.load(file)), TavilyWebSearchTool)


class TestRequirement10Compatibility:
    def test_no_tavily_field_is_none(self) -> None:
        assert WebSearchConfig.model_validate({"apiKey": "k"}).tavily is None

    def test_none_behaves_as_before(self) -> None:
        assert isinstance(create_web_search_tool({"apiKey": "k", "tavily": None}), WebSearchTool)

    async def test_an_old_file_works_unchanged(self, brave: ProviderServer, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        file.write_text(
            json.dumps(
                {
                    "web_search": {"api_key": brave.key, "max_results": 5},
                    "engines": {"brave": {"base_url": brave.base_url}},
                }
            )
        )
        assert "1. " in await ask(create_web_search_tool(settings=Settings.load(file)), query="x")

    def test_an_old_format_with_unknown_fields_parses(self) -> None:
        assert WebSearchConfig.model_validate({"apiKey": "k", "maxResults": 5, "provider": "brave"}).api_key == "k"


@pytest.mark.parametrize(("count", "used"), [(20, 10), ("20", 10), (20.0, 10), ("3", 3)])
def test_a_count_above_ten_becomes_ten_however_it_is_written(count: object, used: int) -> None:
    assert SearchArguments.model_validate({"query": "x", "count": count}).count == used
