"""What a conversation searches, chosen at the composer, by commands and in the address."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.page.test_access import AXE, violations
from tests.support.page_world import PageWorld, Screen, screen, show, with_own_browser
from tests.support.scripted_model import Reply

pytestmark = with_own_browser(__name__)
SITE = {"title": "Tea", "url": "https://example.org/tea", "snippet": "Tea is a drink.", "date": "2025-10-07"}


def asked(world: PageWorld) -> tuple[str | None, str | None, bool]:
    """Return the category and the time range of the last search, and whether it names the site."""
    seen = [one.params for one in world.engine().seen if "q" in one.params][-1]
    return seen.get("categories"), seen.get("time_range"), "site:example.org" in seen["q"]


def chips(page: Screen) -> list[str]:
    return [text.strip() for text in page(".focus-chip").all_inner_texts()]


def test_chosen_by_keyboard_shown_as_chips_and_kept(chromium: Browser) -> None:
    world = PageWorld(Reply.text("Tea [1]."), Reply.text("Again [1]."))
    with world, screen(chromium, world, locale="en-GB") as page:
        show(world.engine(), [SITE])
        expect(page(".focus")).to_have_count(0)
        page.page.get_by_role("button", name="Focus").press("Enter")
        kinds = page.page.get_by_label("Kind of pages")
        expect(kinds.locator("option")).to_have_text(["Web", "News", "Law", "Court cases"])
        kinds.select_option("news")
        expect(page.switch).to_have_attribute("aria-checked", "true")  # who says where wants a search
        page.page.get_by_label("How new").select_option("week")
        field = page.page.get_by_label("Only this site")
        field.fill("not_a_site")
        field.press("Enter")
        expect(page(".toast.error")).to_contain_text("'not_a_site' is not a domain")
        expect(field).to_have_value("not_a_site")
        field.fill("https://Example.org/")
        field.press("Enter")
        expect(page(".focus-chip")).to_have_text(["example.org"])
        expect(field).to_have_value("")
        if AXE.is_file():
            assert violations(page) == []
        page.page.get_by_role("button", name="Focus").press("Enter")
        expect(page(".focus-chip")).to_have_count(3)
        assert chips(page) == ["News", "last week", "example.org"]
        turn = page.ask("What is tea?")
        assert asked(world) == ("news", "week", True)
        expect(turn.locator(".scope")).to_have_text("Searched in: News · last week · example.org")
        page.page.reload()
        expect(page(".focus-chip")).to_have_count(3)
        expect(page("article.turn .scope")).to_have_text("Searched in: News · last week · example.org")
        page.page.get_by_role("button", name="No longer only: last week").press("Enter")
        expect(page(".focus-chip")).to_have_count(2)
        expect(page("#question")).to_be_focused()  # the button is gone
        # The same by commands.
        for line, left in (("/site all", ["News"]), ("/fresh day", ["News", "last day"]), ("/focus web", ["last day"])):
            page.send(line)
            expect(page(".focus-chip")).to_have_count(len(left))
            assert chips(page) == left
        page.send("/focus gossip")
        expect(page(".toast.error").last).to_contain_text("/focus [NAME]")
        page.page.locator("#question").fill("")
        page.ask("Once more")
        assert asked(world) == (None, "day", False)


def test_on_a_phone_and_in_the_address(chromium: Browser) -> None:
    world = PageWorld(Reply.text("Tea [1]."))
    with world, screen(chromium, world, phone=True) as page:
        show(world.engine(), [SITE])
        page.page.goto(f"{world.url}/?q=茶&focus=news&site=example.org&fresh=month")
        expect(page("#question")).to_be_visible()
        if page("article.turn").count() == 0:
            expect(page("article.turn")).to_have_count(1)
        turn = page.ended()
        assert asked(world) == ("news", "month", True)
        expect(turn.locator(".scope")).to_have_text("搜索范围：新闻 · 最近一月 · example.org")
        assert chips(page) == ["新闻", "最近一月", "example.org"]
        page.page.get_by_role("button", name="搜索范围").tap()
        expect(page.page.get_by_label("搜索什么")).to_have_value("news")
        if AXE.is_file():
            assert violations(page) == []
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
