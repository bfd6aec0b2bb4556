"""Started with a broken SearXNG (issue 7): the page tells what is wrong, chats without, and notices the repair."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.service import SearchService
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_world import scripted
from tests.support.page_world import PAGES, PageWorld, screen, show, with_own_browser
from tests.support.scripted_model import Reply, Step
from tests.support.web_server import WebServer

pytestmark = with_own_browser(__name__)
FOUND = 20_000  # milliseconds: the page looks every 5 seconds, so does the server, and an engine that failed rests


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


class BrokenWorld(PageWorld):
    """A server whose SearXNG should be at ``port``, where nobody listens."""

    def __init__(self, *script: Step) -> None:
        self.port = free_port()
        super().__init__(*script, engines=())

    def _open(self, port: int = 0) -> None:
        assert not port
        where = f"http://127.0.0.1:{self.port}"
        settings = Settings.load(searxng_url=where, provider_priority=["searxng"], **self._settings)
        chat = chat_extension(scripted(self.model), open_store(":memory:"))
        self.server = WebServer(SearchService.from_settings(settings), settings, extensions=[chat])


@contextmanager
def repaired(port: int, *, json_on: bool = True) -> Iterator[ProviderServer]:
    """Start a SearXNG at that very port."""
    server = ProviderServer(Searxng())
    assert isinstance(server.provider, Searxng)
    server.provider.json_on = json_on
    server.port = port
    with server:
        show(server, PAGES)
        yield server


def test_it_is_told_with_its_fix_and_its_repair_is_noticed(chromium: Browser) -> None:
    replies = (Reply.text("不联网也能回答。"), Reply.text("Python 3.14 于 2025 年 10 月 7 日发布[1]。"))
    with BrokenWorld(*replies) as world, screen(chromium, world) as page:
        setup = page(".setup")
        expect(setup).to_contain_text(str(world.port))
        expect(setup.locator(".command code").first).to_contain_text("searxng")
        expect(setup.get_by_role("link").first).to_have_attribute(
            "href", "/docs/troubleshooting?lang=zh#searxng-refused"
        )
        # It chats.
        page.turn_search_on()
        turn = page.ask("坏了也能聊")
        expect(turn.locator(".answer")).to_have_text("不联网也能回答。")
        expect(turn.locator(".notice")).to_have_count(1)
        expect(turn.locator(".notice")).to_contain_text("搜索")
        page.page.get_by_role("button", name="新对话").click()
        expect(setup).to_be_visible()
        with repaired(world.port) as engine:
            # Nothing is restarted, nothing reloaded, nothing clicked.
            expect(setup).to_have_count(0, timeout=FOUND)
            expect(page(".switch-note")).to_have_text("启用后将使用SearXNG搜索实时信息")
            turn = page.ask("修好了吗")
            expect(turn.locator(".notice")).to_have_count(0)
            expect(turn.locator("a.cite")).to_have_text(["[1]"])
            assert any(seen.params.get("q") == "修好了吗" for seen in engine.seen)


def test_it_breaks_while_the_page_is_open(chromium: Browser) -> None:
    with BrokenWorld() as world, repaired(world.port) as engine, screen(chromium, world, locale="en") as page:
        expect(page(".examples button").first).to_be_visible()
        expect(page(".setup")).to_have_count(0)
        page.turn_search_on()
        engine.close()
        expect(page.ask("gone").locator(".notice")).to_contain_text("The search service is unavailable")
        page.page.get_by_role("button", name="New chat").click()
        expect(page(".setup")).to_contain_text(str(world.port), timeout=FOUND)
        expect(page(".setup")).to_contain_text("Still to set up")


@pytest.mark.parametrize(
    ("locale", "what", "fix", "never"),
    [
        ("zh-CN", "在运行，但没有开启 JSON 接口", "在 search.formats 中加入 json", "没有配置"),
        ("en", "runs, but its JSON API is off", "Add json to search.formats", "configured"),
    ],
)
def test_one_without_json_is_told_as_that(chromium: Browser, locale: str, what: str, fix: str, never: str) -> None:
    with (
        BrokenWorld() as world,
        repaired(world.port, json_on=False),
        screen(chromium, world, locale=locale) as page,
    ):
        entry = page(".setup li").filter(has_text=str(world.port))
        expect(entry.locator("b")).to_contain_text(what)
        expect(entry).to_contain_text(fix)
        expect(entry.locator(".command code").first).to_be_visible()
        expect(page(".setup")).not_to_contain_text(never)
        # In the other language at once, without a reload.
        other, words = ("English", "its JSON API is off") if locale == "zh-CN" else ("简体中文", "没有开启 JSON 接口")
        page.speak(other)
        expect(entry.locator("b")).to_contain_text(words)
