"""MCP tools as tools of LangChain."""

import asyncio

from common import KEY, URL
from langchain_mcp_adapters.client import MultiServerMCPClient


async def main() -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    client = MultiServerMCPClient({"qiusuo": {"transport": "streamable_http", "url": f"{URL}/mcp", "headers": headers}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    called = {"name": "web_search", "args": {"query": "spring tea", "count": 3}, "id": "1", "type": "tool_call"}
    message = await tools["web_search"].ainvoke(called)
    assert "[1] spring tea" in message.text, message
    assert message.artifact["structured_content"]["results"][0]["number"] == 1, message.artifact


asyncio.run(main())
