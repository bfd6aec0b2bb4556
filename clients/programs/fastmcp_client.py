"""FastMCP's client, over HTTP."""

import asyncio

from common import KEY, URL
from fastmcp import Client


async def main() -> None:
    async with Client(f"{URL}/mcp", auth=KEY) as client:
        assert "web_search" in {tool.name for tool in await client.list_tools()}
        found = await client.call_tool("web_search", {"query": "spring tea", "count": 3})
        assert [row["number"] for row in found.structured_content["results"]] == [1, 2, 3], found
        again = await client.call_tool("webSearch", {"query": "autumn tea", "count": 1})
        assert again.structured_content["results"][0]["title"] == "autumn tea 1", again
        wrong = await client.call_tool("web_search", {"query": ""}, raise_on_error=False)
        assert wrong.is_error, wrong


asyncio.run(main())
