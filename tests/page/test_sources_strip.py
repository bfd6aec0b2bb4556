"""The sources of an answer: a strip of cards above it, each of which opens beside the text or as a sheet from below."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Locator, expect

from qiusuo.testing import Fault
from tests.page.test_access import AXE, violations
from tests.support.page_world import CLIPBOARD, PAGES, PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)

CITED = "Python 3.14 于 2025 年 10 月 7 日发布[1]。", "自由线程构建转为正式支持[2]。"
ENOUGH = 4.5

# The letter of every colour that there is, against what is behind it.
_TILES = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const tile = document.querySelector(".tile"), kept = tile.style.cssText, found = [];
  for (let hue = 0; hue < 360; hue += 30) {
    tile.style.setProperty("--hue", hue);
    const { color, backgroundColor } = getComputedStyle(tile);
    const [more, less] = [light(color), light(backgroundColor)].sort((a, b) => b - a);
    found.push((more + 0.05) / (less + 0.05));
  }
  tile.style.cssText = kept;
  return found;
}"""


def box(page: Screen, selector: str) -> dict[str, float]:
    found: Any = page(selector).first.bounding_box()
    assert found is not None, selector
    return dict(found)


def focused(page: Screen) -> str:
    return str(page.page.evaluate("document.activeElement.closest('.card')?.dataset.number ?? ''"))


def by_keyboard(page: Screen) -> None:
    """Reach the strip by Tab, go along it by arrows, open its first card."""
    keys = page.page.keyboard
    # One stop for Tab, arrows within.
    page(".scroller").focus()
    for _ in range(12):
        keys.press("Tab")
        if focused(page):
            break
    assert focused(page) == "1"
    keys.press("ArrowRight")
    assert focused(page) == "2"
    keys.press("End")
    assert focused(page) == "3"
    keys.press("ArrowRight")
    assert focused(page) == "3"
    keys.press("Home")
    keys.press("Enter")


def opened_beside(page: Screen) -> None:
    """Look at the first source, which is open."""
    panel = page("#beside")
    expect(panel.locator("h2")).to_be_focused()
    expect(panel.locator("h2")).to_have_text(PAGES[0]["title"])
    for told in (
        "2025年10月7日",
        "docs.python.org/zh-cn/3.14/whatsnew",
        "仅依据摘要",
        PAGES[0]["snippet"],
        "来源支持",
    ):
        expect(panel).to_contain_text(told)
    expect(panel.get_by_role("link", name="打开来源")).to_have_attribute("href", PAGES[0]["url"])
    text, beside = box(page, ".answer"), box(page, "#beside")
    assert text["x"] + text["width"] <= beside["x"], "beside the text, not over it"
    if AXE.is_file():
        assert violations(page) == []
    for scheme in ("light", "dark"):
        page.page.emulate_media(color_scheme=scheme)
        expect(page("html")).to_have_attribute("data-theme", scheme)
        assert min(page.page.evaluate(_TILES)) >= ENOUGH, scheme


def closed_again(page: Screen, turn: Locator) -> None:
    """Open others, close them, and leave the conversation with one open."""
    keys, panel = page.page.keyboard, page("#beside")
    # Another card takes its place; Escape and the button close, and the card has the focus again.
    turn.locator(".card").nth(1).click()
    expect(panel.locator("h2")).to_have_text(PAGES[1]["title"])
    keys.press("Escape")
    expect(panel).to_have_count(0)
    assert focused(page) == "2"
    keys.press("Enter")
    panel.get_by_role("button", name="关闭来源").click()
    expect(panel).to_have_count(0)
    assert focused(page) == "2"
    keys.press("Enter")
    expect(panel).to_be_visible()
    page.page.get_by_role("button", name="新对话").first.click()
    expect(panel).to_have_count(0)


def test_cards_come_before_the_text_and_open_beside_it(chromium: Browser) -> None:
    gate = Gate()
    world = PageWorld(Reply.text(CITED[0], gate, CITED[1]))
    with world, screen(chromium, world, permissions=CLIPBOARD) as page:
        page.turn_search_on()
        world.engine().fault, world.engine().hold = Fault.SLOW, 1.0
        page.send("新变化？")
        expect(page(".sources")).to_be_attached()  # room is kept while it searches
        expect(page(".card")).to_have_count(0)
        kept = box(page, ".sources")["height"]
        expect(page(".card")).to_have_count(3)
        assert box(page, ".sources")["height"] == kept
        expect(page(".answer")).to_contain_text("发布")
        before = box(page, ".answer")["y"]
        expect(page(".chip.used")).to_have_count(0)
        gate.open()
        turn = page.ended()
        expect(turn.locator(".card .chip.used")).to_have_text(["已引用", "已引用"])
        assert box(page, ".answer")["y"] == before, "the text stays where it is read"
        first = turn.locator(".card").first
        expect(first).to_contain_text("docs.python.org")
        expect(first).to_contain_text("2025年10月7日")
        assert first.locator("img").count() == 0
        # Once each: the strip above, the list below.
        expect(turn.locator(".reference")).to_have_count(2)
        turn.get_by_role("button", name="复制参考文献").click()
        assert page.page.evaluate("navigator.clipboard.readText()").startswith("## 参考文献")
        by_keyboard(page)
        opened_beside(page)
        closed_again(page, turn)


def test_on_a_phone_it_is_a_sheet_that_a_finger_draws_down(chromium: Browser) -> None:
    world = PageWorld(Reply.text(*CITED))
    with world, screen(chromium, world, phone=True, locale="en-GB") as page:
        page.turn_search_on()
        turn = page.ask("新变化？")
        sheet = page("#beside")
        card = turn.locator(".card").first
        card.tap()
        expect(sheet.locator("h2")).to_have_text(PAGES[0]["title"])
        page.page.wait_for_timeout(250)  # it has come up
        height = page.page.evaluate("innerHeight")
        place = box(page, "#beside")
        assert abs(place["y"] + place["height"] - height) < 2
        assert place["y"] > height * 0.15, "the text is still seen above it"
        assert page.page.evaluate("document.querySelector('#beside').matches(':modal')")
        if AXE.is_file():
            assert violations(page) == []
        # Drawn a little it stays, drawn far it goes.
        grip = box(page, "#beside header")
        for far, left in ((30, 1), (200, 0)):
            page.page.mouse.move(grip["x"] + 120, grip["y"] + 8)
            page.page.mouse.down()
            page.page.mouse.move(grip["x"] + 120, grip["y"] + 8 + far, steps=4)
            page.page.mouse.up()
            expect(sheet).to_have_count(left)
        assert focused(page) == "1"
        card.tap()
        sheet.get_by_role("button", name="Close the source").tap()
        expect(sheet).to_have_count(0)
        card.tap()
        expect(sheet).to_be_visible()
        page.page.keyboard.press("Escape")
        expect(sheet).to_have_count(0)
        assert focused(page) == "1"
        # The row is as wide as the page, whatever is in it.
        assert page.page.evaluate("document.querySelector('.scroller').scrollWidth <= innerWidth")
