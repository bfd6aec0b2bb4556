"""Looks at a conversation that come late: what was asked or answered meanwhile stays on the page."""

from __future__ import annotations

from typing import Any, NamedTuple

from playwright.sync_api import Browser, Route, expect

from tests.support.page_world import PageWorld, Screen, screen, titled, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)


class Beginning(NamedTuple):
    """A conversation in which nothing was asked yet, as the server tells it now."""

    id: str
    told: dict[str, Any]
    address: str


def begun(page: Screen) -> Beginning:
    page.turn_search_on()
    told = titled(page, "")
    return Beginning(told["id"], told, f"**/api/chat/sessions/{told['id']}")


def hold_first_look(page: Screen, address: str) -> list[Route]:
    """Keep back the first look at a conversation; return where it is kept."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.page.route(address, keep)
    return held


def look_again(page: Screen) -> None:
    page.page.evaluate("window.dispatchEvent(new Event('focus'))")


def test_an_old_look_does_not_wipe_the_new_question(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("开头", gate, "结尾")) as world, screen(chromium, world) as page:
        before = begun(page)
        held = hold_first_look(page, before.address)
        with page.page.expect_request(before.address):
            look_again(page)
        page.send("新问题")
        expect(page.turn.locator(".answer")).to_have_text("开头")
        # The look was taken before the question, and comes after it.
        held[0].fulfill(json=before.told)
        page.page.wait_for_timeout(300)
        expect(page("article.turn")).to_have_count(1)
        gate.open()
        expect(page.ended().locator(".answer")).to_have_text("开头结尾")


def test_nor_when_that_is_answered_already(chromium: Browser) -> None:
    with PageWorld(Reply.text("答完了")) as world, screen(chromium, world) as page:
        before = begun(page)
        held = hold_first_look(page, before.address)
        with page.page.expect_request(before.address):
            look_again(page)
        page.ask("新问题")
        [look] = held
        # It looks once more, instead of believing what it is told now.
        with page.page.expect_response(lambda one: one.url.endswith(before.id) and one.request != look.request):
            look.fulfill(json=before.told)
        page.page.wait_for_timeout(300)
        expect(page("article.turn .answer")).to_have_text("答完了")


def test_what_another_tab_asks_while_this_one_is_opening(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("开头", gate, "结尾")) as world, screen(chromium, world) as first:
        before = begun(first)
        second = Screen(first.page.context.new_page(), world)
        held = hold_first_look(second, before.address)
        with second.page.expect_request(before.address):
            second.open(f"/#/s/{before.id}")
        first.send("新问题")
        expect(first.turn.locator(".answer")).to_have_text("开头")
        # The look was taken before the question, which has been told of already.
        held[0].fulfill(json=before.told)
        expect(second.turn.locator(".answer")).to_have_text("开头")
        gate.open()
        expect(second.ended().locator(".answer")).to_have_text("开头结尾")


def test_of_two_looks_the_later_one_holds(chromium: Browser) -> None:
    with PageWorld(Reply.text("答完了")) as world, screen(chromium, world) as page:
        before = begun(page)
        held = hold_first_look(page, before.address)
        with page.page.expect_request(before.address):
            look_again(page)
        world.server.client.post(f"/api/chat/sessions/{before.id}/turns", json={"text": "别处问的"})
        look_again(page)
        expect(page.ended().locator(".answer")).to_have_text("答完了")
        held[0].fulfill(json=before.told)
        page.page.wait_for_timeout(300)
        expect(page("article.turn .answer")).to_have_text("答完了")
