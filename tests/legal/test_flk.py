"""The engine of 国家法律法规数据库: its place in the common table, the shape of its requests, titles before texts.

The shape is the one that public programs use; nobody has tried it live here.
"""

from __future__ import annotations

from typing import ClassVar

import pytest

from qiusuo import SearchService
from qiusuo.errors import EngineError, RateLimited, RequestRejected, Unavailable
from qiusuo.legal.engines.flk import FlkEngine
from qiusuo.models import Outcome, Query, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing.conformance import EngineConformance
from qiusuo.testing.providers.flk import PATH, Flk


def provider_of(server: ProviderServer) -> Flk:
    assert isinstance(server.provider, Flk)
    return server.provider


class TestFlk(EngineConformance):
    engine_class = FlkEngine
    provider = Flk
    results_on = "flk.npc.gov.cn"
    # It knows no keys: whoever is turned away met a wall.
    expected: ClassVar = {Fault.AUTH: Outcome.BLOCKED, Fault.FORBIDDEN: Outcome.BLOCKED}

    async def test_request_has_the_known_shape(self, server: ProviderServer) -> None:
        await self.run(server, Query("加班 工资"), 12)
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("POST", PATH)
        assert "authorization" not in seen.headers
        assert seen.json == {
            "searchContent": "加班 工资",
            "searchRange": 2,
            "searchType": 2,
            "sxx": [],
            "gbrq": [],
            "sxrq": [],
            "gbrqYear": [],
            "flfgCodeId": [],
            "zdjgCodeId": [],
            "orderByParam": {"order": "-1", "sort": ""},
            "pageNum": 1,
            "pageSize": 20,
        }

    @pytest.mark.parametrize(
        ("words", "law"),
        [
            ("工伤保险条例", "工伤保险条例"),
            ("《工伤保险条例》第十四条", "工伤保险条例"),
            ("民法典第577条是什么", "民法典"),
        ],
    )
    async def test_a_law_is_looked_for_in_titles(self, server: ProviderServer, words: str, law: str) -> None:
        await self.run(server, Query(words))
        assert [(seen.json["searchContent"], seen.json["searchRange"]) for seen in server.seen] == [(law, 1)]

    async def test_and_in_texts_where_no_title_holds_it(self, server: ProviderServer) -> None:
        provider_of(server).titles = False
        assert len(await self.run(server, Query("工伤保险条例"), 5)) == 5
        assert [seen.json["searchRange"] for seen in server.seen] == [1, 2]

    async def test_the_added_word_is_left_out(self, server: ProviderServer) -> None:
        await self.run(server, Query("加班 法律法规", type=SearchType.REGULATION, added=" 法律法规"))
        assert server.seen[0].json["searchContent"] == "加班"

    async def test_a_result_says_what_is_known_of_the_law(self, server: ProviderServer) -> None:
        first, second, third = await self.run(server, Query("加班"), 3)
        assert first.title == "加班 & result 1"
        assert first.url == f"https://flk.npc.gov.cn/detail?id={1:032x}"
        assert "法律，全国人民代表大会常务委员会，2026-10-02 公布，2026-12-01 起施行，现行有效" in first.snippet
        assert "起施行" not in second.snippet
        assert third.snippet.endswith("尚未生效")
        assert first.published_at == "2026-10-02"

    @pytest.mark.parametrize(("code", "error"), [(500, Unavailable), ("429", RateLimited), ("odd", RequestRejected)])
    async def test_an_error_may_come_with_a_good_status(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, code: object, error: type[EngineError]
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer({"code": code, "msg": "系统异常"}))
        with pytest.raises(error, match="系统异常"):
            await self.run(server, Query("x"))

    async def test_it_joins_only_when_named(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TAVILY_API_KEY", "t")
        monkeypatch.setenv("QIUSUO_ENGINES__FLK__BASE_URL", server.base_url)
        async with SearchService.from_settings() as service:
            for kind in SearchType:
                assert "flk" not in await service.available(kind)
            assert (await service.asearch("工伤保险条例", engine="flk")).provider == "flk"
