"""Bing's result pages in the browser."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import Joins
from qiusuo.engines.bing_web import BingWebEngine, parse_results, target
from qiusuo.errors import BadResponse, Blocked
from qiusuo.models import Freshness, Query
from qiusuo.testing import Answer, ProviderServer
from qiusuo.testing.providers.bing_web import BingWeb
from tests.support.chromium import BrowserConformance, always


class TestBingWeb(BrowserConformance):
    engine_class = BingWebEngine
    provider = BingWeb

    async def test_request_has_language_region_and_age(self, server: ProviderServer) -> None:
        await self.run(server, Query("人工智能 & AI", language="zh-CN", freshness=Freshness.WEEK), 3)
        (seen,) = server.seen
        assert seen.path == "/search"
        assert seen.params == {"q": "人工智能 & AI", "setlang": "zh-hans", "cc": "CN", "filters": 'ex1:"ez2"'}

    async def test_a_year_is_given_in_days(self, server: ProviderServer) -> None:
        await self.run(server, Query("x", freshness=Freshness.YEAR), 1)
        first, last = server.seen[0].params["filters"].removeprefix('ex1:"ez5_').rstrip('"').split("_")
        assert int(last) - int(first) == 366

    async def test_pages_until_the_count_is_reached(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 20)
        assert [item.url for item in results] == [f"https://site{n}.example.com/page/{n}" for n in range(1, 21)]
        assert [seen.params.get("first") for seen in server.seen] == [None, "11"]
        assert results[0].snippet == 'About x: text 1 "quoted" 中文 <ok>.'

    async def test_heading_inside_of_its_link_and_dates(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = """<!DOCTYPE html><html><body><ol id="b_results"><li class="b_algo"><div class="b_algoheader">
          <a href="https://a.example/"><h2>First</h2><div>a.example</div></a></div><div class="b_caption">
          <p><span class="news_dt">2024年5月3日</span>&nbsp;·&nbsp;第一段。</p></div></li>
          <li class="b_algo"><h2><a href="https://b.example/">Second</a></h2><div class="b_caption">
          <p>2 天之前 · 第二段。</p></div></li></ol></body></html>"""
        always(server, monkeypatch, Answer(page))
        noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
        engine = BingWebEngine(base_url=server.base_url, browser=self.browser, clock=lambda: noon)
        async with SearchService([engine], Settings.load(timeout=20)) as service:
            response = await service.asearch("x", num_results=2)
        assert [(item.title, item.url, item.published_at, item.snippet) for item in response.results] == [
            ("First", "https://a.example/", "2024-05-03", "第一段。"),
            ("Second", "https://b.example/", "2026-11-14", "第二段。"),
        ]

    async def test_captcha_is_a_block(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        always(server, monkeypatch, BingWeb.captcha())
        with pytest.raises(Blocked) as caught:
            await self.run(server, Query("x"))
        assert "qiusuo google solve --engine bing_web" in caught.value.fix


def test_facts() -> None:
    assert BingWebEngine.joins is Joins.NAMED


def test_list_without_results_is_an_unknown_layout() -> None:
    with pytest.raises(BadResponse):
        parse_results('<ol id="b_results"><li><div>new</div></li></ol>')


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://example.com/a", "https://example.com/a"),
        ("https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9leGFtcGxlLmNvbS8_YT0x&ntb=1", "https://example.com/?a=1"),
        ("https://www.bing.com/ck/a?u=a1%FF", None),
        ("https://www.bing.com/ck/a?p=1", None),
        ("/videos/search?q=x", None),
        ("https://cn.bing.com/images", None),
        ("http://[", None),
    ],
)
def test_links_are_unwrapped(href: str, url: str | None) -> None:
    assert target(href) == url
