"""The SearXNG engine against a real SearXNG: what its fake claims, shown on the thing itself."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import aiohttp
import pytest

from qiusuo.engines.base import EngineResults
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import ApiDisabled, Blocked, EngineError, RequestRejected, SearchTimeout, Unavailable
from qiusuo.models import Freshness, Query, SearchResultItem, SearchType
from qiusuo.words import Fact
from tests.support.searxng_process import ENGINE_TIMEOUT, MISSING, PYTHON, LocalWeb, searxng, wait_until_up

pytestmark = [
    pytest.mark.skipif(not PYTHON.exists(), reason=MISSING),
    # One SearXNG for all, also where pytest-xdist spreads the tests.
    pytest.mark.xdist_group("real-searxng"),
]


class Real(NamedTuple):
    """The running things: SearXNG with JSON, one without (its default), and the web they search."""

    url: str
    html_only: str
    web: LocalWeb


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    folder = tmp_path_factory.mktemp("searxng")
    # Started side by side: each takes some seconds.
    with (
        LocalWeb() as web,
        searxng(folder / "json", web, formats=("html", "json")) as url,
        searxng(folder / "html", web, formats=("html",)) as html_only,
    ):
        wait_until_up(url, folder / "json" / "log.txt")
        wait_until_up(html_only, folder / "html" / "log.txt")
        yield Real(url, html_only, web)


@pytest.fixture
def real(processes: Real) -> Real:
    processes.web.reset()
    return processes


@pytest.fixture
async def engine(real: Real) -> AsyncIterator[SearxngEngine]:
    engine = SearxngEngine(base_url=real.url)
    yield engine
    await engine.aclose()


def notes_of(results: list[SearchResultItem]) -> tuple[Fact, ...]:
    assert isinstance(results, EngineResults)
    return results.notes


async def test_finds_ten_and_more_by_paging(engine: SearxngEngine, real: Real) -> None:
    results = await engine.search(Query("open source"), 25)
    assert len({item.url for item in results}) == len(results) == 25
    assert notes_of(results) == ()
    pages = [params["page"] for service, params in real.web.asked if service == "json"]
    assert pages == ["1", "2", "3"]
    for item in results:
        assert item.url.startswith(real.web.url)
        assert "open source" in item.title
        assert item.snippet == "关于 open source & more"
        assert item.source == "127.0.0.1"
        assert item.engines == ("searxng",)
        assert item.score


async def test_asking_for_more_than_there_is_ends(engine: SearxngEngine) -> None:
    assert 24 <= len(await engine.search(Query("everything"), 50)) <= 50


@pytest.mark.parametrize("text", ["人工智能 最新进展 2026", '100% "C++ & C#" = a+b? #1 / 问号？', "emoji 🦆 é"])
async def test_query_arrives_intact(engine: SearxngEngine, real: Real, text: str) -> None:
    assert len(await engine.search(Query(text), 5)) == 5
    assert real.web.queries("json") == [text]
    assert real.web.queries("page") == [text]


@pytest.mark.parametrize(
    ("language", "region", "arrives"),
    [(None, None, "any"), ("zh-Hans-CN", None, "zh"), ("en", "US", "en"), ("no such language", None, "any")],
)
async def test_no_language_is_refused(
    engine: SearxngEngine, real: Real, language: str | None, region: str | None, arrives: str
) -> None:
    assert await engine.search(Query("x", language=language, region=region), 3)
    assert [params["lang"] for service, params in real.web.asked if service == "json"] == [arrives]


async def test_unmapped_language_would_be_refused(engine: SearxngEngine) -> None:
    # Shows that the mapping above is needed.
    with pytest.raises(RequestRejected):
        await engine.endpoint.get("/search", {"q": "x", "format": "json", "language": "zh-Hans-CN"})


async def test_news_are_searched_in_their_category(engine: SearxngEngine, real: Real) -> None:
    assert await engine.search(Query("elections", type=SearchType.NEWS), 5)
    assert {service for service, _ in real.web.asked} == {"json"}


@pytest.mark.parametrize(("freshness", "hours"), [(Freshness.HOUR, "24"), (Freshness.WEEK, "168")])
async def test_time_range_reaches_the_engines_that_have_one(
    engine: SearxngEngine, real: Real, freshness: Freshness, hours: str
) -> None:
    assert await engine.search(Query("x", freshness=freshness), 5)
    assert [(service, params.get("hours")) for service, params in real.web.asked] == [("json", hours)]


@pytest.mark.parametrize(
    ("text", "arrives"),
    [
        ("!!g cats", "g cats"),
        ("cats !!g", "cats g"),
        ("!lj cats", "lj cats"),
        (":fr cats", "fr cats"),
        ("cats <1", "cats < 1"),
        ("cats !! dogs", 'cats "!!" dogs'),
        ("a != b :) !?", "a != b :) !?"),
    ],
)
async def test_commands_arrive_as_words(engine: SearxngEngine, real: Real, text: str, arrives: str) -> None:
    assert await engine.search(Query(text), 5)
    # Both engines are asked, in any language, for all the words.
    assert real.web.queries("json") == real.web.queries("page") == [arrives]
    assert {params.get("lang", "any") for _, params in real.web.asked} == {"any"}


async def test_raw_bang_would_lead_away(real: Real) -> None:
    # Shows that the neutralising above is needed.
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{real.url}/search", params={"q": "!!g cats", "format": "json"}, allow_redirects=False) as reply,
    ):
        assert reply.status == 302
        assert "google" in reply.headers["Location"]


async def test_json_off_is_disabled_and_names_the_setting(real: Real) -> None:
    engine = SearxngEngine(base_url=real.html_only)
    with pytest.raises(ApiDisabled) as caught:
        await engine.search(Query("x"), 5)
    await engine.aclose()
    assert caught.value.status == 403
    assert caught.value.fact == Fact("searxng.json_off", address=real.html_only)
    assert "Add json to search.formats" in caught.value.fix
    assert real.web.asked == []


@pytest.mark.parametrize(
    ("trouble", "error", "said"),
    [
        ((403, 403), Blocked, ("access denied", "access denied")),
        ((429, 403), Blocked, ("too many requests", "access denied")),
        (("late", "late"), SearchTimeout, ("timeout", "timeout")),
        ((500, 503), Unavailable, ("HTTP error", "HTTP error")),
        (("broken", 403), Unavailable, ("parsing error", "access denied")),
        (("late", 403), Unavailable, ("timeout", "access denied")),
    ],
)
async def test_all_engines_failing_is_not_empty(
    engine: SearxngEngine,
    real: Real,
    trouble: tuple[int | str, int | str],
    error: type[EngineError],
    said: tuple[str, str],
) -> None:
    real.web.trouble = dict(zip(("json", "page"), trouble, strict=True))
    with pytest.raises(EngineError) as caught:
        await engine.search(Query("x"), 5)
    assert type(caught.value) is error
    assert caught.value.fix
    for name, message in zip(("local json", "local page"), said, strict=True):
        assert f"{name} ({message})" in str(caught.value)


async def test_nothing_found_is_empty(engine: SearxngEngine, real: Real) -> None:
    real.web.trouble = {"json": "empty", "page": "empty"}
    assert await engine.search(Query("x"), 5) == []


async def test_one_silent_engine_is_a_note(engine: SearxngEngine, real: Real) -> None:
    real.web.trouble = {"page": 403}
    results = await engine.search(Query("x"), 5)
    assert len(results) == 5
    assert notes_of(results) == (Fact("searxng.did_not_answer", engines=["local page (access denied)"]),)


async def test_own_timeout_names_the_seconds(real: Real) -> None:
    real.web.trouble = {"json": "late", "page": "late"}
    engine = SearxngEngine(base_url=real.url, timeout=0.3)
    started = time.monotonic()
    with pytest.raises(SearchTimeout, match=r"within 0\.3 s"):
        await engine.search(Query("x"), 5)
    await engine.aclose()
    assert time.monotonic() - started < ENGINE_TIMEOUT


async def test_detect_tells_searxng_from_others_and_from_nothing(engine: SearxngEngine, real: Real) -> None:
    assert await engine.detect()
    with LocalWeb() as gone:
        pass
    for address in (real.web.url, gone.url):
        other = SearxngEngine(base_url=address)
        started = time.monotonic()
        assert not await other.detect()
        assert time.monotonic() - started < 5
        await other.aclose()
