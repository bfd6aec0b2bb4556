"""Addresses that ask and that lead to one answer; conversations taken along, brought back, shared and printed."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, FilePayload, Route, expect

from tests.page.test_access import violations, with_axe
from tests.page.test_speed import many_turns
from tests.support.page_world import CLIPBOARD, PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Reply

pytestmark = with_own_browser(__name__)

HOSTILE = "<script>alert(1)</script> **x** [a](javascript:alert(1)) https://evil.example/ \u0007\u202e\"'&"
ELSEWHERE = "http://elsewhere.example/"
# Follow a link to an answer, move the focus in the very frame that brings the answer, and tell where it stays.
TO_THE_COMPOSER_AT_ONCE = """async ([address, wanted]) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  location.hash = address;
  while (document.activeElement?.dataset.turn !== wanted) await frame();
  document.getElementById("question").focus();
  for (let frames = 0; frames < 40; frames++) await frame();
  return document.activeElement.id;
}"""


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    with PageWorld() as world:
        yield world


@pytest.fixture
def page(chromium: Browser, world: PageWorld) -> Iterator[Screen]:
    with screen(chromium, world, locale="en", permissions=CLIPBOARD) as page:
        yield page


def asked(world: PageWorld) -> int:
    return len(world.server.client.get("/api/chat/sessions").json()["sessions"])


class TestAQuestionInTheAddress:
    def test_it_is_asked_once_and_becomes_a_conversation(self, page: Screen) -> None:
        before = asked(page.world)
        # As a browser does that has made this server its search engine.
        [template] = re.findall(
            r'template="([^"]+searchTerms[^"]*)"', page.world.server.client.get("/opensearch.xml").text
        )
        page.page.goto(template.replace("{searchTerms}", quote("Why is the sky blue?")))
        expect(page("h2.bubble")).to_contain_text("Why is the sky blue?")
        page.ended()
        where = urlsplit(page.page.url)
        assert (where.query, where.fragment[:3]) == ("", "/s/")
        assert page.world.searches()[-1] == "Why is the sky blue?"
        expect(page.switch).to_have_attribute("aria-checked", "true")
        page.page.reload()
        page.ended()
        page.page.goto(f"{page.world.url}/docs")
        page.page.go_back()
        page.ended()
        expect(page("article.turn")).to_have_count(1)
        assert asked(page.world) == before + 1

    def test_the_mode_is_the_address_s_too(self, page: Screen) -> None:
        page.page.goto(f"{page.world.url}/?q=tea&mode=agent")
        page.ended()
        expect(page("input[value=agent]")).to_be_checked()
        page.page.goto(f"{page.world.url}/?q=tea&mode=research")
        expect(page(".research").first).to_be_visible()
        page.ended()

    def test_whatever_it_says_it_is_only_asked(self, page: Screen) -> None:
        page.page.goto(f"{page.world.url}/?q={quote(HOSTILE)}&mode=%3Cscript%3E&search=off")
        page.ended()
        expect(page.switch).to_have_attribute("aria-checked", "false")
        expect(page("h2.bubble")).to_contain_text("<script>alert(1)</script> **x** [a](javascript:alert(1))")
        assert page("h2.bubble *:not(.unseen)").count() == 0

    def test_one_that_is_too_long_waits_in_the_composer(self, page: Screen) -> None:
        before = asked(page.world)
        page.page.goto(f"{page.world.url}/?q={'x' * 21_000}")
        expect(page(".welcome .notice")).to_contain_text("too long")
        assert len(page("#question").input_value()) > 20_000
        assert asked(page.world) == before

    def test_another_site_can_only_propose_it(self, page: Screen) -> None:
        before = asked(page.world)
        page("#question").fill("my own draft")
        target = f"{page.world.url}/?q={quote('Buy tea?')}&search=on"

        def answer(route: Route) -> None:
            route.fulfill(body=f"<a href='{target}'>link</a>", content_type="text/html")

        page.page.route(f"{ELSEWHERE}**", answer)
        page.page.goto(ELSEWHERE)
        page.page.get_by_text("link").click()
        expect(page(".welcome .notice")).to_contain_text("another site")
        expect(page("#question")).to_have_value("Buy tea?\n\nmy own draft")
        assert urlsplit(page.page.url).query == ""
        page.page.reload()
        expect(page("#question")).to_have_value("Buy tea?\n\nmy own draft")
        assert asked(page.world) == before
        page.outside.clear()


def test_a_link_to_an_answer_far_up(chromium: Browser, tmp_path: Path) -> None:
    store = tmp_path / "chat.db"
    with (
        PageWorld(Reply.text("好的。" * 200), store=store) as world,
        screen(chromium, world, locale="en", permissions=CLIPBOARD) as page,
    ):
        page.ask("first")
        many_turns(store, 70)
        session = urlsplit(page.page.url).fragment.removeprefix("/s/")
        turns = world.server.client.get(f"/api/chat/sessions/{session}?limit=200").json()["turns"]
        wanted = turns[10]["id"]
        page.page.goto(f"{world.url}/#/s/{session}/{wanted}")
        page.page.reload()
        focused = page(f'article[data-turn="{wanted}"]')
        expect(focused).to_be_focused(timeout=20_000)
        expect(focused).to_be_in_viewport()
        page.page.wait_for_timeout(300)  # nothing scrolls it away again
        assert 0 <= (focused.bounding_box() or {"y": -1})["y"] < 200
        # Another answer of the same conversation, then one that is no more.
        other = turns[60]["id"]
        page.page.evaluate(f"location.hash = '#/s/{session}/{other}'")
        expect(page(f'article[data-turn="{other}"]')).to_be_focused(timeout=20_000)
        # A reader who goes on to the composer at once is not fetched back.
        assert page.page.evaluate(TO_THE_COMPOSER_AT_ONCE, [f"#/s/{session}/{wanted}", wanted]) == "question"
        page.page.evaluate(f"location.hash = '#/s/{session}/gone'")
        expect(page(".toast")).to_contain_text("no longer")
        page.ask("second")
        assert urlsplit(page.page.url).fragment == f"/s/{session}"


@with_axe
class TestTheMenu:
    def test_an_answer_is_linked_and_saved_by_keyboard(self, page: Screen) -> None:
        page.turn_search_on()
        turn = page.ask("What is tea?")
        opener = turn.get_by_role("button", name="Share and export this answer")
        opener.focus()
        opener.press("Enter")
        dialog = page.page.get_by_role("dialog", name="Share and export this answer")
        expect(dialog).to_be_visible()
        expect(dialog).to_contain_text("QIUSUO_SHARING=on")  # for who runs the server
        assert violations(page) == []
        dialog.get_by_role("button", name="Copy link").press("Enter")
        expect(dialog).to_be_hidden()
        expect(opener).to_be_focused()
        link = page.page.evaluate("navigator.clipboard.readText()")
        assert link.endswith(f"/{turn.get_attribute('data-turn')}")
        opener.press("Enter")
        with page.page.expect_download() as saved:
            dialog.get_by_role("button", name="Markdown").press("Enter")
        assert saved.value.suggested_filename == "What is tea.md"
        assert "# What is tea?" in saved.value.path().read_text(encoding="utf-8")
        opener.press("Enter")
        page.page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(opener).to_be_focused()
        page.page.goto(link)
        page.page.reload()
        expect(page("article.turn")).to_be_focused()

    def test_a_conversation_goes_out_and_comes_back(self, page: Screen) -> None:
        page.turn_search_on()
        page.ask("What is coffee?")
        page.page.get_by_role("button", name="Share and export: What is coffee?").click()
        with page.page.expect_download() as saved:
            page.page.get_by_role("button", name="JSON").click()
        page.page.get_by_role("button", name="New chat").click()
        page.page.get_by_role("button", name="Import and shared links").click()
        dialog = page.page.get_by_role("dialog")
        wrong = FilePayload(name="x.json", mimeType="application/json", buffer=b"<script>")
        dialog.locator("input[type=file]").set_input_files(wrong)
        expect(dialog.get_by_role("status")).to_contain_text("not a conversation")
        assert violations(page) == []
        dialog.locator("input[type=file]").set_input_files(saved.value.path())
        expect(dialog).to_be_hidden()
        expect(page("h2.bubble")).to_contain_text("What is coffee?")
        page.ended()
        assert page(".references, .sources").count() >= 1
        expect(page(".history li .title").get_by_text("What is coffee?")).to_have_count(2)


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_public_link_is_made_opened_listed_and_ended(chromium: Browser, phone: bool) -> None:
    with PageWorld(sharing=True) as world, screen(chromium, world, phone=phone, permissions=CLIPBOARD) as page:
        turn = page.ask("什么是茶？")
        turn.get_by_role("button", name="分享与导出此回答").click()
        dialog = page.page.get_by_role("dialog")
        dialog.get_by_role("button", name="创建公开链接").click()
        link = dialog.get_by_label("公开链接").input_value()
        assert violations(page) == []
        overflowing = "document.querySelector('dialog').scrollWidth > document.querySelector('dialog').clientWidth"
        assert not page.page.evaluate(overflowing)
        other = chromium.new_context()
        shown = other.new_page()
        opened = shown.goto(link)
        assert opened is not None
        assert opened.status == 200
        expect(shown.get_by_role("heading", name="什么是茶？").first).to_be_visible()
        assert shown.locator("script").count() == 0
        dialog.get_by_role("button", name="关闭").click()
        if phone:
            page("#drawer-button").click()
        page.page.get_by_role("button", name="导入与分享链接").click()
        page.page.get_by_role("button", name="结束分享：什么是茶？").click()
        expect(dialog.get_by_role("status")).to_contain_text("分享已结束")
        expect(dialog).to_contain_text("还没有分享任何对话")
        ended = shown.reload()
        assert ended is not None
        assert ended.status == 404
        other.close()


def test_on_paper_there_is_the_conversation_alone(chromium: Browser, tmp_path: Path) -> None:
    answer = "茶是一种饮料 [1]。\n\n```\n" + "long " * 60 + "\n```\n\n" + "再说一遍 [2]。\n\n" * 40 + "最后一句 [3]。"
    with PageWorld(Reply.text(answer)) as world, screen(chromium, world, color_scheme="dark") as page:
        page.turn_search_on()
        page.ask("什么是茶？")
        page.page.wait_for_function("[...document.styleSheets].some((sheet) => sheet.href?.endsWith('print.css'))")
        page.page.emulate_media(media="print")
        for hidden in (".sidebar", ".composer", ".turn-foot", ".rounds", ".code-copy"):
            expect(page(hidden).first).to_be_hidden()
        expect(page(".reference-url").first).to_be_visible()
        cut = """() => [...document.querySelectorAll("main, .scroller, pre, .table, .reference-url, .column")]
          .filter((each) => getComputedStyle(each).overflow !== "visible" || each.scrollWidth > each.clientWidth + 1)
          .map((each) => each.className || each.tagName)"""
        assert page.page.evaluate(cut) == []
        assert page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.page.emulate_media(media="null")
        paper = page.page.pdf(path=tmp_path / "paper.pdf")
        assert paper.count(b"/Type /Page\n") >= 2


def test_everything_of_one_s_own_is_downloaded_and_deleted(chromium: Browser, tmp_path: Path) -> None:
    with PageWorld(store=tmp_path / "chat.db") as world, screen(chromium, world, locale="en") as page:
        page.ask("Why is the sky blue?")
        page.ended()
        page.page.get_by_role("button", name="Import and shared links").click()
        dialog = page("dialog.menu")
        with page.page.expect_download() as saved:
            dialog.get_by_role("button", name="Download (ZIP)").click()
        with zipfile.ZipFile(saved.value.path()) as archive:
            told = next(name for name in archive.namelist() if name.endswith("conversation.md"))
            assert "Why is the sky blue?" in archive.read(told).decode()
        page.page.get_by_role("button", name="Import and shared links").click()
        dialog.get_by_role("button", name="Delete everything").click()
        dialog.get_by_role("button", name="Keep it").click()
        assert asked(world) == 1
        dialog.get_by_role("button", name="Delete everything").click()
        dialog.get_by_role("button", name="Yes, delete everything").click()
        expect(page("article.turn")).to_have_count(0)
        expect(page.page.get_by_text("Your data was deleted")).to_be_visible()
        assert asked(world) == 0
