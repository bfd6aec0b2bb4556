"""The DuckDuckGo engine: above all, that a block is never taken for an empty result."""

from __future__ import annotations

import gzip
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import primp
import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import EngineOptions, EngineResults, Joins
from qiusuo.engines.ddgs import REGIONS, DdgsEngine, duckduckgo_region, unwrapped
from qiusuo.errors import (
    BadResponse,
    Blocked,
    ConfigurationError,
    EngineError,
    RateLimited,
    RequestRejected,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Outcome, Query, SearchResultItem, SearchType
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.conformance import EngineConformance
from qiusuo.testing.providers.ddgs import DuckDuckGo
from qiusuo.words import Fact

REAL_PAGES = Path(__file__).parents[3] / "shared" / "serp"
NEWS = Query("elections", type=SearchType.NEWS)


_WRAPPED_AD = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dads.example&amp;rut=1"


def _box(url: str, text: str, kind: str = "web-result", extras: str = "") -> str:
    return (
        f'<div class="result results_links {kind}"><div class="links_main result__body"><h2 class="result__title">'
        f'<a class="result__a" href="{url}">Title</a></h2><div class="result__extras"><div class="result__extras__url">'
        f'<a class="result__url" href="{url}">shown</a>{extras}</div></div>'
        f'<a class="result__snippet" href="{url}">{text}</a></div></div>'
    )


PAGE_WITH_ADVERTISEMENTS = f"""<!DOCTYPE html><html><body><div id="links" class="results">
{_box(_WRAPPED_AD, "Buy it.", "result--ad")}
{_box("https://shop.example/", "Buy it at once.", "result--ad result--ad--small")}
{_box(_WRAPPED_AD, "Buy it here.")}
{_box("https://a.example/", "First text.", extras="<span>&nbsp; &nbsp; 2026-09-10T00:00:00.0000000</span>")}
{_box("https://b.example/", "2 days ago · Second text.")}
{_box("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fabout", "3 May 2024 was a Friday.")}
</div></body></html>"""


def notes_of(results: list[SearchResultItem]) -> tuple[Fact, ...]:
    assert isinstance(results, EngineResults)
    return results.notes


def always(server: ProviderServer, monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    monkeypatch.setattr(server.provider, "answer", lambda _seen: answer)


class TestDdgs(EngineConformance):
    engine_class = DdgsEngine
    provider = DuckDuckGo
    # There is no key and no plan: denial is a block, and a 402 is nothing that DuckDuckGo says.
    expected = {  # noqa: RUF012 - the table of the base class
        Fault.AUTH: Outcome.BLOCKED,
        Fault.FORBIDDEN: Outcome.BLOCKED,
        Fault.QUOTA: Outcome.BAD_RESPONSE,
    }

    async def test_request_is_the_one_of_ddgs(self, server: ProviderServer) -> None:
        await self.run(server, Query("人工智能 & AI", language="zh-CN", freshness=Freshness.WEEK))
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("POST", "/html/")
        assert seen.form == {"q": "人工智能 & AI", "l": "cn-zh", "df": "w"}
        assert "Mozilla" in seen.headers["user-agent"]

    async def test_news_come_with_their_dates(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("elections", type=SearchType.NEWS, freshness=Freshness.HOUR))
        start, news = server.seen
        assert (start.path, news.path) == ("/", "/news.js")
        assert (news.params["q"], news.params["l"], news.params["df"]) == ("elections", "wt-wt", "d")
        assert results[0].published_at == "2026-10-02T00:00:00+00:00"

    async def test_pages_until_the_count_is_reached(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 20)
        assert len({item.url for item in results}) == len(results) == 20
        assert [seen.form.get("s") for seen in server.seen] == [None, "10"]

    async def test_what_was_found_by_the_deadline_is_the_answer(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = server.provider.answer

        def once(seen: Seen) -> Answer:
            server.fault = Fault.HANG
            return answer(seen)

        monkeypatch.setattr(server.provider, "answer", once)
        async with SearchService([DdgsEngine(base_url=server.base_url)], Settings.load(timeout=1.5)) as service:
            response = await service.asearch("x", num_results=20)
        assert response.total_results == 10
        assert [note.code for note in response.attempts[0].notes] == ["engine.page_missing"]

    async def test_advertisements_are_left_out_and_links_unwrapped(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 2)
        assert [item.url for item in results] == [f"https://site{n}.example.com/page/{n}" for n in (1, 2)]

    async def test_wrapped_advertisements_are_no_results_and_dates_are_read(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        always(server, monkeypatch, Answer(PAGE_WITH_ADVERTISEMENTS))
        engine = DdgsEngine(base_url=server.base_url, clock=lambda: datetime(2026, 11, 16, 12, tzinfo=UTC))
        async with SearchService([engine], Settings.load()) as service:
            response = await service.asearch("x")
        assert [(item.url, item.published_at, item.snippet) for item in response.results] == [
            ("https://a.example/", "2026-09-10", "First text."),
            ("https://b.example/", "2026-11-14", "Second text."),
            ("https://duckduckgo.com/about", None, "3 May 2024 was a Friday."),
        ]

    async def test_text_that_looks_like_markup_stays(self, server: ProviderServer) -> None:
        assert '"quoted" 中文 <ok>.' in (await self.run(server, Query("x"), 1))[0].snippet

    @pytest.mark.parametrize(("text", "sent"), [("!g cats", "g cats"), ("\\cats !", "cats"), ("a != b", "a != b")])
    async def test_commands_do_not_lead_away(self, server: ProviderServer, text: str, sent: str) -> None:
        await self.run(server, Query(text))
        assert server.seen[0].form["q"] == sent

    @pytest.mark.parametrize("query", [Query("x"), NEWS], ids=["text", "news"])
    @pytest.mark.parametrize(
        ("answer", "error"),
        [
            (DuckDuckGo.challenge(202), Blocked),
            (DuckDuckGo.challenge(200), Blocked),
            (Answer("", 202), Blocked),
            (Answer("", 403), Blocked),
            (Answer("", 429, {"Retry-After": "30"}), RateLimited),
            (Answer("", 500), Unavailable),
            (Answer("", 400), RequestRejected),
            (Answer("", 200), BadResponse),
            (Answer("<!-- nothing -->", 200), BadResponse),
            (Answer('<?xml version="1.0" encoding="utf-8"?><a/>', 200), BadResponse),
            (Answer(b"\x00\xff\xfe", 200), BadResponse),
            (Answer([1, 2], 200), BadResponse),
            (Answer({"results": [7]}, 200), BadResponse),
        ],
    )
    async def test_what_is_no_answer_is_never_empty(
        self,
        server: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        query: Query,
        answer: Answer,
        error: type[EngineError],
    ) -> None:
        always(server, monkeypatch, answer)
        with pytest.raises(EngineError) as caught:
            await self.run(server, query)
        assert type(caught.value) is error
        if error is Blocked:
            assert "DDGS_PROXY" in caught.value.fix
        if error is RateLimited:
            assert caught.value.retry_after == 30

    async def test_block_between_the_two_requests_for_news(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider,
            "answer",
            lambda seen: DuckDuckGo.challenge() if seen.path == "/news.js" else answer(seen),
        )
        with pytest.raises(Blocked):
            await self.run(server, NEWS)

    async def test_no_news_is_an_empty_list(self, server: ProviderServer) -> None:
        server.empty = True
        assert await self.run(server, NEWS) == []

    async def test_pages_about_bot_walls_are_results(self, server: ProviderServer) -> None:
        text = "duckduckgo.com/anomaly.js?x class=\"anomaly-modal__mask\" id='challenge-form'"
        assert len(await self.run(server, Query(text))) == 10
        assert len(await self.run(server, Query(text + " <div class=anomaly-modal>", type=SearchType.NEWS))) == 10

    async def test_block_on_a_later_page_keeps_the_first(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider, "answer", lambda seen: DuckDuckGo.challenge() if "s" in seen.form else answer(seen)
        )
        results = await self.run(server, Query("x"), 25)
        assert len(results) == 10
        (note,) = notes_of(results)
        assert (note.code, note.values["page"]) == ("engine.page_missing", 2)
        assert note.values["reason"].code == "engine.blocked"

    async def test_all_pages_share_one_timeout(self, server: ProviderServer) -> None:
        server.fault = Fault.SLOW
        server.hold = 1.6
        results = await self.run(server, Query("x"), 25, timeout=2.8)
        assert len(results) == 10
        late = Fact("http.timeout_answer", host=f"127.0.0.1:{server.port}", seconds=2.8)
        assert notes_of(results) == (Fact("engine.page_missing", page=2, reason=late),)

    async def test_both_requests_for_news_share_one_timeout(self, server: ProviderServer) -> None:
        server.fault = Fault.SLOW
        server.hold = 1.6
        with pytest.raises(SearchTimeout, match=r"2\.8 s"):
            await self.run(server, NEWS, timeout=2.8)

    async def test_proxy_is_used_and_its_password_not_shown(
        self, server: ProviderServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        login = "me:s3cret-pass"
        proxy = server.url.replace("//", f"//{login}@")
        options = EngineOptions(base_url="http://duckduckgo.invalid", timeout=2, lookup={"DDGS_PROXY": proxy}.get)
        engine = DdgsEngine.from_options(options, HttpClient())
        assert len(await engine.search(Query("x"), 10)) == 10
        assert server.seen[0].headers["host"] == "duckduckgo.invalid"
        assert server.seen[0].headers["proxy-authorization"].startswith("Basic ")
        server.close()
        with pytest.raises(Unavailable) as caught:
            await engine.search(Query("x"), 10)
        assert "DDGS_PROXY" in caught.value.fix
        assert "s3cret-pass" not in f"{caught.value} {caught.value!r} {caplog.text} {engine!r}"

    async def test_unusable_proxy_is_named(self) -> None:
        engine = DdgsEngine(base_url="http://127.0.0.1:1", proxy="nonsense://")
        with pytest.raises(Unavailable) as caught:
            await engine.search(Query("x"), 10)
        assert "DDGS_PROXY" in caught.value.fix

    @pytest.mark.parametrize(
        ("raised", "error"),
        [
            (primp.DNSError("no records"), Unavailable),
            (primp.DNSTimeoutError("slow resolver"), SearchTimeout),
            (primp.BodyError("body error > operation timed out"), SearchTimeout),
            (primp.BodyError("body error"), BadResponse),
            (primp.PrimpError("anything"), Unavailable),
        ],
    )
    async def test_errors_of_the_client_are_translated(
        self, monkeypatch: pytest.MonkeyPatch, raised: Exception, error: type[EngineError]
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise raised

        # Not over the wire: primp asks the machine's name servers, past the guard that keeps tests on loopback.
        monkeypatch.setattr("qiusuo.engines.ddgs._Visit.request", fail)
        with pytest.raises(EngineError) as caught:
            await DdgsEngine().search(Query("x"), 10)
        assert type(caught.value) is error
        assert "duckduckgo.com" in caught.value.message

    async def test_ddgs_without_its_duckduckgo_engine(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from ddgs.engines import ENGINES

        monkeypatch.delitem(ENGINES["text"], "duckduckgo")
        with pytest.raises(Unavailable, match="no DuckDuckGo text engine"):
            await self.run(server, Query("x"))

    @pytest.mark.skipif(not REAL_PAGES.is_dir(), reason=f"the real result pages are not here ({REAL_PAGES})")
    @pytest.mark.parametrize("status", [200, 202])
    @pytest.mark.parametrize(
        ("page", "error"),
        [
            ("duckduckgo-2026-02_uky_anomaly", Blocked),
            ("duckduckgo-2026-02_uky_anomaly-2", Blocked),
            ("duckduckgo-2025-08_joemachado_html", None),
            # The page for browsers with scripts has another layout: not readable, but not empty either.
            ("duckduckgo-2026-05_openserp_search_results", BadResponse),
        ],
    )
    async def test_real_pages(
        self,
        server: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        page: str,
        error: type[EngineError] | None,
        status: int,
    ) -> None:
        body = gzip.decompress((REAL_PAGES / f"{page}.html.gz").read_bytes()).decode()
        always(server, monkeypatch, Answer(body, status))
        if status == 202 or error:
            with pytest.raises(EngineError) as caught:
                await self.run(server, Query("x"))
            assert type(caught.value) is (Blocked if status == 202 else error)
        else:
            results = await self.run(server, Query("x"))
            assert len(results) == 10
            assert results[0].url == "https://www.carfax.com/Used-Cars-in-Miami-FL_c16214"
            assert all(item.snippet and "duckduckgo" not in item.url for item in results)


def test_facts() -> None:
    assert DdgsEngine.joins is Joins.LAST_RESORT
    assert not DdgsEngine.costs_money
    with pytest.raises(ConfigurationError):
        DdgsEngine(base_url="not an address")


def test_package_is_loaded_by_the_first_search_only() -> None:
    # In a process of its own: here the other tests have loaded it already.
    code = (
        "import sys, qiusuo.engines.ddgs as ours; assert 'ddgs' not in sys.modules; assert 'primp' not in sys.modules;"
        "import ddgs; assert ddgs is not ours; assert 'site-packages' in ddgs.__file__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own interpreter and text


@pytest.mark.parametrize(
    ("language", "region", "code"),
    [
        (None, None, "wt-wt"),
        ("zh-CN", None, "cn-zh"),
        ("zh", None, "cn-zh"),
        ("zh-Hans-CN", None, "cn-zh"),
        ("zh-Hant", None, "tw-tzh"),
        ("zh-TW", None, "tw-tzh"),
        ("zh-HK", None, "hk-tzh"),
        (None, "CN", "cn-zh"),
        ("en", "CN", "cn-zh"),
        ("en", None, "us-en"),
        ("en-GB", None, "uk-en"),
        ("fr", "CA", "ca-fr"),
        ("fr", "CH", "ch-fr"),
        (None, "CH", "ch-de"),
        ("ja", None, "jp-jp"),
        ("ko", "KR", "kr-kr"),
        ("de", None, "de-de"),
        ("nb", None, "no-no"),
        ("sw", None, "wt-wt"),
        (None, "KE", "wt-wt"),
    ],
)
def test_region(language: str | None, region: str | None, code: str) -> None:
    assert duckduckgo_region(Query("x", language=language, region=region)) == code
    assert code in {*REGIONS, "wt-wt"}


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://example.com/a?b=1%262#c", "https://example.com/a?b=1%262#c"),
        (
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2F%3Fa%3D1%2526%26b%3D2&rut=1",
            "https://example.com/?a=1%26&b=2",
        ),
        ("//duckduckgo.com/l/?rut=1", None),
        ("https://duckduckgo.com/y.js?ad_domain=x", None),
        ("/y.js?ad_domain=x", None),
        ("//example.com/x", "https://example.com/x"),
        ("https://duckduckgo.com.example.org/", "https://duckduckgo.com.example.org/"),
    ],
)
def test_links_are_unwrapped(href: str, url: str | None) -> None:
    assert unwrapped(href) == url
