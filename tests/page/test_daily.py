"""What is used every day: branches of a conversation, related questions, feedback, the keyboard, small windows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.page.test_access import violations, with_axe
from tests.support.page_world import PageWorld, Screen, screen, with_own_browser

pytestmark = with_own_browser(__name__)


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    with PageWorld() as world:
        yield world


@pytest.fixture
def page(chromium: Browser, world: PageWorld) -> Iterator[Screen]:
    with screen(chromium, world, locale="en") as page:
        yield page


@with_axe
def test_an_earlier_question_is_edited_into_a_branch_and_the_old_one_stays(page: Screen) -> None:
    for question in ("Tea?", "Green tea?", "Black tea?"):
        page.ask(question)
    old = page.page.url
    second = page("article.turn").nth(1)
    second.get_by_role("button", name="Edit and resend").click()
    expect(second.locator(".edit .hint")).to_contain_text("this conversation stays")
    field = second.locator(".edit textarea")
    field.fill("White tea?")
    field.press("Enter")
    expect(page("h2.bubble").last).to_contain_text("White tea?")
    page.ended()
    assert page.page.url != old
    expect(page("article.turn")).to_have_count(2)
    link = page(".kin a")
    expect(link).to_have_text("Tea?")
    page.page.reload()
    expect(page("article.turn")).to_have_count(2)
    assert violations(page) == []
    link.click()
    expect(page("article.turn")).to_have_count(3)
    assert page.page.url.startswith(old)
    other = page("article.turn").nth(1).locator(".kin a")
    expect(other).to_have_text("White tea?")
    page.page.go_back()
    expect(page("article.turn")).to_have_count(2)
    # The last question is replaced as before.
    page.turn.get_by_role("button", name="Edit and resend").click()
    page(".edit textarea").fill("Yellow tea?")
    page(".edit textarea").press("Enter")
    expect(page("h2.bubble").last).to_contain_text("Yellow tea?")
    page.ended()
    expect(page("article.turn")).to_have_count(2)
