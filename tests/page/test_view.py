"""What of a conversation is in view: the end of the last answer, whatever is listed under it."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, ViewportSize, expect

from tests.support.page_world import DESKTOP, PAGES, PHONE, PageWorld, Screen, screen, show, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)
SIZES = pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])

# Cards and a list of references that together are taller than the window.
MANY = [
    {**PAGES[0], "url": f"https://site-{number}.example.org/{number}", "title": f"{number} " + "很长的标题" * 40}
    for number in range(1, 6)
]
SHORT = "Python 3.14 于 2025 年 10 月 7 日发布[1][2][3][4][5]。"
LONG = "一段很长的话，要读上一会儿。\n\n" * 40 + SHORT

_PLACES = """(e) => {
  const box = document.querySelector(".scroller").getBoundingClientRect(), own = e.getBoundingClientRect();
  return { above: box.top - own.top, below: own.bottom - box.bottom };
}"""
_BELOW = "(e => e.scrollHeight - e.scrollTop - e.clientHeight)(document.querySelector('.scroller'))"


def settle(page: Screen) -> None:
    """Wait until the page has answered to new sizes: within a frame or two."""
    page.page.evaluate("() => new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)))")
    page.page.wait_for_timeout(100)


def seen(page: Screen, part: Locator) -> bool:
    """Tell whether all of a part is in the window."""
    settle(page)
    places = part.evaluate(_PLACES)
    return bool(places["above"] <= 0 and places["below"] <= 0)


def ends_in_view(page: Screen) -> bool:
    """Tell whether the end of the last answer is in the window, in its lower half."""
    settle(page)
    height = page(".scroller").evaluate("e => e.clientHeight")
    below = page.turn.locator(".answer").evaluate(_PLACES)["below"]
    return bool(-height / 2 < below <= 0)


@SIZES
class TestTallSources:
    def test_a_short_answer_stays_where_it_was_read(self, chromium: Browser, phone: bool) -> None:
        gate = Gate()
        replies = [Reply.text(SHORT), Reply.text(SHORT, gate, " 完")]
        with PageWorld(*replies) as world, screen(chromium, world, phone=phone) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            first = page.ask("第一问")
            assert seen(page, first.locator(".bubble"))
            assert seen(page, first.locator(".answer"))
            page.send("第二问")
            expect(page.turn.locator(".answer")).to_contain_text("发布")
            assert seen(page, page.turn.locator(".bubble"))
            before = page.turn.locator(".answer").evaluate(_PLACES)["above"]
            gate.open()
            turn = page.ended()
            assert seen(page, turn.locator(".bubble"))
            assert seen(page, turn.locator(".answer"))
            assert page.page.evaluate(_BELOW) > 200, "the sources would have pushed it away"
            assert abs(turn.locator(".answer").evaluate(_PLACES)["above"] - before) < 10, "nothing jumps"
            assert seen(page, turn.locator(".references h3")), "there is more"
            expect(page(".latest")).to_have_count(0)

    def test_of_a_long_answer_the_end_is_seen(self, chromium: Browser, phone: bool) -> None:
        gate = Gate()
        with PageWorld(Reply.text(LONG, gate, " 完")) as world, screen(chromium, world, phone=phone) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            page.send("长")
            expect(page.turn.locator(".answer")).to_contain_text("发布")
            assert ends_in_view(page), "while it grows"
            gate.open()
            page.ended()
            assert ends_in_view(page), "when the sources have come"
            expect(page(".latest")).to_have_count(0)

    @pytest.mark.parametrize("text", [SHORT, LONG], ids=["short", "long"])
    def test_an_old_conversation_opens_at_the_end_of_its_last_answer(
        self, chromium: Browser, phone: bool, text: str
    ) -> None:
        with PageWorld(Reply.text(LONG), Reply.text(text)) as world, screen(chromium, world, phone=phone) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            page.ask("一")
            page.ask("二")
            page.page.reload()
            expect(page("article.turn")).to_have_count(2)
            assert ends_in_view(page)
            expect(page(".latest")).to_have_count(0)

    @pytest.mark.parametrize("motion", ["reduce", "no-preference"])
    def test_the_way_back_leads_to_the_answer(
        self, chromium: Browser, phone: bool, motion: Literal["reduce", "no-preference"]
    ) -> None:
        with (
            PageWorld(Reply.text(LONG)) as world,
            screen(chromium, world, phone=phone, reduced_motion=motion) as page,
        ):
            show(world.engine(), MANY)
            page.turn_search_on()
            page.ask("长")
            page("article h2").scroll_into_view_if_needed()
            page.page.get_by_role("button", name="回到最新").click()
            assert ends_in_view(page)
            expect(page(".latest")).to_have_count(0)


class TestReadingTheSources:
    def test_who_has_gone_on_to_them_is_not_fetched_back(self, chromium: Browser) -> None:
        place = "document.querySelector('.scroller').scrollTop"
        with PageWorld(Reply.text(SHORT)) as world, screen(chromium, world) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            turn = page.ask("来源")
            turn.locator(".turn-foot").scroll_into_view_if_needed()
            settle(page)
            before = page.page.evaluate(place)
            assert before > 0
            expect(page(".latest")).to_have_count(0)
            page("#question").fill("好几行\n" * 5)  # it takes room from the conversation
            settle(page)
            assert page.page.evaluate(place) == before

    def test_the_next_question_is_shown_nevertheless(self, chromium: Browser) -> None:
        with PageWorld(Reply.text(SHORT), Reply.text(SHORT)) as world, screen(chromium, world) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            page.ask("一").locator(".turn-foot").scroll_into_view_if_needed()
            turn = page.ask("二")
            assert seen(page, turn.locator(".answer"))

    def test_asking_from_far_above_leads_to_the_answer(self, chromium: Browser) -> None:
        with PageWorld(Reply.text(LONG), Reply.text(SHORT)) as world, screen(chromium, world) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            page.ask("一").locator("h2").scroll_into_view_if_needed()
            expect(page(".latest")).to_be_visible()
            turn = page.ask("二")
            assert seen(page, turn.locator(".answer"))
            expect(page(".latest")).to_have_count(0)

    def test_asking_again_from_under_them_follows_the_new_answer(self, chromium: Browser) -> None:
        gate = Gate()
        with PageWorld(Reply.text(SHORT), Reply.text(LONG, gate, " 完")) as world, screen(chromium, world) as page:
            show(world.engine(), MANY)
            page.turn_search_on()
            page.ask("一").get_by_role("button", name="重试").click()
            expect(page.turn.locator(".answer")).to_contain_text("要读上一会儿")
            assert ends_in_view(page)
            gate.open()
            expect(page.ended().locator(".answer")).to_contain_text("完")
            assert ends_in_view(page)


@pytest.mark.parametrize("size", [PHONE, {"width": 844, "height": 390}, DESKTOP], ids=lambda size: str(size["width"]))
def test_another_size_of_the_window_keeps_the_answer(chromium: Browser, size: ViewportSize) -> None:
    with PageWorld(Reply.text(LONG)) as world, screen(chromium, world) as page:
        show(world.engine(), MANY)
        page.turn_search_on()
        page.ask("长")
        page.page.set_viewport_size({"width": 1000, "height": 600})
        page.page.set_viewport_size(size)
        assert ends_in_view(page)
