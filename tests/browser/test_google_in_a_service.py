"""The Google engine behind the service: its results, and the peace it is left in when blocked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qiusuo import SearchService
from qiusuo.browser import Browser
from qiusuo.config import Settings
from qiusuo.engines.google import GoogleEngine
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import AllEnginesFailed, InvalidQuery
from qiusuo.models import Outcome
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.google import Google
from qiusuo.testing.providers.tavily import Tavily
from tests.support.chromium import always, with_chromium

pytestmark = with_chromium


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(Google()) as server:
        yield server


@pytest.fixture
def engine(server: ProviderServer, browser: Browser) -> GoogleEngine:
    return GoogleEngine(base_url=server.base_url, browser=browser)


async def test_chinese_search(server: ProviderServer, engine: GoogleEngine) -> None:
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        response = await service.asearch("人工智能 最新进展")
    assert (response.provider, response.total_results) == ("google", 10)
    assert server.seen[0].params == {"q": "人工智能 最新进展", "hl": "zh-CN", "gl": "cn"}
    assert set(response.results[0].to_dict()) >= {"title", "url", "snippet", "source"}


def test_from_synchronous_code(engine: GoogleEngine) -> None:
    with SearchService([engine], Settings.load(timeout=20)) as service:
        assert service.search("x").total_results == 10


async def test_blank_query_opens_no_page(server: ProviderServer, engine: GoogleEngine) -> None:
    async with SearchService([engine], Settings.load()) as service:
        with pytest.raises(InvalidQuery):
            await service.asearch("  \t")
    assert server.seen == []


async def test_blocked_once_it_rests_and_others_answer(
    server: ProviderServer, engine: GoogleEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    always(server, monkeypatch, Google.captcha())
    with ProviderServer(Tavily()) as other:
        tavily = TavilyEngine(other.key, base_url=other.base_url)
        async with SearchService([engine, tavily], Settings.load(timeout=20)) as service:
            for number in range(3):
                response = await service.asearch(f"query {number}")
                assert response.provider == "tavily"
                assert response.attempts[0].outcome is Outcome.BLOCKED
                assert "qiusuo google solve" in response.attempts[0].fix
            (status, _) = await service.status()
        await tavily.aclose()
    assert len(server.seen) == 1
    assert status.state == "resting"
    assert (status.retry_after or 0) > 500


async def test_alone_and_blocked_it_says_what_to_do(
    server: ProviderServer, engine: GoogleEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    always(server, monkeypatch, Google.consent())
    async with SearchService([engine], Settings.load(timeout=20)) as service:
        with pytest.raises(AllEnginesFailed) as caught:
            await service.asearch("x")
    assert "qiusuo google solve" in caught.value.fix
