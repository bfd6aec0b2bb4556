"""The board and a person's own usage in a browser: what they show, to whom, and that everybody can read it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.testing import Fault
from qiusuo.web.watching.usage import usage_extension
from tests.page.test_access import violations, with_axe
from tests.support.page_world import DESKTOP, PHONE, PageWorld, Screen, with_own_browser
from tests.support.usage_data import fill

pytestmark = with_own_browser(__name__)

AMY, EVE = "amy-0123456789abcdef", "eve-0123456789abcdef"


@contextmanager
def board(browser: Browser, world: PageWorld, path: str = "/board", **options: Any) -> Iterator[Screen]:
    """Give a window on the board; nothing may have gone outside or broken in it at the end."""
    context = browser.new_context(**{"locale": "en", "viewport": DESKTOP, **options})
    page = Screen(context.new_page(), world)
    page.page.goto(world.url + path)
    yield page
    assert (page.outside, page.errors) == ([], [])
    context.close()


def painted(page: Screen) -> int:
    """Return how many pixels of the first plot have the colour of its first series."""
    found: int = page.page.evaluate(
        """() => {
            const canvas = document.querySelector(".plot canvas");
            const swatch = getComputedStyle(document.querySelector(".swatch.s1")).backgroundColor;
            const colour = swatch.match(/\\d+/g).slice(0, 3).map(Number);
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 0; at < data.length; at += 4) {
                if (data[at + 3] === 255 && colour.every((value, part) => data[at + part] === value)) count++;
            }
            return count;
        }"""
    )
    return found


def wide(page: Screen) -> bool:
    found: bool = page.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return found


@with_axe
def test_everybody_can_read_it(chromium: Browser, tmp_path: Path) -> None:
    searches = fill(tmp_path / "chat.db", time.time(), days=6)
    settings: dict[str, Any] = {"engines": ("brave", "tavily"), "store": tmp_path / "chat.db", "board_queries": True}
    with PageWorld(extensions=[usage_extension()], **settings) as world:
        world.engine("brave").fault = Fault.QUOTA
        world.server.search("x")
        looks: list[dict[str, Any]] = [
            {"color_scheme": "light"},
            {"color_scheme": "dark", "viewport": PHONE, "locale": "zh-CN"},
        ]
        for look in looks:
            with board(chromium, world, **look) as page:
                expect(page(".tiles dd").first).to_have_text(f"{searches + 1:,}")
                expect(page(".plot canvas")).to_have_count(3)
                assert violations(page) == []
                assert not wide(page)
                # Without eyes, or without a pointer: the plot is a table too.
                page("details summary").first.focus()
                page.page.keyboard.press("Enter")
                assert page("details table tbody tr").count() > 50
                assert violations(page) == []
                chinese = look.get("locale") == "zh-CN"
                expect(page(".state.resting")).to_have_text("休息中" if chinese else "resting")
                expect(page("h1")).to_have_text("看板" if chinese else "Board")
                if not chinese:
                    page.page.get_by_role("button", name="By outcome").click()
                    expect(page(".legend").first).to_contain_text("Nothing found")
                    page.page.get_by_role("button", name="30 days").click()
                    expect(page.page.get_by_role("button", name="30 days")).to_have_attribute("aria-pressed", "true")
                    assert page.page.url.endswith("?days=30")
                    with page.page.expect_download() as saved:
                        page.page.get_by_role("button", name="Download “People” as CSV").click()
                    assert "'=HYPERLINK" in Path(saved.value.path()).read_text("utf-8")
                    assert not [one for one in page.requests if one.endswith(("sessions.js", "markdown.js"))]


def test_for_whom_it_is(chromium: Browser) -> None:
    settings: dict[str, Any] = {"tokens": f"amy:{AMY},eve:{EVE}", "operators": "eve"}
    brought = {"X-Forwarded-For": "192.0.2.1"}
    with (
        PageWorld(extensions=[usage_extension()], **settings) as world,
        board(chromium, world, extra_http_headers=brought) as page,
    ):
        world.server.client.post("/api/search", json={"query": "a"}, headers={"Authorization": f"Bearer {EVE}"})
        page("input[name=token]").fill(AMY)
        page.page.keyboard.press("Enter")
        expect(page(".problem")).to_contain_text("name:token:operator")
        expect(page(".problem")).not_to_contain_text("on the server itself")
        page.page.goto(world.url + "/usage")
        expect(page("h1")).to_have_text("My usage")
        expect(page(".empty")).to_be_visible()
        expect(page(".tiles dd").first).to_have_text("0")
        page.page.evaluate("sessionStorage.clear()")
        page.page.goto(world.url + "/board")
        page("input[name=token]").fill(EVE)
        page.page.keyboard.press("Enter")
        expect(page(".tiles dd").first).to_have_text("1")
        expect(page(".tiles")).to_contain_text("Estimated cost")
        # On the first day all there is stands in the hour that is not over yet.
        expect(page(".plot canvas").first).to_be_visible()
        assert painted(page) > 500


@pytest.mark.parametrize("path", ["/board", "/usage"])
def test_the_page_itself_is_light_and_strict(path: str) -> None:
    with PageWorld(extensions=[usage_extension()]) as world:
        answer = world.server.client.get(path, headers={"Accept-Encoding": "gzip"})
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "board/vendor.js" not in world.server.client.get("/").text
