"""What is used every day: branches of a conversation, related questions, feedback, the keyboard, small windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.page.test_access import violations, with_axe
from tests.support.page_world import PageWorld, Screen, screen, titled, with_own_browser
from tests.support.scripted_model import Gate, Reply

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
    expect(page("#question")).to_be_focused()  # what had the focus is gone
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
    expect(page("#question")).to_be_focused()
    page.ended().get_by_role("button", name="Retry").press("Enter")
    expect(page("#question")).to_be_focused()
    page.ended()
    expect(page("article.turn")).to_have_count(2)


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_what_may_be_asked_next_is_a_tap_away_and_answers_are_rated(
    chromium: Browser, world: PageWorld, phone: bool
) -> None:
    wild = "<img src=x onerror=alert(1)> safe?"
    block = f"<related-questions>\nWhich tea is oldest?\n{wild}\n</related-questions>"
    question = f"What is {'phone' if phone else 'green'} tea?"
    with screen(chromium, world, phone=phone, locale="en") as page:
        world.model.add(Reply.text("Green tea.", "\n\n<related", block.removeprefix("<related")))
        turn = page.ask(question)
        expect(turn.locator(".answer")).to_have_text("Green tea.")
        buttons = turn.locator(".related button")
        expect(buttons).to_have_text(["Which tea is oldest?", "safe?"])
        bad = page.page.get_by_role("group", name="Rate this answer").get_by_role("button", name="Bad answer")
        bad.click()
        page.page.get_by_label("Out of date").check()
        page("#why-text").fill("Tea is newer.")
        assert violations(page) == []
        page.page.get_by_role("button", name="Submit").click()
        expect(page(".rating-why")).to_have_count(0)
        page.page.reload()
        expect(buttons).to_have_count(2)
        expect(bad).to_have_attribute("aria-pressed", "true")
        kept = titled(page, question)["turns"][0]["feedback"]
        assert kept == {"verdict": "bad", "reasons": ["outdated"], "text": "Tea is newer."}
        buttons.first.click()
        expect(page("article.turn")).to_have_count(2)
        page.ended()
        expect(page("h2.bubble").last).to_contain_text("Which tea is oldest?")
        expect(page(".related")).to_have_count(0)


LONG = "An answer with `code`, a table and a long address:\n\n| one | two | three | four |\n|---|---|---|---|\n| " + (
    " | ".join(["aaaaaaaaaaaaaaaaaaaa"] * 4)
)
LONG += (
    " |\n\n```\n" + "x" * 300 + "\n```\n\nhttps://example.org/" + "y" * 200 + "\n\nمرحبا بالعالم\n\n- واحد\n- اثنان\n"
)
SMALL: Sequence[ViewportSize] = ({"width": 320, "height": 640}, {"width": 640, "height": 400})
"""A narrow window, and one of 1280 × 800 at 200 %."""


@with_axe
def test_keys_are_told_windows_may_be_small_and_text_may_run_from_the_right(page: Screen) -> None:
    gate = Gate()
    page.world.model.add(Reply.text(LONG[:10], gate, LONG[10:]))
    page.page.evaluate("""() => {
      window.heard = [];
      const said = document.getElementById("said");
      const watch = new MutationObserver(() => heard.push(said.textContent));
      watch.observe(said, { childList: true, characterData: true, subtree: true });
    }""")
    page.send("שלום, what is tea?")
    expect(page("#said")).not_to_be_empty()  # that it begins, before there is an end to tell
    gate.open()
    turn = page.ended()
    expect(page("#said")).to_have_text("Answer complete")
    heard = page.page.evaluate("heard.filter(Boolean)")
    assert heard[-1] == "Answer complete"
    assert 2 <= len(heard) <= 5
    direction = "(element) => getComputedStyle(element).direction"
    assert turn.locator("h2.bubble").evaluate(direction) == "rtl"
    blocks = turn.locator(".answer .block")
    assert blocks.first.evaluate(direction) == "ltr"
    assert blocks.last.evaluate(direction) == "rtl"
    assert turn.locator(".answer li").first.evaluate("(e) => getComputedStyle(e.parentElement).paddingRight") != "0px"
    # The question mark in a text is a question mark.
    page("#question").focus()
    page.page.keyboard.type("a?")
    expect(page("dialog")).to_have_count(0)
    page("#question").fill("")
    page(".scroller").focus()
    page.page.keyboard.press("Shift+?")
    expect(page("dialog kbd").first).to_be_visible()
    assert violations(page) == []
    page("dialog input").uncheck()
    page.page.keyboard.press("Escape")
    expect(page("dialog")).to_have_count(0)
    page.page.keyboard.press("Shift+?")
    page.page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page("dialog")).to_have_count(1)
    page("dialog input").check()
    for size in SMALL:
        page.page.set_viewport_size(size)
        wide = page.page.evaluate(
            "[document.documentElement.scrollWidth, document.querySelector('dialog').scrollWidth]"
        )
        assert max(wide) <= size["width"]
    page.page.keyboard.press("Escape")
    for size in SMALL:
        page.page.set_viewport_size(size)
        expect(page(".topbar")).to_be_visible()
        wide = page.page.evaluate(
            "[document.documentElement, document.querySelector('.scroller')].map((e) => e.scrollWidth)"
        )
        assert max(wide) <= size["width"]


def test_where_the_server_is_away_a_page_says_so_and_nothing_is_kept(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world, locale="en", service_workers="allow") as page:
        page.page.wait_for_function("navigator.serviceWorker.ready.then(() => true)")
        page.ask("Something private?")
        address = page.page.url
        page.page.reload()
        expect(page("article.turn")).to_have_count(1)
        port = world.stop()
        page.page.goto(address.partition("#")[0])
        expect(page("h1")).to_have_text("Qiusuo")
        expect(page("main")).to_contain_text("The server cannot be reached now.")
        assert page.page.evaluate("caches.keys()") == []
        world.start(port)
        page.page.get_by_role("link", name="Try again").click()
        expect(page("#question")).to_be_visible()
