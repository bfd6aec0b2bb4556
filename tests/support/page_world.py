"""The chat page in a real browser: the real server, loopback engines and a scripted model behind it."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, Route, ViewportSize, expect
from playwright.sync_api import Error as PlaywrightError

from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model
from qiusuo.chat.sessions.limits import StoreLimits
from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.testing import ProviderServer
from qiusuo.web.backend import Extend
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_world import scripted
from tests.support.chromium import browser_settings, with_chromium
from tests.support.scripted_model import Reply, ScriptedModel, Step
from tests.support.web_server import WebServer

DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
CLIPBOARD = ["clipboard-read", "clipboard-write"]

PAGES: Sequence[Mapping[str, str]] = (
    {
        "title": "Python 3.14 有什么新变化",
        "url": "https://docs.python.org/zh-cn/3.14/whatsnew/3.14.html",
        "snippet": "Python 3.14 于 2025 年 10 月 7 日发布。主要的变化包括模板字符串、注解的延迟求值与子解释器。",
        "date": "2025-10-07",
    },
    {
        "title": "PEP 779 – Criteria for supported status for free-threaded Python",
        "url": "https://peps.python.org/pep-0779/",
        "snippet": "自由线程构建从 Python 3.14 起不再是实验性的，转为正式支持，但仍然是可选的。",
        "date": "2025-03-13",
    },
    {
        "title": "PEP 750 – Template Strings",
        "url": "https://peps.python.org/pep-0750/",
        "snippet": '模板字符串 t"..." 是 f 字符串的推广，由 PEP 750 引入，用于自定义的字符串处理。',
        "date": "2024-07-08",
    },
)

# One in force, one repealed, one not yet in force.
ARTICLES: Sequence[Mapping[str, str]] = (
    {
        "lawName": "中华人民共和国民法典",
        "articleNumber": "第五百七十七条",
        "status": "现行有效",
        "version": "2020-05-28",
        "chapter": "第八章 违约责任",
        "effectiveDate": "2021-01-01",
        "content": "当事人一方不履行合同义务的，应当承担违约责任。<b>不是标记</b>",
    },
    {
        "lawName": "中华人民共和国合同法",
        "articleNumber": "第一百零七条",
        "status": "已废止",
        "effectiveDate": "1999-10-01",
        "content": "当事人一方不履行合同义务的，应当承担违约责任。\n" * 20,
    },
    {
        "lawName": "最高人民法院关于适用《中华人民共和国民法典》合同编通则若干问题的解释",
        "articleNumber": "第六十五条",
        "status": "尚未生效",
        "effectiveDate": "2023-12-05",
        "content": "当事人主张约定的违约金过分高于违约造成的损失的，人民法院应当以损失为基础。",
    },
)


def show(server: ProviderServer, pages: Sequence[Mapping[str, str]] = PAGES) -> None:
    """Let a provider find these pages, whatever is asked."""

    def page(number: int, query: str) -> dict[str, str]:  # noqa: ARG001 - the same for all
        return dict(pages[number - 1])

    server.provider.results = len(pages)
    server.provider.page = page  # type: ignore[method-assign]


class PageWorld:
    """A server with a page; ``model`` answers from its script, ``engine`` is the SearXNG behind it."""

    def __init__(
        self,
        *script: Step,
        engines: Sequence[str] = ("searxng",),
        store: Path | None = None,
        limits: StoreLimits | None = None,
        without_model: bool = False,
        extensions: Sequence[Extend] = (),
        **settings: Any,
    ) -> None:
        self._stack = ExitStack()
        self.model = self._stack.enter_context(ScriptedModel(*script, otherwise=Reply.text("好的。")))
        self._engines = engines
        self._settings = {"rate_limit": 0, "hedge_delay": 0, "cache_ttl": 0, **settings}
        self._store = f"sqlite:///{store}" if store else ":memory:"
        self._limits = limits
        self._without_model = without_model
        self._extensions = extensions
        self._open()

    def _open(self, port: int = 0) -> None:
        chat = chat_extension(self._answering(), open_store(self._store, limits=self._limits))
        self.server = WebServer.over(*self._engines, extensions=[chat, *self._extensions], **self._settings)
        if port:
            self.server._listener.close()
            self.server._listener = socket.create_server(("127.0.0.1", port))
            self.server.url = f"http://127.0.0.1:{port}"
            self.server.client = httpx.Client(base_url=self.server.url, timeout=20, trust_env=False)
        if "searxng" in self._engines:
            show(self.engine())

    def _answering(self) -> Model:
        return open_model(Settings.load(model="extractive")) if self._without_model else scripted(self.model)

    @property
    def url(self) -> str:
        return self.server.url

    def engine(self, name: str = "searxng") -> ProviderServer:
        return self.server.world[name]

    def searches(self, name: str = "searxng") -> list[str]:
        """What an engine was asked; asking for a second page of results is the same search."""
        asked = [seen.params for seen in self.engine(name).seen if "q" in seen.params]
        return [params["q"] for params in asked if params.get("pageno", "1") == "1"]

    def stop(self) -> int:
        """Stop the server; return its port."""
        port = urlsplit(self.url).port or 0
        self.server._server.config.timeout_graceful_shutdown = 1  # streams are cut, as by a restart
        self.server.__exit__()
        return port

    def start(self, port: int) -> None:
        """Start it again at the same address."""
        self._open(port)
        self.server.__enter__()

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.server.__exit__()
        self._stack.close()


def with_own_browser(module: str) -> list[pytest.MarkDecorator]:
    """Mark the tests of a module, which share a browser; those of another module may run beside them.

    All in one process would take as long as all other tests together.
    """
    return [pytest.mark.xdist_group(module), *(mark for mark in with_chromium if mark.name == "skipif")]


def launch(playwright: Playwright) -> Browser:
    """Start Chromium, kept to this machine; the one without a window (and its work) where that is installed."""
    settings = browser_settings()
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium-headless-shell") or settings.executable,
        chromium_sandbox=settings.sandbox,
        args=[*settings.extra_args, "--force-color-profile=srgb"],
    )


class Screen:
    """A tab with the page, as a person uses it. ``outside`` and ``errors`` must stay empty."""

    def __init__(self, page: Page, world: PageWorld) -> None:
        self.page = page
        self.world = world
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("request", self._seen)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._said(message.type, message.text))

    def _seen(self, request: Any) -> None:
        self.requests.append(f"{request.method} {urlsplit(request.url).path}")
        if not request.url.startswith((self.world.url, "data:", "blob:")):
            self.outside.append(request.url)

    def _said(self, kind: str, text: str) -> None:
        # What the page copes with itself: the browser reports each failed request.
        if kind == "error" and "Failed to load resource" not in text and "ERR_" not in text:
            self.errors.append(text)

    def open(self, path: str = "/") -> Self:
        self.page.goto(self.world.url + path)
        expect(self.page.locator("#question")).to_be_visible()
        return self

    def __call__(self, selector: str) -> Locator:
        return self.page.locator(selector)

    @property
    def switch(self) -> Locator:
        return self.page.get_by_role("switch")

    @property
    def turn(self) -> Locator:
        """The last turn."""
        return self.page.locator("article.turn").last

    def speak(self, language: str) -> None:
        """Choose the page's language by its name."""
        self.page.locator("select.language").select_option(label=language)

    def turn_search_on(self) -> None:
        self.switch.click()
        expect(self.switch).to_have_attribute("aria-checked", "true")
        expect(self.switch).to_have_attribute("aria-busy", "false")

    def choose(self, mode: str) -> None:
        self.page.locator(f"input[value={mode}]").check(force=True)
        expect(self.switch).to_have_attribute("aria-busy", "false")

    def send(self, text: str) -> None:
        self.page.locator("#question").fill(text)
        expect(self.page.locator("#question")).to_have_value(text)
        self.page.locator("#question").press("Enter")

    def ask(self, text: str) -> Locator:
        """Send a question and wait for the end of the answer."""
        before = self.page.locator("article.turn").count()
        self.send(text)
        expect(self.page.locator("article.turn")).to_have_count(before + 1)
        return self.ended()

    def open_source(self, number: int = 1, turn: Locator | None = None) -> Locator:
        """Open a source of a turn (the last one) beside the text; return what opens."""
        card = (turn or self.turn).locator(f".card[data-number='{number}']")
        card.focus()
        card.press("Enter")
        panel = self.page.locator("#beside")
        expect(panel.locator("header .number")).to_have_text(str(number))
        return panel

    def close_source(self) -> None:
        self.page.keyboard.press("Escape")
        expect(self.page.locator("#beside")).to_have_count(0)

    def show_laws(self, laws: Sequence[Mapping[str, Any]] = ARTICLES) -> Locator:
        """Look at the conversation again, with these laws as older versions kept them; return the first, opened."""
        return self.show_cards(laws, "law")

    def show_cards(self, shown: Sequence[Mapping[str, Any]], name: str = "card") -> Locator:
        """Look at the conversation again, with these cards for its first sources; return the first, opened."""

        def with_cards(route: Route) -> None:
            answer = route.fetch()
            session = answer.json()
            for source, card in zip(session["turns"][0]["sources"], shown, strict=False):
                source[name] = dict(card)
            route.fulfill(response=answer, json=session)

        self.page.route("**/api/chat/sessions/*", with_cards)
        self.page.reload()
        return self.open_source()

    def seen_last(self) -> str:
        """Return what a person would tell of the tab when something went wrong in it."""
        looks = """() => ({
          address: location.href,
          typed: document.getElementById("question")?.value,
          focus: document.activeElement?.outerHTML.slice(0, 120),
          toasts: [...document.querySelectorAll(".toast")].map((one) => one.textContent),
          main: document.querySelector("main")?.innerText.slice(0, 400),
        })"""
        try:
            found = self.page.evaluate(looks)
        except PlaywrightError as error:
            found = f"the tab cannot be asked: {error}"
        return f"the tab: {found}\nits errors: {self.errors}\nits last requests: {self.requests[-12:]}"

    def ended(self) -> Locator:
        expect(self.turn.locator(".turn-foot")).to_be_visible(timeout=15_000)
        return self.turn


def titled(page: Screen, title: str) -> dict[str, Any]:
    """Return the conversation of that title as the server has it."""
    sessions = page.world.server.client.get("/api/chat/sessions").json()["sessions"]
    [found] = [one for one in sessions if one["title"] == title]
    whole: dict[str, Any] = page.world.server.client.get(f"/api/chat/sessions/{found['id']}").json()
    return whole


@contextmanager
def screen(browser: Browser, world: PageWorld, *, phone: bool = False, **options: Any) -> Iterator[Screen]:
    """Give a fresh browser window on the world's page; nothing may have gone outside or broken in it at the end."""
    touch = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if phone else {}
    context = browser.new_context(
        **{"viewport": PHONE if phone else DESKTOP, "locale": "zh-CN", "service_workers": "block", **touch, **options}
    )
    context.set_default_timeout(20_000)
    shown = Screen(context.new_page(), world)
    try:
        yield shown.open()
        assert shown.outside == []
        assert shown.errors == []
    except Exception as error:
        error.add_note(shown.seen_last())
        raise
    finally:
        context.close()
