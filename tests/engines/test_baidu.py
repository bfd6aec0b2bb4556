"""Baidu's result pages in the browser."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.baidu import BaiduEngine, parse_results
from qiusuo.engines.base import Joins
from qiusuo.errors import AllEnginesFailed, BadResponse, Blocked
from qiusuo.models import Freshness, Outcome, Query, SearchType
from qiusuo.testing import Answer, ProviderServer
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

    async def test_page_before_the_captcha_is_a_block(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = """<!DOCTYPE html><html lang="zh-CN"><head><title>百度安全验证</title>
          <link rel="stylesheet" href="/static/touch/css/api/mkdjump_0.css"></head><body>
          <div class="timeout hide"><div class="timeout-title">网络不给力，请稍后重试</div></div>
          <div class="timeout-feedback hide"><p>问题反馈</p></div><script src="/static/mkdjump_0.js"></script></body>"""
        always(server, monkeypatch, Answer(page))
        engine = BaiduEngine(base_url=server.base_url, browser=self.browser)
        async with SearchService([engine], Settings.load(timeout=20)) as service:
            with pytest.raises(AllEnginesFailed) as caught:
                await service.asearch("x")
        (attempt,) = caught.value.attempts
        assert attempt.outcome is Outcome.BLOCKED
        assert "qiusuo google solve --engine baidu" in attempt.fix


def test_dates_before_the_abstract_are_read() -> None:
    boxes = "".join(
        f'<div tpl="x" mu="https://{number}.example/"><h3><a href="/link">标题</a></h3>'
        f'<div data-module="abstract">{text}</div></div>'
        for number, text in enumerate(
            (
                "<span>2026年2月4日</span><span>第一段。</span>",
                "<span>3小时前 </span><span>第二段。</span>",
                "<span>11月14日</span> <span>第三段。</span>",
                "<span>2026年2月4日起施行的办法。</span>",
            )
        )
    )
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
    items = parse_results(f'<div id="content_left">{boxes}</div>', now=noon)
    assert [(item.published_at, item.snippet) for item in items] == [
        ("2026-02-04", "第一段。"),
        ("2026-11-16T09:00:00+00:00", "第二段。"),
        ("2026-11-14", "第三段。"),
        (None, "2026年2月4日起施行的办法。"),
    ]


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
