"""What is slow or comes at a bad moment never lands in the wrong conversation, and nothing that was written is lost."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Request, Route, expect

from tests.support.page_world import PAGES, PageWorld, Screen, screen, titled, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)


def hold(page: Screen, pattern: str, method: str) -> Callable[[], None]:
    """Keep back the page's requests of a kind; return what lets them go."""
    held: list[Route] = []
    free = False

    def keep(route: Route) -> None:
        if route.request.method == method and not free:
            held.append(route)
        else:
            route.continue_()

    def release() -> None:
        nonlocal free
        free = True
        for route in held:
            route.continue_()

    page.page.route(pattern, keep)
    return release


def two_conversations(page: Screen) -> None:
    for question in ("苹果", "香蕉"):
        page.page.get_by_role("button", name="新对话").click()
        page.ask(question)


class TestSwitchingConversations:
    def test_a_slow_change_of_settings_stays_with_its_conversation(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            two_conversations(page)
            release = hold(page, "**/api/chat/sessions/*", "PATCH")
            page.switch.click()
            page.page.get_by_role("link", name="苹果").click()
            expect(page("article h2")).to_contain_text("苹果")
            expect(page.switch).to_have_attribute("aria-checked", "false")
            release()
            expect(page.page.get_by_text("联网搜索已开启", exact=True)).to_be_visible()
            expect(page.switch).to_have_attribute("aria-checked", "false")
            expect(page(".history li.current")).to_contain_text("苹果")
            assert titled(page, "香蕉")["settings"]["search"] is True
            assert titled(page, "苹果")["settings"]["search"] is False

    def test_a_question_waits_for_the_conversation_that_is_being_opened(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            two_conversations(page)
            release = hold(page, "**/api/chat/sessions/*", "GET")
            page.page.get_by_role("link", name="苹果").click()
            page.send("接着苹果问")
            page.page.wait_for_timeout(200)
            release()
            page.ended()
            assert [turn["question"] for turn in titled(page, "苹果")["turns"]] == ["苹果", "接着苹果问"]
            assert [turn["question"] for turn in titled(page, "香蕉")["turns"]] == ["香蕉"]

    def test_back_while_the_next_one_is_still_coming(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            two_conversations(page)
            release = hold(page, "**/api/chat/sessions/*", "GET")
            page.page.get_by_role("link", name="苹果").click()
            page.page.go_back()
            release()
            expect(page("article h2")).to_contain_text("香蕉")
            expect(page(".history li.current")).to_contain_text("香蕉")

    def test_a_new_chat_while_the_first_question_is_on_its_way(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            release = hold(page, "**/api/chat/sessions", "POST")
            page.send("太急了")
            expect(page("article.turn")).to_have_count(1)
            page.page.get_by_role("button", name="新对话").click()
            release()
            # Not asked anywhere; it can be sent from here.
            expect(page("#question")).to_have_value("太急了")
            expect(page(".welcome")).to_be_visible()
            page.ask("太急了")
            expect(page("article.turn")).to_have_count(1)
            assert len(world.model.requests) == 1

    def test_the_other_conversation_s_draft_is_not_overwritten(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            release = hold(page, "**/api/chat/sessions", "POST")
            page.send("太急了")
            page.page.get_by_role("button", name="新对话").click()
            page("#question").fill("新的想法")
            release()
            page.page.wait_for_timeout(300)
            expect(page("#question")).to_have_value("新的想法")


class TestSettings:
    def test_switched_fast_the_last_one_holds(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page.page.evaluate("for (let i = 0; i < 7; i++) document.querySelector('[role=switch]').click()")
            expect(page.switch).to_have_attribute("aria-busy", "false")
            shown = page.switch.get_attribute("aria-checked")
            page.ask("切换")
            assert titled(page, "切换")["settings"]["search"] is (shown == "true")

    def test_two_refused_changes_go_back_to_what_the_server_has(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page.turn_search_on()
            page.page.route(
                "**/api/chat/sessions/*",
                lambda route: route.abort() if route.request.method == "PATCH" else route.continue_(),
            )
            page.page.evaluate(
                "document.querySelector('[role=switch]').click();document.querySelector('input[value=agent]').click()"
            )
            expect(page.switch).to_have_attribute("aria-busy", "false")
            expect(page.switch).to_have_attribute("aria-checked", "true")
            expect(page.switch).to_be_enabled()

    def test_a_refusal_is_told_with_its_fix(self, chromium: Browser) -> None:
        body = {"error": "unavailable", "message": "The disk is full.", "fix": "Free some space."}
        with PageWorld() as world, screen(chromium, world) as page:
            page.ask("一")

            def refuse(route: Route) -> None:
                if route.request.method in {"PATCH", "DELETE"} or "/turns" in route.request.url:
                    route.fulfill(status=503, json=body)
                else:
                    route.continue_()

            page.page.route("**/api/chat/sessions/**", refuse)
            page.switch.click()
            expect(page(".toast.error").last).to_contain_text("The disk is full. Free some space.")
            page(".history li").hover()
            page.page.get_by_role("button", name="删除: 一").click()
            page.page.get_by_role("group", name=re.compile("删除")).get_by_role("button", name="删除").click()
            expect(page(".toast.error").last).to_have_text("The disk is full. Free some space.")
            page.page.get_by_role("button", name="取消").click()
            page.send("二")
            notice = page.turn.locator(".notice")
            for words in ("服务器没有接受这个问题", "The disk is full.", "Free some space."):
                expect(notice).to_contain_text(words)


class TestDeletion:
    def test_of_the_conversation_that_is_being_answered(self, chromium: Browser) -> None:
        gate = Gate()
        with PageWorld(Reply.text("开头", gate, "结尾")) as world, screen(chromium, world) as page:
            page.send("删掉我")
            expect(page.turn.locator(".answer")).to_have_text("开头")
            page.page.get_by_role("button", name="删除: 删掉我").click()
            page.page.get_by_role("group", name=re.compile("删除")).get_by_role("button", name="删除").click()
            expect(page(".welcome")).to_be_visible()
            expect(page(".history li")).to_have_count(0)
            gate.open()
            page.ask("继续用")
            expect(page("article.turn")).to_have_count(1)
            expect(page(".toast.error")).to_have_count(0)

    def test_in_another_tab(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as first:
            first.ask("两边都开着")
            second = Screen(first.page.context.new_page(), world).open(first.page.url.removeprefix(world.url))
            expect(second("article.turn")).to_have_count(1)
            first.page.get_by_role("button", name="删除: 两边都开着").click()
            first.page.get_by_role("group", name=re.compile("删除")).get_by_role("button", name="删除").click()
            expect(second(".toast.error")).to_have_text("这个会话已不存在。")
            expect(second(".welcome")).to_be_visible()
            second.ask("照常")
            assert second.errors == []

    def test_the_keyboard_stays_where_it_was(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            two_conversations(page)
            button = page.page.get_by_role("button", name="重命名: 香蕉")
            button.focus()
            page.page.keyboard.press("Enter")
            page.page.keyboard.press("Escape")
            expect(button).to_be_focused()
            button = page.page.get_by_role("button", name="删除: 香蕉")
            button.focus()
            page.page.keyboard.press("Enter")
            page.page.keyboard.press("Escape")
            expect(button).to_be_focused()


class TestStop:
    def test_before_the_question_has_left(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            release = hold(page, "**/api/chat/sessions", "POST")
            page.send("算了")
            page.page.get_by_role("button", name="停止").click()
            expect(page("article.turn")).to_have_count(0)
            release()
            expect(page("#question")).to_have_value("算了")
            assert world.model.requests == []

    def test_a_token_that_ends_in_the_middle_of_an_answer(self, chromium: Browser) -> None:
        gate = Gate()
        with PageWorld(Reply.text("一。", gate, "二。")) as world, screen(chromium, world) as page:
            page.send("令牌")
            expect(page.turn.locator(".answer")).to_have_text("一。")
            page.page.route("**/api/**", lambda route: route.fulfill(status=401, json={"error": "unauthorized"}))
            page.page.reload()
            dialog = page.page.get_by_role("dialog")
            expect(dialog).to_be_visible()
            page.page.unroute_all()
            dialog.get_by_label("访问令牌").fill("again")
            dialog.get_by_role("button", name="进入").click()
            expect(page.turn.locator(".answer")).to_have_text("一。")
            gate.open()
            expect(page.ended().locator(".answer")).to_have_text("一。二。")


class TestTyping:
    @pytest.mark.parametrize("how", ["isComposing: true, keyCode: 13", "isComposing: false, keyCode: 229"])
    def test_enter_that_chooses_a_word_does_not_send(self, chromium: Browser, how: str) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page("#question").fill("ni hao")
            press = f"e => e.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true, {how}}}))"
            page("#question").evaluate(press)
            page.page.wait_for_timeout(150)
            expect(page("article.turn")).to_have_count(0)
            expect(page("#question")).to_have_value("ni hao")
            assert world.model.requests == []
            # Nor in a question that is being edited, where Escape belongs to the input method too.
            page.ask("第一")
            page.turn.hover()
            page.turn.get_by_role("button", name="编辑并重新发送").click()
            field = page.turn.get_by_role("textbox")
            for press_key in (press, press.replace("Enter", "Escape")):
                field.evaluate(press_key)
            expect(field).to_be_visible()
            assert len(world.model.requests) == 1

    def test_shift_enter_is_a_new_line(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page("#question").press_sequentially("一")
            page("#question").press("Shift+Enter")
            page("#question").press_sequentially("二")
            expect(page("#question")).to_have_value("一\n二")
            page("#question").press("Enter")
            page.ended()
            expect(page("article h2")).to_contain_text("一\n二", use_inner_text=True)

    def test_enter_twice_asks_once(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page("#question").fill("一次")
            page("#question").evaluate(
                "e => { for (let i = 0; i < 3; i++)"
                "e.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true})) }"
            )
            page.ended()
            page.page.wait_for_timeout(200)
            assert len(world.model.requests) == 1

    def test_too_much_is_told_before_it_is_sent(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page("#question").fill("😀" * 20_000)
            expect(page(".lost")).to_have_count(0)
            page("#question").fill("字" * 20_001)
            expect(page(".lost")).to_have_text("问题太长：最多 20000 个字，现在 20001 个")
            page("#question").press("Enter")
            expect(page("article.turn")).to_have_count(0)
            expect(page.page.get_by_role("button", name="发送")).to_be_disabled()
            # More than the browser keeps for a tab.
            page("#question").evaluate(
                "e => { e.value = 'x'.repeat(6_000_000); e.dispatchEvent(new Event('input', {bubbles: true})) }"
            )
            expect(page(".lost")).to_contain_text("6000000")
            page("#question").fill("短了")
            page.page.reload()
            expect(page("#question")).to_have_value("短了")


class TestChecks:
    def test_a_citation_without_a_check_does_not_take_the_next_one_s(self, chromium: Browser) -> None:
        # 见[1] says too little to be checked; emoji count twice in JavaScript.
        text = (
            "😀😀 见[1]\n\n自由线程构建转为正式支持[2]。\n\nPython 3.14 于 2025 年 10 月 7 日发布[1]。\n\n"
            "1. 它发布于 **1999** 年[1]\n2. 再说一遍，Python 3.14 于 2025 年 10 月 7 日发布[1][1]"
        )
        with PageWorld(Reply.text(text)) as world, screen(chromium, world) as page:
            page.turn_search_on()
            turn = page.ask("核对")
            kinds = turn.locator("a.cite").evaluate_all("es => es.map((e) => e.className.replace('cite', '').trim())")
            assert kinds[1:3] == ["supported", "supported"], kinds
            assert kinds[3] in {"weak", "not_found"}, kinds
            assert kinds[4:] == ["supported"] * len(kinds[4:]), kinds
            turn.locator("a.cite").nth(2).hover()
            expect(page("#cite-card")).to_contain_text("来源支持")
            assert PAGES[0]["title"] in page("#cite-card").inner_text()


class TestLayout:
    @pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
    def test_the_page_itself_never_scrolls(self, chromium: Browser, phone: bool) -> None:
        with (
            PageWorld(Reply.text("长。\n\n" * 60), Reply.text("好")) as world,
            screen(chromium, world, phone=phone) as page,
        ):
            page.ask("一")
            page.ask("二")
            page.turn.evaluate("e => e.scrollIntoView()")
            place = "['html', 'body', '.page'].map((name) => document.querySelector(name).scrollTop)"
            assert page.page.evaluate(place) == [0, 0, 0]
            tall = "document.documentElement.scrollHeight - innerHeight"
            assert page.page.evaluate(tall) <= 0

    @pytest.mark.parametrize("width", [320, 390])
    @pytest.mark.parametrize("locale", ["zh-CN", "en"])
    def test_a_new_chat_is_one_tap_away_on_a_phone(self, chromium: Browser, width: int, locale: str) -> None:
        size = {"width": width, "height": 640}
        with PageWorld() as world, screen(chromium, world, phone=True, locale=locale, viewport=size) as page:
            for mode in ("chat", "agent"):
                page.choose(mode)
                page.ask("一")
                button = page(".topbar").get_by_role("button", name=re.compile("新对话|New chat"))
                mine = button.bounding_box()
                assert mine
                assert mine["width"] >= 40
                assert mine["height"] >= 32
                covered = page.page.evaluate(
                    """() => {
                      const b = document.querySelector(".new-here .icon").getBoundingClientRect();
                      const words = document.createRange();
                      words.selectNodeContents(document.getElementById("switch-note"));
                      const others = [...document.querySelectorAll(".modes, .switch-label, .switch-state, .switch")];
                      return [...others.map((e) => e.getBoundingClientRect()), ...words.getClientRects()].some(
                        (o) => o.left < b.right && b.left < o.right && o.top < b.bottom && b.top < o.bottom);
                    }"""
                )
                assert not covered, (width, locale, mode)
                button.tap()
                expect(page(".welcome")).to_be_visible()
                assert page.page.evaluate("document.activeElement.id") != "question", "no keyboard over the page"


def test_every_answer_forbids_what_it_does_not_need(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        seen: list[Request] = []
        page.page.on("requestfinished", lambda request: seen.append(request))  # noqa: PLW0108 - a method of C has no place for its marks
        page.page.reload()
        page.ask("一")
        page.page.goto(f"{world.url}/docs")
        assert len(seen) > 20
        for request in (one for one in seen if not one.url.endswith((".js", ".css"))):
            answer = request.response()
            assert answer
            assert "default-src 'none'" in answer.headers.get("content-security-policy", ""), request.url
            assert answer.headers.get("x-content-type-options") == "nosniff", request.url
