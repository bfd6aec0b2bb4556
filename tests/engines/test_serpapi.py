"""The SerpApi engines: the common table for each, the shape of their requests, paging, and whose failure is what."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

import pytest
import serpapi  # type: ignore[import-untyped]
import time_machine

from qiusuo.engines.base import EngineResults, Joins, SearchEngine
from qiusuo.engines.serpapi import SerpApi as SerpApiBase
from qiusuo.engines.serpapi import SerpApiBaiduEngine, SerpApiBingEngine, SerpApiEngine
from qiusuo.errors import EngineError, QuotaExceeded, RateLimited, RequestRejected, Unavailable
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.conformance import EngineConformance, assert_no_secret, close_engine
from qiusuo.testing.providers.serpapi import SerpApi
from qiusuo.words import Fact

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


async def run_sdk(server: ProviderServer, monkeypatch: pytest.MonkeyPatch, **params: str) -> None:
    """Make the same search with the official client."""
    monkeypatch.setattr(serpapi.Client, "BASE_DOMAIN", server.base_url)
    client = serpapi.Client(api_key=server.key, timeout=5)
    try:
        await asyncio.to_thread(client.search, **params)
    finally:
        client.session.close()


def assert_same_request(server: ProviderServer) -> None:
    ours, theirs = server.seen
    assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("GET", "/search")
    assert ours.params == theirs.params
    assert ours.params["api_key"] == server.key
    assert server.key not in str(ours.headers)


def answer_page(server: ProviderServer, monkeypatch: pytest.MonkeyPatch, number: int, answer: Answer) -> None:
    """Let the page ``number`` (from 1) be answered otherwise than usual."""
    usual = server.provider.answer
    monkeypatch.setattr(server.provider, "answer", lambda seen: answer if len(server.seen) == number else usual(seen))


class TestSerpApiGoogle(EngineConformance):
    engine_class = SerpApiEngine
    provider = SerpApi

    async def test_request_has_the_shape_of_the_official_sdk(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        query = Query(
            "人工智能",
            language="zh-CN",
            region="HK",
            freshness=Freshness.WEEK,
            include_domains=("gov.cn",),
            exclude_domains=("example.org",),
        )
        await self.run(server, query, 7)
        text = "人工智能 site:gov.cn -site:example.org"
        await run_sdk(server, monkeypatch, engine="google", q=text, gl="hk", hl="zh-cn", tbs="qdr:w")
        assert_same_request(server)

    async def test_news_are_google_news_with_their_age_in_the_query(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        query = Query("大选", type=SearchType.NEWS, language="zh-TW", freshness=Freshness.MONTH)
        results = await self.run(server, query, 7)
        await run_sdk(server, monkeypatch, engine="google_news", q="大选 when:30d", gl="tw", hl="zh-tw")
        assert_same_request(server)
        # The first three are one group with a highlight and two stories.
        assert [item.source for item in results] == [f"site{number}.example.com" for number in range(1, 8)]
        assert results[0].published_at == "2026-10-02T07:00:00+00:00"

    @pytest.mark.parametrize(
        ("tag", "hl"),
        [("en-US", "en"), ("pt-BR", "pt-br"), ("zh", "zh-cn"), ("zh-HK", "zh-tw"), ("es-419", "es-419"), (None, None)],
    )
    async def test_language_is_one_that_google_knows(
        self, server: ProviderServer, tag: str | None, hl: str | None
    ) -> None:
        await self.run(server, Query("x", language=tag))
        assert server.seen[0].params.get("hl") == hl

    @pytest.mark.parametrize("freshness", list(Freshness))
    async def test_every_freshness_has_its_word(self, server: ProviderServer, freshness: Freshness) -> None:
        await self.run(server, Query("x", freshness=freshness))
        await self.run(server, Query("x", freshness=freshness, type=SearchType.NEWS))
        web, news = server.seen
        assert web.params["tbs"] == f"qdr:{freshness.value[0]}"
        assert news.params["q"] in {"x when:1h", "x when:1d", "x when:7d", "x when:30d", "x when:1y"}

    async def test_pages_are_asked_for_until_the_count_is_there(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 25)
        assert [seen.params.get("start") for seen in server.seen] == [None, "10", "20"]
        assert len(results) == 25
        assert len({item.url for item in results}) == 25
        assert not any("num" in seen.params for seen in server.seen)

    async def test_nothing_is_asked_for_behind_the_last_page(self, server: ProviderServer) -> None:
        server.provider.results = 13
        assert len(await self.run(server, Query("x"), 30)) == 13
        assert len(server.seen) == 2

    async def test_a_page_that_adds_nothing_is_the_last(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usual = server.provider.answer
        first = Seen("GET", "/search", {"engine": "google", "q": "x"}, {})
        monkeypatch.setattr(server.provider, "answer", lambda _: usual(first))
        assert len(await self.run(server, Query("x"), 30)) == 10
        assert len(server.seen) == 2

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (Answer({"error": "Your account has run out of searches."}, 429), "run out of searches"),
            (Answer({"error": "broken"}, 503), "HTTP 503"),
            (Answer("<html>Sorry"), "a web page"),
            (Answer({"search_metadata": {"status": "Error"}, "error": "proxy died"}), "proxy died"),
            (Answer({"search_metadata": {"status": "Success"}, "organic_results": [{"title": "?"}]}), "can be read"),
        ],
    )
    async def test_a_later_page_that_fails_keeps_the_first(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, answer: Answer, said: str
    ) -> None:
        answer_page(server, monkeypatch, 2, answer)
        results = await self.run(server, Query("x"), 25)
        assert len(results) == 10
        assert isinstance(results, EngineResults)
        (note,) = results.notes
        assert (note.code, note.values["page"]) == ("engine.page_missing", 2)
        assert said in str(note)

    async def test_all_pages_together_take_no_longer_than_the_timeout(self, server: ProviderServer) -> None:
        server.fault, server.hold = Fault.SLOW, 1.2
        started = asyncio.get_running_loop().time()
        results = await self.run(server, Query("x"), 30, timeout=2.0)
        assert asyncio.get_running_loop().time() - started < 4
        assert len(results) == 10
        assert isinstance(results, EngineResults)
        assert results.notes == (Fact("engine.page_missing", page=2, reason=Fact("engine.no_time")),)

    async def test_what_people_also_ask_and_search_for_comes_along(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("tea"))
        assert isinstance(results, EngineResults)
        assert results.related == ("What about tea?", "tea price")

    async def test_one_unreadable_row_is_noted(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [{"title": "no address"}, {"title": "a", "link": "https://site1.example.com"}]
        body = {"search_metadata": {"status": "Success"}, "organic_results": rows}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        results = await self.run(server, Query("x"))
        assert isinstance(results, EngineResults)
        assert (len(results), results.notes) == (1, (Fact("engine.unreadable", count=1),))

    @pytest.mark.parametrize(
        "body",
        [
            {"search_metadata": {"status": "Success"}, "error": "Google hasn't returned any results for this query."},
            {"search_information": {"organic_results_state": "Fully empty"}, "error": "Nothing."},
            {"search_metadata": {"status": "Success"}, "knowledge_graph": {"title": "only a box"}},
        ],
    )
    async def test_an_empty_page_is_no_failure(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        assert await self.run(server, Query("x")) == []

    @pytest.mark.parametrize(
        ("answer", "error"),
        [
            (Answer({"search_metadata": {"status": "Error"}, "error": "We couldn't."}), Unavailable),
            (Answer({"error": "Your account has run out of searches."}), QuotaExceeded),
            (Answer({"error": "Your account has run out of searches."}, 429), QuotaExceeded),
            (Answer({"error": "Hourly throughput limit reached."}, 429), RateLimited),
            (Answer({"error": "Unsupported `xx` gl parameter."}), RequestRejected),
        ],
    )
    async def test_failures_are_told_apart_by_their_words(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, answer: Answer, error: type[EngineError]
    ) -> None:
        monkeypatch.setattr(server.provider, "answer", lambda _: answer)
        with pytest.raises(error) as caught:
            await self.run(server, Query("x"))
        assert str(answer.body["error"]) in caught.value.message
        assert caught.value.fix

    async def test_an_error_that_quotes_the_key_loses_it(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        answer_page(server, monkeypatch, 2, Answer({"error": f"bad: api_key={server.key}"}, 400))
        results = await self.run(server, Query("x"), 20)
        assert isinstance(results, EngineResults)
        assert "api_key=***" in str(results.notes[0])
        assert server.key not in repr(results.notes[0])
        assert server.key not in caplog.text

    @pytest.mark.parametrize("key", ["0123456789abcdef", "a+b/c=d&e f;g%h"])
    async def test_an_error_of_the_wire_that_quotes_the_url_loses_the_key(
        self, key: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def not_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nBroken Header\x00: x\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(not_http, "127.0.0.1", 0) as listener:
            engine = SerpApiEngine(key, base_url=f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")
            with pytest.raises(Unavailable, match="The connection to") as caught:
                await engine.search(Query("x"), 10)
            await close_engine(engine)
        assert_no_secret(key, caught.value, caplog)
        assert "a%2Bb" not in str(caught.value)
        assert "api_key" not in str(caught.value)

    def test_every_option_is_honoured_up_to_a_number(self) -> None:
        engine = SerpApiEngine("k")
        query = Query("x", SearchType.NEWS, "zh-CN", "CN", Freshness.DAY, ("a.cn",), ("b.cn",))
        assert engine.notes(query, 30) == ()
        many = tuple(f"site{number}.cn" for number in range(11))
        assert engine.notes(Query("x", include_domains=many), 31) == (
            Fact("engine.at_most", count=30),
            Fact("engine.first_domains", count=10),
        )


class TestSerpApiBing(EngineConformance):
    engine_class = SerpApiBingEngine
    provider = SerpApi

    @time_machine.travel(NOW, tick=False)
    async def test_request_has_the_shape_of_the_official_sdk(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        query = Query(
            "law",
            language="zh-CN",
            freshness=Freshness.WEEK,
            include_domains=("gov.cn", "court.gov.cn"),
            exclude_domains=("example.org",),
        )
        await self.run(server, query, 7)
        today = (NOW.date() - datetime(1970, 1, 1, tzinfo=UTC).date()).days
        await run_sdk(
            server,
            monkeypatch,
            engine="bing",
            q="law (site:gov.cn OR site:court.gov.cn) NOT site:example.org",
            mkt="zh-CN",
            filters=f'ex1:"ez5_{today - 7}_{today}"',
        )
        assert_same_request(server)

    @pytest.mark.parametrize(
        ("language", "region", "place"),
        [
            ("zh-CN", None, {"mkt": "zh-CN"}),
            ("fr", "CH", {"mkt": "fr-CH"}),
            (None, "gb", {"cc": "GB"}),
            ("en", None, {}),
            (None, None, {}),
        ],
    )
    async def test_place_is_a_market_or_a_country_and_never_both(
        self, server: ProviderServer, language: str | None, region: str | None, place: dict[str, str]
    ) -> None:
        query = Query("x", language=language, region=region)
        await self.run(server, query)
        params = server.seen[0].params
        assert {name: params[name] for name in ("mkt", "cc") if name in params} == place
        engine = SerpApiBingEngine("k")
        noted = Fact("serpapi.bing_language") in engine.notes(query, 10)
        assert noted == (language is not None and "mkt" not in place)

    async def test_pages_start_at_the_next_result(self, server: ProviderServer) -> None:
        assert len(await self.run(server, Query("x"), 30)) == 30
        assert [seen.params.get("first") for seen in server.seen] == [None, "11", "21"]

    def test_news_are_not_honoured(self) -> None:
        assert SerpApiBingEngine("k").notes(Query("x", type=SearchType.NEWS), 5) == (
            Fact("engine.ignored", features=["news"]),
        )


class TestSerpApiBaidu(EngineConformance):
    engine_class = SerpApiBaiduEngine
    provider = SerpApi

    @time_machine.travel(NOW, tick=False)
    async def test_request_has_the_shape_of_the_official_sdk(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        query = Query(
            "法律",
            language="zh-CN",
            freshness=Freshness.DAY,
            include_domains=("gov.cn",),
            exclude_domains=("example.org",),
        )
        await self.run(server, query, 7)
        now = int(NOW.timestamp())
        await run_sdk(
            server,
            monkeypatch,
            engine="baidu",
            q="法律 -site:example.org",
            q6="gov.cn",
            rn="7",
            gpc=f"stf={now - 86400},{now}|stftype=1",
            ct="2",
        )
        assert_same_request(server)

    async def test_several_domains_go_into_the_query(self, server: ProviderServer) -> None:
        await self.run(server, Query("法律", include_domains=("gov.cn", "court.gov.cn")))
        assert server.seen[0].params["q"] == "法律 (site:gov.cn OR site:court.gov.cn)"
        assert "q6" not in server.seen[0].params

    async def test_fifty_come_at_once(self, server: ProviderServer) -> None:
        server.provider.results = 80
        assert len(await self.run(server, Query("x"), 100)) == 50
        assert len(server.seen) == 1

    async def test_what_a_short_page_lacks_comes_from_the_next(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usual = server.provider.answer

        def short(seen: Seen) -> Answer:
            body = usual(seen).body
            return Answer(body | {"organic_results": body["organic_results"][:8]})

        monkeypatch.setattr(server.provider, "answer", short)
        assert len(await self.run(server, Query("x"), 10)) == 10
        assert [seen.params.get("pn") for seen in server.seen] == [None, "10"]

    @pytest.mark.parametrize(
        ("shown", "source"),
        [
            ("www.court.gov.cn/zixun/", "court.gov.cn"),
            ("百度百科", "baidu.com"),
            (None, "baidu.com"),
            ("[", "baidu.com"),
        ],
    )
    async def test_source_is_the_host_behind_the_redirect(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, shown: str | None, source: str
    ) -> None:
        row = {"title": "a", "link": "http://www.baidu.com/link?url=abc", "displayed_link": shown}
        body = {"search_metadata": {"status": "Success"}, "organic_results": [row]}
        monkeypatch.setattr(server.provider, "answer", lambda _: Answer(body))
        (item,) = await self.run(server, Query("x"))
        assert (item.url, item.source) == (row["link"], source)

    @pytest.mark.parametrize(("tag", "ct"), [("zh-CN", "2"), ("zh", "2"), ("zh-TW", "3"), ("en", None), (None, None)])
    async def test_language_is_a_kind_of_chinese(self, server: ProviderServer, tag: str | None, ct: str | None) -> None:
        await self.run(server, Query("x", language=tag))
        assert server.seen[0].params.get("ct") == ct
        notes = SerpApiBaiduEngine("k").notes(Query("x", language=tag), 10)
        assert bool(notes) == (tag == "en")

    def test_options_that_baidu_lacks_are_reported(self) -> None:
        notes = SerpApiBaiduEngine("k").notes(Query("x", type=SearchType.NEWS, region="CN"), 60)
        assert notes == (Fact("engine.ignored", features=["news", "region"]), Fact("engine.at_most", count=50))


def test_bing_and_baidu_join_only_when_named_and_share_the_key() -> None:
    joins: dict[type[SearchEngine], Joins] = {
        SerpApiEngine: Joins.CONFIGURED,
        SerpApiBingEngine: Joins.NAMED,
        SerpApiBaiduEngine: Joins.NAMED,
    }
    for engine, when in joins.items():
        assert engine.joins is when
        assert engine.key_env == ("SERPAPI_API_KEY", "SERPAPI_KEY")
        assert issubclass(engine, SerpApiBase)
