"""A server that knows nothing but its configuration file, to be set up in the page."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Response, expect

from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.service import SearchService
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.people import people_extension
from tests.support.page_world import DESKTOP, PHONE, PageWorld, Screen
from tests.support.scripted_model import Step
from tests.support.settings_world import SettingsServer, config_path


class SetupWorld(PageWorld):
    """``file`` is the configuration file's text; its model is the one of the file, or none."""

    server: SettingsServer

    def __init__(self, *script: Step, file: str = "", store: Path | None = None, **settings: Any) -> None:
        if file:
            config_path().parent.mkdir(parents=True, exist_ok=True)
            config_path().write_text(file, "utf-8")
        super().__init__(*script, engines=(), store=store, **settings)

    def _open(self, port: int = 0) -> None:
        settings = Settings.load(**self._settings)
        chat = chat_extension(store=open_store(self._store))
        self.server = SettingsServer(
            SearchService.from_settings(settings), settings, extensions=[chat, people_extension()]
        )
        if port:
            self.server._listener.close()
            self.server._listener = socket.create_server(("127.0.0.1", port))
            self.server.url = f"http://127.0.0.1:{port}"
            self.server.client = httpx.Client(base_url=self.server.url, timeout=20, trust_env=False)


class SettingsScreen(Screen):
    """A tab with the settings page; ``answers`` are the texts of all that the server has told it."""

    def __init__(self, context: BrowserContext, world: PageWorld) -> None:
        super().__init__(context.new_page(), world)
        self._responses: list[Response] = []
        self.page.on("response", self._told)

    def _told(self, response: Response) -> None:
        if "/api/" in response.url:
            self._responses.append(response)

    @property
    def answers(self) -> list[str]:
        return [response.text() for response in self._responses]

    def field(self, name: str) -> Locator:
        """The field of a setting."""
        return self.page.locator(f"#set-{name.replace('.', '_46')}")

    def kept(self) -> str:
        """All that the tab shows in its markup, keeps, and was told."""
        seen = "document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"
        return str(self.page.evaluate(seen)) + "".join(self.answers)

    def save(self, part: str) -> None:
        self(f"#{part} .save-bar .primary").click()

    def saved(self, part: str) -> None:
        """Save a part, and wait until it is."""
        self.save(part)
        expect(self(f"#{part} .save-bar")).to_have_count(0)


@contextmanager
def settings_screen(
    browser: Browser, world: PageWorld, *, phone: bool = False, ready: str = "#model", **more: Any
) -> Iterator[SettingsScreen]:
    """Give a fresh window on the settings page; nothing may have gone outside or broken in it at the end."""
    touch = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if phone else {}
    context = browser.new_context(**{"viewport": PHONE if phone else DESKTOP, "locale": "zh-CN", **touch, **more})
    context.set_default_timeout(10_000)
    shown = SettingsScreen(context, world)
    try:
        shown.page.goto(world.url + "/settings")
        shown.page.locator(ready).first.wait_for()
        yield shown
        assert shown.outside == []
        assert shown.errors == []
    except Exception as error:
        error.add_note(shown.seen_last())
        raise
    finally:
        context.close()
