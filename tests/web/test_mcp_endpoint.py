"""``/mcp`` with the official client over streamable HTTP."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from qiusuo.service import SearchService
from qiusuo.testing import Fault
from qiusuo.web.mcp.routes import mcp_extension
from qiusuo.web.mcp.sessions import SessionLimits
from qiusuo.words import Language
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.web_server import WebServer, page_site

__all__ = ["redis"]
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
            assert tools == {"web_search", "webSearch", "fetch_page", "regulationSearch", "caseSearch"}
            result = await client.call_tool("webSearch", {"query": "人工智能", "type": "news"})
            assert (result.structured_content["type"], result.structured_content["cached"]) == ("news", False)
            assert server.world["tavily"].seen[0].json["topic"] == "news"
            result = await client.call_tool("web_search", {"query": "人工智能"})
            assert result.structured_content["totalResults"] == 10
            assert "[1] " in text_of(result)
            refused = await client.call_tool("fetch_page", {"url": "http://127.0.0.1/"})
            assert refused.is_error


async def test_every_answer_says_whether_it_comes_from_the_cache() -> None:
    with page_site() as (site, reader), WebServer.over("tavily", extensions=[mcp_extension], reader=reader) as server:
        async with Client(f"{server.url}/mcp") as client:
            for expected in (False, True):
                found = await client.call_tool("web_search", {"query": "x"})
                assert found.structured_content["cached"] is expected
                assert ("from the cache" in text_of(found)) is expected
            page = await client.call_tool("fetch_page", {"url": f"{site.url}/article"})
            assert page.structured_content["cached"] is False


async def test_numbers_run_on_in_a_session() -> None:
    with page_site() as (site, reader), WebServer.over("tavily", extensions=[mcp_extension], reader=reader) as server:
        for _ in range(2):  # another session begins anew
            async with Client(f"{server.url}/mcp", mode="legacy") as client:
                page = await client.call_tool("fetch_page", {"url": f"{site.url}/article"})
                found = await client.call_tool("web_search", {"query": "x", "count": 2})
            assert page.structured_content["number"] == 1
            assert [row["number"] for row in found.structured_content["results"]] == [2, 3]


async def test_a_failure_is_a_tool_error() -> None:
    with WebServer.over("tavily", extensions=[mcp_extension]) as server:
        server.world["tavily"].fault = Fault.SERVER_ERROR
        async with Client(f"{server.url}/mcp") as client:
            result = await client.call_tool("web_search", {"query": "x"})
            assert result.is_error
            assert "unavailable" in text_of(result)


@pytest.mark.parametrize(
    ("accepted", "arguments", "language"),
    [
        ("zh-CN", {"query": "x"}, Language.CHINESE),
        ("zh-CN", {"query": 7}, Language.CHINESE),
        ("en", {"query": "人工智能"}, Language.CHINESE),
        ("en", {}, Language.ENGLISH),
        ("", {"query": "x"}, Language.ENGLISH),
    ],
)
async def test_an_error_is_told_to_programs_and_in_the_language_of_its_reader(
    accepted: str, arguments: dict[str, Any], language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")
    headers = {"Accept-Language": accepted} if accepted else {}
    with WebServer(SearchService.from_settings(), extensions=[mcp_extension]) as server:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
            result = await client.call_tool("web_search", arguments)
            unknown = await client.call_tool("elsewhere", arguments)
        over_rest = server.search("x", skip_cache=True, timeout=5).json()
    assert result.is_error
    told = result.structured_content
    pytest.importorskip("jsonschema").validate(told, schemas["web_search"])
    assert unknown.structured_content["code"] == "tools.unknown"
    for one in (told["message"], unknown.structured_content["message"], text_of(result)):
        assert bool(re.search("[\u4e00-\u9fff]", one)) is (language is Language.CHINESE), one
    if isinstance(arguments.get("query"), str):
        assert (told["code"], told["commands"]) == (over_rest["code"], over_rest["commands"])
        assert all(f"$ {command}" in text_of(result) for command in told["commands"])
        assert told["commands"]
    else:
        assert told["code"] == "tools.bad_arguments"


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


ADA, BOB = "ada-0123456789abcdef", "bob-0123456789abcdef"
ADA_TOO = "ada-too-0123456789abcdef"
TOKENS = f"ada:{ADA},ada:{ADA_TOO},bob:{BOB}"


class Caller(AbstractContextManager["Caller"]):
    """Speaks the protocol by hand, with one token."""

    def __init__(self, server: WebServer, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        self.http = httpx.Client(base_url=server.url, headers=headers, timeout=20, trust_env=False)

    def __exit__(self, *_exc: object) -> None:
        self.http.close()

    def open(self) -> str:
        answer = self.try_to_open()
        assert answer.status_code == 200
        return answer.headers["mcp-session-id"]

    def try_to_open(self) -> httpx.Response:
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        return self.http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})

    def ping(self, session: str) -> int:
        body = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        return self.http.post("/mcp", json=body, headers={"Mcp-Session-Id": session}).status_code

    def search(self, session: str, count: int, *domains: str) -> list[int]:
        """Return the numbers of the results."""
        wanted = {"query": f"q{count}", "count": count, "include_domains": list(domains)}
        call = {"name": "web_search", "arguments": wanted}
        body = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
        answer = self.http.post("/mcp", json=body, headers={"Mcp-Session-Id": session})
        assert answer.status_code == 200
        data = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
        return [row["number"] for row in data[-1]["result"]["structuredContent"]["results"]]

    def end(self, session: str) -> int:
        return self.http.delete("/mcp", headers={"Mcp-Session-Id": session}).status_code


@contextmanager
def sessions(*tokens: str, **limits: Any) -> Iterator[tuple[WebServer, list[Caller]]]:
    """Give a server with limits on sessions, and a caller for each token."""
    extension = partial(mcp_extension, limits=SessionLimits(**limits))
    with WebServer.over("tavily", extensions=[extension], tokens=TOKENS) as server, ExitStack() as callers:
        yield server, [callers.enter_context(Caller(server, token)) for token in tokens]


class TestSessions:
    def test_a_session_belongs_to_its_token(self) -> None:
        with sessions(ADA, ADA_TOO, BOB) as (_, (ada, ada_too, bob)):
            session = ada.open()
            assert [bob.ping(session), bob.end(session), ada_too.ping(session)] == [404, 404, 404]
            assert bob.ping("no-such-session") == 404  # the same words as for one that is not there
            assert ada.ping(session) == 200
            assert ada.end(session) == 200
            assert ada.ping(session) == 404

    def test_the_oldest_idle_one_makes_room_for_a_users_next(self) -> None:
        with sessions(ADA, BOB, per_user=3) as (_, (ada, bob)):
            kept = bob.open()
            opened = [ada.open() for _ in range(3)]
            assert ada.ping(opened[0]) == 200  # used again, so another is the oldest
            opened.append(ada.open())
            assert [ada.ping(session) for session in opened] == [200, 404, 200, 200]
            assert bob.ping(kept) == 200

    def test_so_it_is_for_all_together(self) -> None:
        with sessions(ADA, BOB, in_all=3) as (_, (ada, bob)):
            first = bob.open()
            more = [ada.open() for _ in range(3)]
            assert bob.ping(first) == 404
            assert [ada.ping(session) for session in more] == [200, 200, 200]

    def test_those_in_use_are_left_alone(self) -> None:
        with sessions(ADA, BOB, per_user=2) as (_, (ada, bob)), ExitStack() as streams:
            for session in (ada.open(), ada.open()):
                stream = ada.http.stream("GET", "/mcp", headers={"Mcp-Session-Id": session})
                assert streams.enter_context(stream).status_code == 200
            refused = ada.try_to_open()
            assert (refused.status_code, refused.json()["error"]) == (429, "TooManyRequests")
            assert refused.headers["retry-after"]
            assert bob.open()

    def test_idle_ones_end(self) -> None:
        with sessions(ADA, idle_seconds=0.2) as (_, [ada]):
            session = ada.open()
            time.sleep(0.5)  # the SDK takes no other clock, and every look would count as use
            assert ada.ping(session) == 404

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_a_real_client_works_while_others_are_abandoned(self, mode: Any) -> None:
        with sessions(ADA, per_user=5) as (server, [abandoning]):
            headers = {"Authorization": f"Bearer {ADA}"}
            async with httpx2.AsyncClient(headers=headers) as http:
                transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    for number in range(4):
                        for _ in range(6):
                            await anyio.to_thread.run_sync(abandoning.open)
                        result = await client.call_tool("web_search", {"query": f"q{number}"})
                        assert not result.is_error


class TestSeveralServers:
    """Behind a balancer each request may reach another server."""

    pytestmark = with_redis

    def test_any_of_them_answers_for_a_session(self, redis: RedisProcess) -> None:
        options: Any = {"extensions": [mcp_extension], "tokens": TOKENS, "redis_url": redis.url}
        with (
            WebServer.over("tavily", **options) as one,
            WebServer.over("tavily", **options) as other,
            Caller(one, ADA) as here,
            Caller(other, ADA) as there,
            Caller(other, BOB) as stranger,
        ):
            session = here.open()
            assert there.ping(session) == 200
            assert stranger.ping(session) == 404
            assert here.search(session, 10, "site3.example.com") == [1]
            assert there.search(session, 3) == [2, 3, 1]
            assert here.search(session, 4) == [2, 3, 1, 4]
            assert there.end(session) == 200
            assert there.ping(session) == 404
