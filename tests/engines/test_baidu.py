"""Baidu's result pages in the browser."""

from __future__ import annotations

import pytest

from qiusuo.engines.baidu import BaiduEngine, parse_results
from qiusuo.engines.base import Joins
from qiusuo.errors import BadResponse, Blocked
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.baidu import Baidu
from tests.support.chromium import BrowserConformance, always


class TestBaidu(BrowserConformance):
    engine_class = BaiduEngine
    provider = Baidu

    async def test_request(self, server: ProviderServer) -> None:
        await self.run(server, Query("人工智能 & AI"), 3)
        (seen,) = server.seen
        assert seen.path == "/s"
        assert seen.params == {"wd": "人工智能 & AI", "ie": "utf-8"}

    async def test_news_and_age(self, server: ProviderServer) -> None:
        await self.run(server, Query("选举", type=SearchType.NEWS, freshness=Freshness.DAY), 3)
        params = server.seen[0].params
        assert (params["tn"], params["rtt"]) == ("news", "1")
        start, end = params["gpc"].removeprefix("stf=").removesuffix("|stftype=1").split(",")
        assert int(end) - int(start) in {86_400, 86_401}

    async def test_addresses_are_the_true_ones(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 20)
        assert [item.url for item in results] == [f"https://site{n}.example.com/page/{n}" for n in range(1, 21)]
        assert [seen.params.get("pn") for seen in server.seen] == [None, "10"]

    async def test_captcha_is_a_block(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        always(server, monkeypatch, Baidu.captcha())
        with pytest.raises(Blocked) as caught:
            await self.run(server, Query("x"))
        assert "qiusuo google solve --engine baidu" in caught.value.fix


@pytest.mark.parametrize(("text", "length"), [("搜" * 100, 38), ("search " * 20, 76), ("搜索", 2)])
def test_query_fits_in_what_baidu_reads(text: str, length: int) -> None:
    engine = BaiduEngine.__new__(BaiduEngine)
    assert length - 7 <= len(engine.query_text(Query(text))) <= length


def test_facts() -> None:
    assert BaiduEngine.joins is Joins.NAMED


def test_box_without_an_address_of_its_own_has_that_of_its_link() -> None:
    (item,) = parse_results(
        '<div id="content_left"><div tpl="x" mu="http://nourl.ubs.baidu.com/1"><h3><a href="/link?url=1">A</a></h3>'
    )
    assert item.url == "https://www.baidu.com/link?url=1"


def test_unknown_layout() -> None:
    with pytest.raises(BadResponse):
        parse_results('<div id="content_left"><div class="new">x</div></div>')
