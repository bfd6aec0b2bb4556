"""The Zhipu engine: its place in the common table, the shape of its requests, and its codes behind one status."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from qiusuo.engines.base import EngineOptions
from qiusuo.engines.zhipu import ZhipuEngine
from qiusuo.errors import AuthFailed, EngineError, QuotaExceeded, RateLimited, RequestRejected, Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import Answer, ProviderServer
from qiusuo.testing.conformance import EngineConformance, close_engine
from qiusuo.testing.providers.zhipu import Zhipu
from qiusuo.words import Fact


class TestZhipu(EngineConformance):
    engine_class = ZhipuEngine
    provider = Zhipu

    @pytest.mark.parametrize("sdk", ["ZhipuAiClient", "ZaiClient"])
    async def test_request_has_the_shape_of_the_official_sdk(self, server: ProviderServer, sdk: str) -> None:
        import zai  # takes long to load

        query = Query("人工智能", freshness=Freshness.WEEK, include_domains=("gov.cn",))
        await self.run(server, query, 7)
        with closing(getattr(zai, sdk)(api_key=server.key, base_url=server.base_url, max_retries=0)) as client:
            await asyncio.to_thread(
                client.web_search.web_search,
                search_query="人工智能",
                search_engine="search_pro",
                search_intent=False,
                count=7,
                search_domain_filter="gov.cn",
                search_recency_filter="oneWeek",
            )
        ours, theirs = server.seen
        assert (ours.method, ours.path) == (theirs.method, theirs.path)
        assert ours.headers["authorization"] == theirs.headers["authorization"] == f"Bearer {server.key}"
        assert ours.json == theirs.json

    @pytest.mark.parametrize(
        ("freshness", "word"),
        [
            (Freshness.HOUR, "oneDay"),
            (Freshness.DAY, "oneDay"),
            (Freshness.WEEK, "oneWeek"),
            (Freshness.MONTH, "oneMonth"),
            (Freshness.YEAR, "oneYear"),
        ],
    )
    async def test_every_freshness_has_its_word(self, server: ProviderServer, freshness: Freshness, word: str) -> None:
        await self.run(server, Query("x", freshness=freshness))
        assert server.seen[0].json["search_recency_filter"] == word

    async def test_the_query_keeps_to_seventy_characters(self, server: ProviderServer) -> None:
        await self.run(server, Query("求" * 100))
        assert server.seen[0].json["search_query"] == "求" * 70

    @pytest.mark.parametrize(("engine", "sent"), [("search_pro_sogou", 20), ("search_std", 13)])
    async def test_the_index_is_a_setting_and_sogou_counts_in_tens(
        self, server: ProviderServer, engine: str, sent: int
    ) -> None:
        options = EngineOptions(api_key=server.key, base_url=server.base_url, extra={"search_engine": engine})
        zhipu = ZhipuEngine.from_options(options, HttpClient())
        results = await zhipu.search(Query("x"), 13)
        await close_engine(zhipu)
        assert len(results) == 13
        assert (server.seen[0].json["search_engine"], server.seen[0].json["count"]) == (engine, sent)

    @pytest.mark.parametrize(
        ("status", "code", "error"),
        [
            (401, "1000", AuthFailed),
            (401, "1004", AuthFailed),
            (400, "1002", AuthFailed),
            (401, 1001, AuthFailed),
            (429, "1113", QuotaExceeded),
            (429, 1113, QuotaExceeded),
            (429, "1302", RateLimited),
            (429, "1303", RateLimited),
            (429, "1305", RateLimited),
            (400, "1301", RequestRejected),
            (435, "", RequestRejected),
            (400, "1214", RequestRejected),
            (500, "500", Unavailable),
        ],
    )
    async def test_errors_are_told_apart_by_status_and_code(
        self,
        server: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        status: int,
        code: object,
        error: type[EngineError],
    ) -> None:
        body = {"error": {"code": code, "message": "出错了"}}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body, status))
        with pytest.raises(error, match="出错了") as caught:
            await self.run(server, Query("x"))
        assert type(caught.value) is error
        assert caught.value.status == status

    async def test_a_refused_key_hears_of_the_other_address(self, server: ProviderServer) -> None:
        with pytest.raises(AuthFailed) as caught:
            await self.run(server, Query("x"), key="wrong-key-fedcba9876543210")
        assert "ZAI_API_KEY" in caught.value.fix
        assert "https://api.z.ai/api/paas/v4" in caught.value.fix

    async def test_a_missing_list_in_zhipus_answer_is_nothing_found(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"id": "0", "created": 1}))
        assert await self.run(server, Query("x")) == []

    async def test_one_domain_is_sent_and_several_are_noted_as_ignored(self, server: ProviderServer) -> None:
        one, several = Query("x", include_domains=("gov.cn",)), Query("x", include_domains=("gov.cn", "court.gov.cn"))
        await self.run(server, one)
        await self.run(server, several)
        assert server.seen[0].json["search_domain_filter"] == "gov.cn"
        assert "search_domain_filter" not in server.seen[1].json
        assert ZhipuEngine("k").notes(one, 10) == ()
        assert ZhipuEngine("k").notes(several, 10) == (Fact("zhipu.one_domain"),)

    def test_options_that_zhipu_lacks_are_reported(self) -> None:
        query = Query("求" * 71, type=SearchType.NEWS, language="zh-CN", region="CN", exclude_domains=("a.cn",))
        assert ZhipuEngine("k").notes(query, 60) == (
            Fact("engine.ignored", features=["news", "language", "region", "exclude_domains"]),
            Fact("engine.shortened", count=70),
            Fact("engine.at_most", count=50),
        )
