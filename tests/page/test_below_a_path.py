"""The page where a proxy shows the server below a path."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.support.page_world import PageWorld, with_own_browser
from tests.support.reverse_proxies import nginx_under, with_nginx
from tests.support.scripted_model import Reply

pytestmark = [pytest.mark.programs, *with_own_browser("below_a_path"), with_nginx]
PREFIX = "/qiusuo"


@pytest.mark.parametrize("strips", [True, False])
def test_a_question_is_asked_and_every_address_stays_below_it(strips: bool, chromium: Browser, tmp_path: Path) -> None:
    with (
        PageWorld(Reply.text("春茶在三月采摘。"), root_path=PREFIX, trusted_proxies="127.0.0.1") as world,
        nginx_under(PREFIX, tmp_path, world.url, strips=strips) as url,
        chromium.new_page() as page,
    ):
        asked: list[str] = []
        errors: list[str] = []
        # The tab's own requests, and those of the worker that it may start.
        page.context.on("request", lambda request: asked.append(urlsplit(request.url).path))
        page.on("pageerror", lambda error: errors.append(str(error)))
        # What nginx does not say by its defaults: who is there, and by which name.
        page.set_extra_http_headers({"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": urlsplit(url).netloc})
        page.goto(f"{url}/")
        page.locator("#question").fill("什么时候采茶？")
        page.locator("#question").press("Enter")
        expect(page.locator("article.turn")).to_contain_text("春茶在三月采摘。")
        page.reload()
        expect(page.locator("article.turn")).to_contain_text("春茶在三月采摘。")
        assert urlsplit(page.url).path == f"{PREFIX}/"
        links = page.locator("a[href^='/']").evaluate_all("all => all.map((each) => each.getAttribute('href'))")
        assert f"{PREFIX}/settings" in links
        manifest = page.request.get(urljoin(url, page.locator("link[rel=manifest]").get_attribute("href"))).json()
        assert (manifest["id"], manifest["scope"], manifest["start_url"]) == (f"{PREFIX}/",) * 3
        assert page.request.get(urljoin(url, manifest["icons"][0]["src"])).ok
        assert page.evaluate("async () => (await navigator.serviceWorker.ready).scope") == f"{url}/"
        page.goto(f"{url}/settings")
        expect(page.locator("#engines")).to_be_visible()
        links += page.locator("a[href^='/']").evaluate_all("all => all.map((each) => each.getAttribute('href'))")
        page.goto(f"{url}/usage")
        expect(page.locator(".board")).to_be_visible()
        links += page.locator("a[href^='/']").evaluate_all("all => all.map((each) => each.getAttribute('href'))")
        assert f"{PREFIX}/offline.js" in asked
        for path in (*asked, *links):
            assert path.startswith(f"{PREFIX}/"), path
        assert errors == []
