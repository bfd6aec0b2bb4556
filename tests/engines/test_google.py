"""The Google engine: request, results, and above all that a block is never taken for an empty result."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import EngineOptions, EngineResults, Joins
from qiusuo.engines.google import GoogleEngine, google_language, parse_results, target
from qiusuo.errors import BadResponse, Blocked, ConfigurationError, EngineError, EngineNotConfigured, RateLimited
from qiusuo.http import HttpClient
from qiusuo.models import Freshness, Query, SearchType
from qiusuo.testing import Answer, ProviderServer, Seen
from qiusuo.testing.providers.google import Google
from qiusuo.words import Fact
from tests.support.chromium import BrowserConformance, always


class TestGoogle(BrowserConformance):
    engine_class = GoogleEngine
    provider = Google

    async def test_request_has_language_region_and_age(self, server: ProviderServer) -> None:
        await self.run(server, Query("人工智能 & AI", language="zh-CN", freshness=Freshness.WEEK), 3)
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("GET", "/search")
        assert seen.params == {"q": "人工智能 & AI", "hl": "zh-CN", "gl": "cn", "tbs": "qdr:w"}

    async def test_browser_says_what_it_is(self, server: ProviderServer) -> None:
        await self.run(server, Query("x"), 1)
        assert "HeadlessChrome" in server.seen[0].headers["user-agent"]

    async def test_nothing_but_the_page_is_loaded(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = str(server.provider.answer(Seen("GET", "/search", {"q": "x"}, {})).body)
        more = (
            "<style>@font-face { font-family: f; src: url(/font.woff2) } body { font-family: f }</style>"
            '<img src="/image.png"><video src="/film.mp4" autoplay preload="auto"></video>'
            '<script src="/code.js"></script>'
        )
        always(server, monkeypatch, Answer(page.replace("<body>", f"<body>{more}")))
        assert len(await self.run(server, Query("x"))) == 10
        assert [seen.path for seen in server.seen] == ["/search", "/code.js"]

    async def test_news_come_with_their_dates(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("elections", type=SearchType.NEWS, freshness=Freshness.HOUR))
        assert server.seen[0].params == {"q": "elections", "tbm": "nws", "tbs": "qdr:h"}
        assert results[0].published_at == "2026-10-02T00:00:00+00:00"
        assert '"quoted" 中文 <ok>.' in results[0].snippet

    async def test_pages_until_the_count_is_reached(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 20)
        assert len({item.url for item in results}) == len(results) == 20
        assert [seen.params.get("start") for seen in server.seen] == [None, "10"]

    async def test_short_pages_are_counted_as_pages(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("qiusuo.testing.providers.result_pages.PAGE_SIZE", 7)
        assert len(await self.run(server, Query("x"), 10)) == 10
        assert [seen.params.get("start") for seen in server.seen] == [None, "10"]

    async def test_only_organic_results_in_their_words(self, server: ProviderServer) -> None:
        results = await self.run(server, Query("x"), 30)
        assert [item.url for item in results] == [f"https://site{n}.example.com/page/{n}" for n in range(1, 31)]
        assert results[0].title == "x & result 1"
        assert results[0].snippet == 'About x: text 1 "quoted" 中文 <ok>.'

    async def test_block_on_a_later_page_keeps_the_first(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider, "answer", lambda seen: Google.captcha() if "start" in seen.params else answer(seen)
        )
        results = await self.run(server, Query("x"), 25)
        assert len(results) == 10
        assert isinstance(results, EngineResults)
        assert results.notes[0].values["reason"] == Fact("google.captcha")

    @pytest.mark.parametrize(
        ("answer", "error", "word"),
        [
            (Google.captcha(), Blocked, "CAPTCHA"),
            (Google.captcha(200), Blocked, "CAPTCHA"),
            (Google.captcha(503), Blocked, "CAPTCHA"),
            (Google.consent(), Blocked, "cookies"),
            (Google.interstitial(), Blocked, "checks"),
            (Answer("", 429, {"Retry-After": "30"}), RateLimited, "slow down"),
            (Answer("<p>Nothing found", 200), BadResponse, "neither"),
            (
                Answer('<div id="search"><div class="new"><a href="https://a.example">A</a></div></div>'),
                BadResponse,
                "",
            ),
            (Answer('<div id="search"></div>'), BadResponse, "neither"),
        ],
    )
    async def test_what_is_no_answer_is_never_empty(
        self,
        server: ProviderServer,
        monkeypatch: pytest.MonkeyPatch,
        answer: Answer,
        error: type[EngineError],
        word: str,
    ) -> None:
        always(server, monkeypatch, answer)
        with pytest.raises(EngineError) as caught:
            await self.run(server, Query("x"))
        assert type(caught.value) is error
        assert word in caught.value.message
        if error is Blocked:
            assert "qiusuo google solve" in caught.value.fix
            assert "another engine" in caught.value.fix
        if error is RateLimited:
            assert caught.value.retry_after == 30
        # Refused once, it is not asked again.
        assert len([seen for seen in server.seen if seen.path == "/search"]) == 1

    async def test_redirect_to_the_captcha(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider, "answer", lambda seen: Google.sorry() if seen.path == "/search" else answer(seen)
        )
        with pytest.raises(Blocked):
            await self.run(server, Query("x"))
        assert [seen.path for seen in server.seen] == ["/search", "/sorry/index"]

    async def test_check_that_leads_on_by_itself(self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(GoogleEngine, "patience", 3.0)
        answer = server.provider.answer
        monkeypatch.setattr(
            server.provider,
            "answer",
            lambda seen: answer(seen) if "sei" in seen.params else Google.interstitial("/search?q=x&sei=1"),
        )
        assert len(await self.run(server, Query("x"))) == 10

    async def test_page_for_phones_with_its_dates(
        self, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        always(server, monkeypatch, Answer(PHONE))
        engine = GoogleEngine(base_url=server.base_url, browser=self.browser, clock=lambda: NOON)
        async with SearchService([engine], Settings.load(timeout=20)) as service:
            response = await service.asearch("x", num_results=3)
        assert [(item.title, item.url, item.published_at, item.snippet) for item in response.results] == [
            ("First", "https://a.example/", "2024-05-03", "What was found first."),
            ("Flights", "https://www.google.com/travel/flights?hl=en", "2026-11-13", "Where to fly."),
            ("Third", "https://c.example/", None, "May 3, 2024 was a Friday."),
        ]


NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def _phone_box(title: str, url: str, text: str) -> str:
    return f"""<div><div><a href="{url}"><div role="heading" aria-level="3">{title}</div></a></div>
      <div data-sncf="1"><span>{text}</span></div></div>"""


PHONE = f"""<!DOCTYPE html><html><head><title>x - Google Search</title></head><body><div id="main"><div id="rso">
  {_phone_box("First", "https://a.example/", "<span>May 3, 2024</span> — What was found first.")}
  {_phone_box("Flights", "https://www.google.com/travel/flights?hl=en", "3 days ago — Where to fly.")}
  {_phone_box("Hotels", "/travel/hotels?q=x", "Part of the page.")}
  {_phone_box("Third", "https://c.example/", "May 3, 2024 was a Friday.")}
  </div><a href="/search?q=x&amp;start=10" aria-label="More results"><h3><span>More results</span></h3></a>
</div></body></html>"""


def test_facts() -> None:
    assert GoogleEngine.joins is Joins.LAST_RESORT
    assert not GoogleEngine.costs_money


def test_pages_about_captchas_are_results() -> None:
    text = '&lt;form id="captcha-form"&gt; .g-recaptcha data-sitekey /sorry/index emsg=SG_REL'
    page = f"""<title>captcha-form - Google Search</title><div id="search"><div id="rso">
      <div><a href="https://a.example/sorry/index"><h3>{text}</h3></a><div>{text}</div></div></div></div>"""
    (item,) = parse_results(page)
    assert item.title.startswith('<form id="captcha-form">')


@pytest.mark.parametrize(
    ("page", "titles"),
    [
        ('<h3 class="r"><a href="/url?q=https://a.example/&amp;sa=U">Before 2019</a></h3>', ["Before 2019"]),
        ('<a href="https://a.example"><div role="heading" aria-level="3">Phone</div></a>', ["Phone"]),
        ('<a href="https://a.example"><h3>Desktop</h3></a><a href="/x"><p role="heading" aria-level="3">', ["Desktop"]),
        ('<a href="https://a.example/#x"><h3>A</h3></a><a href="https://a.example/#y"><h3>A again</h3></a>', ["A"]),
        ('<a href="https://a.example"><h3></h3></a><a href="https://b.example"><h3>B</h3></a>', ["B"]),
    ],
)
def test_layouts(page: str, titles: list[str]) -> None:
    assert [item.title for item in parse_results(page)] == titles


@pytest.mark.parametrize("page", ["", " ", "<", "\x00", "<html>", "{}", "<title>x</title>" + "<div>" * 5000])
def test_rubbish_is_an_unknown_layout(page: str) -> None:
    with pytest.raises(BadResponse):
        parse_results(page)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://example.com/a?b=1%262#c", "https://example.com/a?b=1%262#c"),
        ("/url?q=https://example.com/%3Fa%3D1%2526&sa=U", "https://example.com/?a=1%26"),
        ("https://www.google.com/url?url=https://example.com/x&ved=1", "https://example.com/x"),
        ("/url?sa=U", None),
        ("/url?q=/search%3Fq%3Dx", None),
        ("/search?q=x", None),
        ("https://www.google.de/maps/place/x", None),
        ("https://www.google.co.uk/imgres?imgurl=x", None),
        ("https://www.google.com/travel/flights", "https://www.google.com/travel/flights"),
        ("https://www.google.com/maps", "https://www.google.com/maps"),
        ("/travel/hotels?q=x", None),
        ("/maps", None),
        ("https://support.google.com/websearch", "https://support.google.com/websearch"),
        ("https://google.example.org/search?q=x", "https://google.example.org/search?q=x"),
        ("http://[", None),
    ],
)
def test_links_are_unwrapped(href: str, url: str | None) -> None:
    assert target(href) == url


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        (None, None),
        ("en", "en"),
        ("en-GB", "en"),
        ("zh", "zh-CN"),
        ("zh-Hans", "zh-CN"),
        ("zh-TW", "zh-TW"),
        ("zh-HK", "zh-TW"),
    ],
)
def test_language(tag: str | None, name: str | None) -> None:
    assert google_language(tag) == name


def test_without_chrome_the_engine_says_how_to_get_it() -> None:
    with pytest.raises(EngineNotConfigured) as caught:
        GoogleEngine.from_options(EngineOptions(lookup={"PATH": "/nowhere"}.get), HttpClient())
    assert caught.value.engine == "google"
    assert "QIUSUO_CHROME" in caught.value.fix


def test_wrong_address() -> None:
    with pytest.raises(ConfigurationError):
        GoogleEngine(base_url="not an address")
