"""Programs made for SearXNG and Tavily, unchanged but for one address."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from qiusuo.testing import Fault
from tests.support.web_server import WebServer, page_site

# One process for all, also where pytest-xdist spreads the tests: litellm alone takes seconds to import.
pytestmark = pytest.mark.xdist_group("drop-in-clients")

TOKEN = "tok-drop-in-0123456789"
QUERY = "大模型 智能体 & agents"


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with page_site() as (site, reader), WebServer.over("brave", reader=reader) as server:
        server.site = site
        yield server


@pytest.fixture
def own() -> Iterator[WebServer]:
    """A server that wants a token, and that a test may break."""
    with WebServer.over("brave", tokens=f"user:{TOKEN}", rate_limit=3) as server:
        yield server


def load(name: str) -> Any:
    """Import a client; skip where it is not installed."""
    reason = f"the package of {name} is not installed: run make test (scripts/setup.py --test or --bench brings it)"
    with warnings.catch_warnings():
        # The clients' own affairs: langchain_community says that it will not be developed any further, litellm
        # brings deprecated settings of pydantic.
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=reason)


class TestTavilyPython:
    """The official SDK."""

    @pytest.fixture
    def tavily(self) -> Any:
        return load("tavily")

    def test_search(self, tavily: Any, server: WebServer) -> None:
        with tavily.TavilyClient("tvly-anything", api_base_url=f"{server.url}/tavily") as client:
            data = client.search(
                QUERY, topic="news", time_range="week", max_results=7, include_answer="basic", country="china"
            )
        assert (data["query"], len(data["results"])) == (QUERY, 7)
        assert QUERY in data["answer"]
        assert data["results"][0]["url"].startswith("https://site1.")
        assert QUERY in data["results"][0]["title"]
        assert "/news/" in server.world["brave"].seen[-1].path

    def test_extract(self, tavily: Any, server: WebServer) -> None:
        url = f"{server.site.url}/article"
        with tavily.TavilyClient("tvly-anything", api_base_url=f"{server.url}/tavily") as client:
            data = client.extract([url, "http://10.0.0.1/"], format="markdown")
        assert [page["url"] for page in data["results"]] == [url]
        assert "路漫漫其修远兮" in data["results"][0]["raw_content"]
        assert data["failed_results"][0]["url"] == "http://10.0.0.1/"

    async def test_async(self, tavily: Any, server: WebServer) -> None:
        client = tavily.AsyncTavilyClient("tvly-anything", api_base_url=f"{server.url}/tavily")
        answers = await asyncio.gather(*(client.search(f"async {number}") for number in range(5)))
        await client.close()
        assert [len(answer["results"]) for answer in answers] == [5] * 5

    def test_its_own_errors(self, tavily: Any, own: WebServer) -> None:
        stranger = tavily.TavilyClient("tvly-wrong", api_base_url=f"{own.url}/tavily")
        with stranger, pytest.raises(tavily.InvalidAPIKeyError, match="token"):
            stranger.search(QUERY)
        with tavily.TavilyClient(TOKEN, api_base_url=f"{own.url}/tavily") as client:
            with pytest.raises(tavily.BadRequestError, match="topic"):
                client.search(QUERY, topic="sports")
            for number in range(3):
                assert client.search(f"{QUERY} {number}")["results"]
            with pytest.raises(tavily.UsageLimitExceededError, match="Wait"):
                client.search(QUERY)


class TestLangchainTavily:
    @pytest.fixture
    def tools(self) -> Any:
        return load("langchain_tavily")

    def test_search(self, tools: Any, server: WebServer) -> None:
        tool = tools.TavilySearch(tavily_api_key="x", api_base_url=f"{server.url}/tavily", max_results=4)
        data = tool.invoke({"query": QUERY, "time_range": "month", "include_domains": ["example.com"]})
        assert "error" not in data
        assert (data["query"], len(data["results"])) == (QUERY, 4)

    async def test_search_async(self, tools: Any, server: WebServer) -> None:
        tool = tools.TavilySearch(tavily_api_key="x", api_base_url=f"{server.url}/tavily")
        assert len((await tool.ainvoke({"query": QUERY}))["results"]) == 5

    def test_extract(self, tools: Any, server: WebServer) -> None:
        tool = tools.TavilyExtract(tavily_api_key="x", api_base_url=f"{server.url}/tavily")
        data = tool.invoke({"urls": [f"{server.site.url}/article"]})
        assert "路漫漫其修远兮" in data["results"][0]["raw_content"]

    def test_error_is_told(self, tools: Any, own: WebServer) -> None:
        tool = tools.TavilySearch(tavily_api_key="wrong", api_base_url=f"{own.url}/tavily")
        assert "401" in str(tool.invoke({"query": QUERY})["error"])


class TestLangchainSearx:
    """``langchain_community``: asks at the root of the host it is given."""

    @pytest.fixture
    def wrapper(self) -> Any:
        return load("langchain_community.utilities.searx_search").SearxSearchWrapper

    def test_results(self, wrapper: Any, server: WebServer) -> None:
        rows = wrapper(searx_host=server.url).results(QUERY, 8, categories=["news"], time_range="week")
        assert len(rows) == 8
        assert QUERY in rows[0]["title"]
        assert rows[0]["link"].startswith("https://site1.")
        assert (rows[0]["engines"], rows[0]["category"]) == (["brave"], "news")

    def test_run(self, wrapper: Any, server: WebServer) -> None:
        text = wrapper(searx_host=f"{server.url}/search", k=3, engines=["brave"]).run(QUERY)
        assert text.count(QUERY) == 3

    async def test_async(self, wrapper: Any, server: WebServer) -> None:
        assert QUERY in await wrapper(searx_host=server.url).arun(QUERY)
        assert len(await wrapper(searx_host=server.url).aresults(QUERY, 5)) == 5

    def test_nothing_found(self, wrapper: Any, own: WebServer) -> None:
        own.world["brave"].empty = True
        searx = wrapper(searx_host=own.url, headers={"Authorization": f"Bearer {TOKEN}"})
        assert searx.run(QUERY) == "No good search result found"

    def test_errors_are_raised(self, wrapper: Any, own: WebServer) -> None:
        with pytest.raises(ValueError, match="Unauthorized"):
            wrapper(searx_host=own.url).run(QUERY)
        own.world["brave"].fault = Fault.SERVER_ERROR
        with pytest.raises(ValueError, match="brave"):
            wrapper(searx_host=own.url, headers={"Authorization": f"Bearer {TOKEN}"}).run(QUERY)


class TestLitellm:
    @pytest.fixture
    def litellm(self) -> Iterator[Any]:
        with pytest.MonkeyPatch.context() as patch:
            # Else it asks for a price list at import.
            patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            module = load("litellm")
            patch.setattr(module, "suppress_debug_info", True)
            yield module

    @pytest.mark.filterwarnings(
        "ignore::DeprecationWarning:litellm", "ignore::pydantic.warnings.PydanticDeprecatedSince20"
    )
    @pytest.mark.parametrize("provider", ["searxng", "tavily"])
    def test_search(self, litellm: Any, own: WebServer, provider: str) -> None:
        base = own.url if provider == "searxng" else f"{own.url}/tavily"
        found = litellm.search(QUERY, search_provider=provider, api_base=base, api_key=TOKEN, max_results=5)
        assert len(found.results) == (10 if provider == "searxng" else 5)  # it does not tell SearXNG how many
        assert QUERY in found.results[0].title
        assert found.results[0].url.startswith("https://site1.")
        assert QUERY in found.results[0].snippet

    @pytest.mark.filterwarnings(
        "ignore::DeprecationWarning:litellm", "ignore::pydantic.warnings.PydanticDeprecatedSince20"
    )
    @pytest.mark.parametrize("provider", ["searxng", "tavily"])
    async def test_search_async(self, litellm: Any, own: WebServer, provider: str) -> None:
        base = own.url if provider == "searxng" else f"{own.url}/tavily"
        found = await litellm.asearch(QUERY, search_provider=provider, api_base=base, api_key=TOKEN, country="US")
        assert found.results
        # It keeps its clients beyond the loop, and one that is collected later warns in the test that runs then.
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()
