"""The Python SDK of MCP, over HTTP and standard input and output."""

import asyncio
import os

import httpx2
from common import KEY, URL
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def use(session: ClientSession) -> None:
    await session.initialize()
    names = {tool.name for tool in (await session.list_tools()).tools}
    assert {"web_search", "fetch_page"} <= names, names
    first = await session.call_tool("web_search", {"query": "spring tea", "count": 3})
    assert not first.is_error, first
    assert [row["number"] for row in first.structured_content["results"]] == [1, 2, 3], first.structured_content
    assert "[1] spring tea" in first.content[0].text
    second = await session.call_tool("web_search", {"query": "autumn tea", "count": 2})
    assert [row["number"] for row in second.structured_content["results"]] == [4, 5], second.structured_content
    refused = await session.call_tool("fetch_page", {"url": "http://127.0.0.1:1/"})
    assert refused.is_error


async def main() -> None:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=30) as client,
        streamable_http_client(f"{URL}/mcp", http_client=client) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await use(session)
    # The newest version of the protocol has no sessions: there numbers begin anew with each answer.
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=30) as client,
        Client(streamable_http_client(f"{URL}/mcp", http_client=client)) as newest,
    ):
        for query in ("spring tea", "autumn tea"):
            found = await newest.call_tool("web_search", {"query": query, "count": 2})
            assert [row["number"] for row in found.structured_content["results"]] == [1, 2], found
    command, *arguments = os.environ["QIUSUO_COMMAND"].split()
    environment = {**os.environ, "SEARXNG_URL": os.environ["QIUSUO_SEARXNG"], "SEARCH_PROVIDER_PRIORITY": "searxng"}
    server = StdioServerParameters(command=command, args=[*arguments, "mcp"], env=environment)
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await use(session)


asyncio.run(main())
