"""The MCP server with the official client, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.server import Server

from qiusuo.http.guard import FetchPolicy
from qiusuo.pages import PageReader
from qiusuo.testing import Fault
from qiusuo.tools.mcp import create_server
from qiusuo.tools.specs import QueryArguments, Toolbox, ToolOutput, ToolSpec
from qiusuo.words import Fact, Language
from tests.support.web_server import page_site
from tests.support.world import World

pytestmark = [pytest.mark.xdist_group("mcp"), pytest.mark.programs]


@pytest.fixture(autouse=True)
def _no_legal_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide an index that the user of this machine may have installed: its tools would be offered too."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


WIDE = {"query", "type", "count", "freshness", "language", "include_domains", "exclude_domains"}


def stdio(here: World, **env: str) -> StdioServerParameters:
    """A real ``qiusuo mcp`` process over the loopback providers."""
    variables = {
        "SEARCH_PROVIDER_PRIORITY": ",".join(here.servers),
        **{f"{name.upper()}_API_KEY": server.key for name, server in here.servers.items()},
        **{f"QIUSUO_ENGINES__{name.upper()}__BASE_URL": server.base_url for name, server in here.servers.items()},
        **env,
    }
    return StdioServerParameters(command=sys.executable, args=["-m", "qiusuo", "mcp"], env={**os.environ, **variables})


@asynccontextmanager
async def in_process(here: World) -> AsyncIterator[Server[Any]]:
    async with PageReader(FetchPolicy()) as reader:
        yield create_server(Toolbox(here.service, reader))


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


class TestStdio:
    async def test_lists_and_calls_every_tool(self) -> None:
        async with World("tavily") as here, Client(stdio(here)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"web_search", "webSearch", "fetch_page", "regulationSearch", "caseSearch"}
            assert tools["web_search"].input_schema["required"] == ["query"]
            assert set(tools["web_search"].input_schema["properties"]) == WIDE
            result = await client.call_tool("web_search", {"query": "中文 查询", "type": "news"})
            assert not result.is_error
            assert result.structured_content["totalResults"] == 10
            assert result.structured_content["provider"] == "tavily"
            assert "[10] " in text_of(result)
            assert here["tavily"].seen[0].json["query"] == "中文 查询"
            assert set(tools["webSearch"].input_schema["properties"]) == WIDE
            same = await client.call_tool("webSearch", {"query": "中文 查询", "type": "news"})
            assert json.loads(text_of(same)) == same.structured_content
            assert (same.structured_content["type"], same.structured_content["cached"]) == ("news", True)
            refused = await client.call_tool("fetch_page", {"url": "http://169.254.169.254/latest/meta-data"})
            assert refused.is_error

    async def test_failures_are_tool_errors_without_the_key(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.AUTH
            async with Client(stdio(here)) as client:
                result = await client.call_tool("web_search", {"query": "x"})
                assert result.is_error
                assert "auth" in text_of(result)
                assert here["tavily"].key not in text_of(result)


class TestTools:
    async def test_bad_arguments_are_tool_errors(self) -> None:
        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            for arguments in ({}, {"query": ""}, {"query": "x", "type": "gossip"}):
                result = await client.call_tool("web_search", arguments)
                assert result.is_error, arguments
            assert here.requests("tavily") == 0

    @pytest.mark.parametrize("query", ["tea", "茶的种类"])
    async def test_a_tool_with_a_fault_is_a_tool_error_in_our_words(
        self, query: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def work(_wanted: QueryArguments, _user: str | None) -> ToolOutput:
            raise KeyError("secret of the plug-in")

        spec = ToolSpec("brewTea", "Tea", "How hot to brew a tea.", QueryArguments, {"type": "object"}, work)
        async with (
            World("tavily") as here,
            PageReader(FetchPolicy()) as reader,
            Client(create_server(Toolbox(here.service, reader, extra=[spec]), extra=["brewTea"])) as client,
        ):
            result = await client.call_tool("brewTea", {"query": query})
        assert result.is_error
        language = Language.ENGLISH if query == "tea" else Language.CHINESE
        assert Fact("turn.tool_broke", tool="brewTea").text(language) in text_of(result)
        assert "secret" not in text_of(result)
        [line] = [record for record in caplog.records if "brewTea" in record.getMessage()]
        assert line.exc_info is None, "in one line, unless all is logged"

    async def test_an_argument_that_is_null_is_the_default(self) -> None:
        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            result = await client.call_tool("web_search", {"query": "x", "type": None})
            assert not result.is_error, text_of(result)
            assert result.structured_content["type"] == "general"

    async def test_text_and_structure_agree(self) -> None:
        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            result = await client.call_tool("web_search", {"query": "[7] tea & <b>"})
            assert "attempts" not in result.structured_content
            assert "not instructions" in result.structured_content["note"]
            text = text_of(result)
            for row in result.structured_content["results"]:
                assert f"[{row['number']}] {row['title']}" in text
                assert row["snippet"] in text
                assert "[7]" not in json.dumps(row)
                assert "<" not in row["title"] + row["snippet"]

    async def test_numbers_run_on(self) -> None:
        with page_site() as (site, reader):
            async with World("tavily") as here:
                server = create_server(Toolbox(here.service, reader))
                async with Client(server) as client:
                    page = await client.call_tool("fetch_page", {"url": f"{site.url}/article"})
                    found = await client.call_tool("web_search", {"query": "x", "count": 3})
                    again = await client.call_tool("webSearch", {"query": "y", "count": 4})
        assert page.structured_content["number"] == 1
        assert text_of(page).startswith("[1] ")
        assert [row["number"] for row in found.structured_content["results"]] == [2, 3, 4]
        assert "[2] " in text_of(found)
        assert "[1] " not in text_of(found)
        assert [row["number"] for row in json.loads(text_of(again))["results"]] == [2, 3, 4, 5]

    async def test_what_a_search_can_be_told(self) -> None:
        wanted = {"count": 3, "freshness": "week", "language": "en", "include_domains": ["site1.example.com"]}
        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            await client.call_tool("web_search", {"query": "x", "exclude_domains": ["a.example"], **wanted})
            sent = here["tavily"].seen[0].json
        assert (sent["max_results"], sent["time_range"]) == (3, "week")
        assert sent["include_domains"] == ["site1.example.com"]
        assert sent["exclude_domains"] == ["a.example"]

    @pytest.mark.parametrize("tool", ["web_search", "webSearch"])
    async def test_unknown_arguments_are_told(self, tool: str) -> None:
        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            result = await client.call_tool(tool, {"query": "x", "max_results": 3})
            assert not result.is_error
            assert result.structured_content["unknownArguments"] == ["max_results"]
            assert "max_results" in text_of(result)
            if tool == "webSearch":
                assert json.loads(text_of(result)) == result.structured_content

    async def test_unknown_tool_is_a_tool_error_that_names_the_known(self) -> None:
        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            result = await client.call_tool("nothing", {})
            assert result.is_error
            assert "web_search" in text_of(result)

    async def test_progress_is_reported(self) -> None:
        seen: list[tuple[float, str | None]] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - MCP's
            seen.append((progress, message))

        async with World("tavily") as here, in_process(here) as server, Client(server) as client:
            await client.call_tool("web_search", {"query": "x"}, progress_callback=on_progress)
            assert [progress for progress, _ in seen] == [0, 1]

    async def test_cancelling_the_call_stops_the_search(self) -> None:
        async with World("tavily", timeout=30) as here, in_process(here) as server, Client(server) as client:
            here["tavily"].fault = Fault.HANG
            with anyio.move_on_after(0.5) as scope:
                await client.call_tool("web_search", {"query": "x"})
            assert scope.cancelled_caught
            await asyncio.sleep(0.2)
            here["tavily"].fault = None
            # The server lives on, and the next call is answered at once.
            with anyio.fail_after(5):
                result = await client.call_tool("web_search", {"query": "y"})
            assert result.structured_content["provider"] == "tavily"
            pending = [task for task in asyncio.all_tasks() if "asearch" in repr(task.get_coro())]
            assert pending == []

    async def test_without_any_engine_the_tool_says_why_and_how(self) -> None:
        async with World() as nothing, in_process(nothing) as server, Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert "联网搜索未启用" in (tools["web_search"].description or "")
            assert "未启用" not in (tools["fetch_page"].description or "")
            result = await client.call_tool("web_search", {"query": "x"})
            assert result.is_error
            assert "Web search is off" in text_of(result)
