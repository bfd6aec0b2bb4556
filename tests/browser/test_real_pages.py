"""Real result pages, served on loopback to a real browser and read by the whole engine.

They lie beside the project, not in it; where they are not, this is skipped.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from qiusuo.browser import Browser
from qiusuo.engines.allowance import Allowance
from qiusuo.engines.baidu import BaiduEngine
from qiusuo.engines.bing_web import BingWebEngine
from qiusuo.engines.google import GoogleEngine
from qiusuo.engines.result_pages import ResultPageEngine
from qiusuo.errors import Blocked, SearchError
from qiusuo.models import Query, SearchResultItem
from qiusuo.testing import Answer, Provider, ProviderServer, Seen
from tests.support.chromium import with_chromium

FOLDER = Path(__file__).parents[3] / "shared" / "serp"
ENGINES: dict[str, tuple[type[ResultPageEngine], str]] = {
    "google": (GoogleEngine, "/search"),
    "bing": (BingWebEngine, "/search"),
    "baidu": (BaiduEngine, "/s"),
}
PAGES: list[dict[str, Any]] = (
    [page for page in json.loads((FOLDER / "manifest.json").read_text("utf-8")) if page["engine"] in ENGINES]
    if FOLDER.is_dir()
    else []
)
Outcome = list[SearchResultItem] | SearchError

pytestmark = [
    *with_chromium,
    pytest.mark.skipif(not PAGES, reason=f"NOT TESTED: the real result pages are not here ({FOLDER})"),
]


def text_of(page: dict[str, Any]) -> str:
    text = gzip.decompress((FOLDER / page["file"]).read_bytes()).decode()
    numbers = itertools.count()
    # Some pages had all their addresses replaced by one: here each becomes one of its own again.
    return re.sub(r'"http://test\.test"', lambda _: f'"http://test.test/{next(numbers)}"', text)


def expected(page: dict[str, Any]) -> list[tuple[str, str]]:
    return [(result["title"], result["url"]) for result in page["results"] or ()]


def is_exact(page: dict[str, Any]) -> bool:
    return (page["count_confidence"] or "").startswith(("high", "single"))


class Archive(Provider):
    """Serves the page whose number is the query."""

    def __init__(self, path: str) -> None:
        self.path = path

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - there are no keys
        return True

    def answer(self, seen: Seen) -> Answer:
        if seen.path != self.path:
            return Answer("<!doctype html>", 404)
        return Answer(text_of(PAGES[int(seen.params.get("q") or seen.params["wd"])]))


@pytest.fixture(scope="module")
def outcomes(browser: Browser) -> dict[str, Outcome]:
    """Read all pages, some at a time."""

    async def read(engine: ResultPageEngine, page: dict[str, Any]) -> Outcome:
        try:
            return await engine._page(engine.page_url(Query(str(PAGES.index(page)))), Allowance(60))
        except SearchError as error:
            return error

    async def read_all(kind: type[ResultPageEngine], pages: list[dict[str, Any]], base: str) -> list[Outcome]:
        engine = kind(base_url=base, browser=browser)
        return await asyncio.gather(*(read(engine, page) for page in pages))

    found: dict[str, Outcome] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResultPageEngine, "patience", 0.5)
        for name, (kind, path) in ENGINES.items():
            pages = [page for page in PAGES if page["engine"] == name]
            with ProviderServer(Archive(path)) as server:
                results = asyncio.run(read_all(kind, pages, server.base_url))
            found |= {page["file"]: result for page, result in zip(pages, results, strict=True)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page["file"].removesuffix(".html.gz"))
def test_page(page: dict[str, Any], outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[page["file"]]
    if page["kind"] in {"captcha", "enablejs"}:
        assert isinstance(outcome, Blocked), outcome
        assert "qiusuo google solve" in outcome.fix
        return
    assert not isinstance(outcome, SearchError), outcome
    if page["kind"] == "no_results":
        assert outcome == []
    elif is_exact(page):
        assert [(item.title, item.url) for item in outcome] == expected(page)
    else:
        assert abs(len(outcome) - page["organic"]) <= 1
    assert sum(1 for item in outcome if not item.snippet) <= len(outcome) // 5


def test_there_are_pages_of_every_kind() -> None:
    kinds = {(page["engine"], page["kind"]) for page in PAGES}
    assert kinds >= {("google", kind) for kind in ("serp", "captcha", "enablejs", "no_results")}
    assert sum(1 for page in PAGES if (page["count_confidence"] or "").startswith("high")) >= 28
