"""``/mcp`` with the official client over streamable HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

from qiusuo.testing import Fault
from qiusuo.web.mcp import mcp_extension
from web_server import WebServer

pytestmark = pytest.mark.xdist_group("mcp")


@pytest.fixture(autouse=True)
def _no_legal_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide an index that the user of this machine may have installed: its tools would be offered too."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def test_lists_and_calls_every_tool() -> None:
    with WebServer.over("tavily", extensions=[mcp_extension]) as server:
        async with Client(f"{server.url}/mcp") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"web_search", "fetch_page"}
            result = await client.call_tool("web_search", {"query": "人工智能"})
            assert result.structured_content["totalResults"] == 10
            assert "[1] " in text_of(result)
            refused = await client.call_tool("fetch_page", {"url": "http://127.0.0.1/"})
            assert refused.is_error


async def test_a_failure_is_a_tool_error() -> None:
    with WebServer.over("tavily", extensions=[mcp_extension]) as server:
        server.world["tavily"].fault = Fault.SERVER_ERROR
        async with Client(f"{server.url}/mcp") as client:
            result = await client.call_tool("web_search", {"query": "x"})
            assert result.is_error
            assert "unavailable" in text_of(result)


async def test_a_cancelled_call_leaves_the_server_well() -> None:
    with WebServer.over("tavily", extensions=[mcp_extension]) as server:
        server.world["tavily"].fault = Fault.HANG
        async with Client(f"{server.url}/mcp") as client:
            with anyio.move_on_after(0.5) as scope:
                await client.call_tool("web_search", {"query": "x"})
            assert scope.cancelled_caught
            server.world["tavily"].fault = None
            with anyio.fail_after(10):
                result = await client.call_tool("web_search", {"query": "y"})
            assert not result.is_error


async def test_searches_count_against_the_callers_limit() -> None:
    with WebServer.over("tavily", extensions=[mcp_extension], rate_limit=2) as server:
        async with Client(f"{server.url}/mcp") as client:
            results = [await client.call_tool("web_search", {"query": f"q{number}"}) for number in range(3)]
        assert [result.is_error for result in results] == [False, False, True]
        assert "searches in a minute" in text_of(results[-1])


def test_the_guard_stands_before_it() -> None:
    with WebServer.over("tavily", extensions=[mcp_extension], tokens="ada:secret-token-0123456789") as server:
        assert httpx.post(f"{server.url}/mcp", json={}).status_code == 401
    with WebServer.over("tavily", extensions=[mcp_extension]) as server:
        assert httpx.post(f"{server.url}/mcp", json={}, headers={"Host": "evil.example"}).status_code == 421
