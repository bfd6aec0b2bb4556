"""Bing's result pages in the browser."""

from __future__ import annotations

import pytest

from qiusuo.engines.base import Joins
from qiusuo.engines.bing_web import BingWebEngine, parse_results, target
from qiusuo.errors import BadResponse, Blocked
from qiusuo.models import Freshness, Query
from qiusuo.testing import ProviderServer
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
