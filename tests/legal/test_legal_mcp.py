"""The legal tools over MCP, as a server offers them."""

from __future__ import annotations

import pytest
from mcp import Client

from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.tools import LEGAL_TOOLS
from qiusuo.web.mcp.routes import mcp_extension
from tests.support.web_server import WebServer

pytest_plugins = ["tests.support.legal_fixtures"]
pytestmark = pytest.mark.xdist_group("mcp")


async def test_the_legal_tools_are_offered_where_an_index_is_installed(samples: IndexHandle) -> None:
    with WebServer.over("tavily", extensions=[mcp_extension], legal_dir=str(samples.folder.root)) as server:
        async with Client(f"{server.url}/mcp") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"web_search", "webSearch", "fetch_page", *LEGAL_TOOLS}
            result = await client.call_tool("regulationSearch", {"query": "茶叶法第三条"})
            assert not result.is_error
            assert "第三条" in result.content[0].text  # type: ignore[union-attr]
            assert result.structured_content is not None
            assert result.structured_content["cached"] is False
            for expected in (False, True):  # of the web: the index does not know it
                found = await client.call_tool("regulationSearch", {"query": "咖啡豆烘焙标准"})
                assert found.structured_content is not None
                assert found.structured_content["cached"] is expected
