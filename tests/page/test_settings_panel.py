"""The settings panel (P5, P6; seed 004: 聊天设置面板, 搜索开关控制)."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Browser, FloatRect, Route, expect

from tests.support.page_world import PageWorld, screen, with_own_browser

pytestmark = with_own_browser(__name__)


def apart(one: FloatRect, other: FloatRect) -> bool:
    return (
        one["x"] + one["width"] <= other["x"] + 1
        or other["x"] + other["width"] <= one["x"] + 1
        or one["y"] + one["height"] <= other["y"] + 1
        or other["y"] + other["height"] <= one["y"] + 1
    )


SIZES = pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])


@SIZES
class TestSwitch:
    def test_it_is_there_from_the_start_with_icon_label_and_description(self, chromium: Browser, phone: bool) -> None:
        with PageWorld() as world, screen(chromium, world, phone=phone) as page:
            label = page(".switch-label")
            expect(label).to_be_visible()
            expect(label).to_contain_text("🔍")
            expect(label).to_contain_text("联网搜索")
            expect(page.page.get_by_text("启用后将使用SearXNG搜索实时信息", exact=True)).to_be_visible()
            expect(page.switch).to_have_accessible_name("联网搜索")
            # Off by default, in words too.
            expect(page.switch).to_have_attribute("aria-checked", "false")
            expect(page(".switch-state")).to_be_visible()
            expect(page(".switch-state")).to_have_text("已关闭")

    def test_with_the_statutes_alone_it_does_not_speak_of_the_web(self, chromium: Browser, phone: bool) -> None:
        def of_a_server_with_laws_only(route: Route) -> None:
            answer = route.fetch()
            engine = {"name": "laws", "label": "本地法律库", "web": False}
            search = {"available": True, "engine": engine, "problem": None}
            route.fulfill(response=answer, json={**answer.json(), "search": search})

        with PageWorld(engines=()) as world, screen(chromium, world, phone=phone) as page:
            page.page.route("**/api/chat/config", of_a_server_with_laws_only)
            page.page.reload()
            expect(page(".switch-note")).to_have_text("启用后只检索 本地法律库")

    def test_the_three_states_look_different_and_disabled_never_on(self, chromium: Browser, phone: bool) -> None:
        with PageWorld() as world, screen(chromium, world, phone=phone) as page:

            def look() -> tuple[str, ...]:
                expect(page(".toast")).to_have_count(0)
                return tuple(
                    page.switch.evaluate(
                        "e => { const s = getComputedStyle(e), k = getComputedStyle(e.firstElementChild);"
                        "return [s.backgroundColor, s.borderStyle, k.transform, k.backgroundColor] }"
                    )
                )

            off = look()
            page.turn_search_on()
            on = look()
            page.choose("agent")
            disabled = look()
            assert len({off, on, disabled}) == 3
            expect(page.switch).to_be_disabled()
            expect(page.switch).to_have_attribute("aria-checked", "false")
            assert disabled[0] != on[0]
            assert disabled[2] == off[2], "the knob of a disabled switch stands at off"

    def test_a_change_is_confirmed_at_once_and_used_by_the_next_message(self, chromium: Browser, phone: bool) -> None:
        with PageWorld() as world, screen(chromium, world, phone=phone) as page:
            page.ask("没有搜索")
            assert world.searches() == []
            began = time.monotonic()
            page.switch.click()
            expect(page.page.get_by_text("联网搜索已开启", exact=True)).to_be_visible()
            assert time.monotonic() - began < 0.5
            expect(page(".switch-state")).to_have_text("已开启")
            page.ask("有搜索")
            assert world.searches() == ["有搜索"]
            page.switch.click()
            expect(page.page.get_by_text("联网搜索已关闭", exact=True)).to_be_visible()
            page.ask("又没有")
            assert world.searches() == ["有搜索"]

    def test_a_message_sent_right_after_the_click_follows_it(self, chromium: Browser, phone: bool) -> None:
        with PageWorld() as world, screen(chromium, world, phone=phone) as page:
            page("#question").fill("马上")
            # Both in one go, before the server has answered anything.
            page.page.evaluate("document.querySelector('[role=switch]').click()")
            page("#question").press("Enter")
            page.ended()
            assert world.searches() == ["马上"]

    def test_agent_mode_disables_it_and_chat_mode_brings_it_back(self, chromium: Browser, phone: bool) -> None:
        with PageWorld() as world, screen(chromium, world, phone=phone) as page:
            page.turn_search_on()
            page.choose("agent")
            expect(page.switch).to_be_disabled()
            expect(page.page.get_by_text("Agent 模式下由 AI 自动决策搜索", exact=True)).to_be_visible()
            expect(page(".switch-state")).to_have_text("由 AI 决定")
            page.page.reload()
            expect(page.switch).to_be_disabled()
            page.choose("chat")
            expect(page.switch).to_be_enabled()
            expect(page.switch).to_have_attribute("aria-checked", "true")

    def test_nothing_in_it_overlaps(self, chromium: Browser, phone: bool) -> None:
        sizes: tuple[dict[str, Any], ...] = ({}, {"viewport": {"width": 320, "height": 640}}) if phone else ({},)
        with PageWorld() as world:
            for size in sizes:
                for locale in ("zh-CN", "en"):
                    with screen(chromium, world, phone=phone, locale=locale, **size) as page:
                        for mode in ("chat", "agent"):
                            page.choose(mode)
                            boxes = [
                                page(name).bounding_box()
                                for name in (".modes", ".switch-label", ".switch-state", ".switch", ".switch-note")
                            ]
                            for one, other in combinations([box for box in boxes if box], 2):
                                assert apart(one, other), (locale, mode, one, other)

    def test_it_is_never_under_messages(self, chromium: Browser, phone: bool) -> None:
        from tests.support.scripted_model import Reply

        with PageWorld(Reply.text("很长的回答。\n\n" * 200)) as world, screen(chromium, world, phone=phone) as page:
            page.ask("长")
            for place in ("0", "document.querySelector('.scroller').scrollHeight"):
                page.page.evaluate(f"document.querySelector('.scroller').scrollTop = {place}")
                covered = page.switch.evaluate(
                    "e => { const r = e.getBoundingClientRect();"
                    "return !e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)) }"
                )
                assert not covered
            expect(page.switch).to_be_in_viewport()


# The middles of the controls, the lines of the note, and how far it stays away from the button beside it.
_STRIP = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const words = document.createRange();
  words.selectNodeContents(document.querySelector(".switch-note"));
  const lines = [...words.getClientRects()];
  return {
    middles: [".modes", ".switch-label", ".switch"].map((name) => box(name).y + box(name).height / 2),
    lines: lines.length,
    gap: box(".new-here").left - Math.max(...lines.map((line) => line.right)),
    height: box(".topbar").height,
    wide: document.documentElement.scrollWidth,
  };
}"""


@pytest.mark.parametrize("locale", ["zh-CN", "en"])
@pytest.mark.parametrize("width", [320, 360, 390])
def test_the_strip_of_a_phone_has_two_lines(chromium: Browser, width: int, locale: str) -> None:
    size = {"width": width, "height": 640}
    with PageWorld() as world, screen(chromium, world, phone=True, locale=locale, viewport=size) as page:
        page.ask("一")  # since there is a button for a new chat in it
        for mode in ("chat", "agent"):
            page.choose(mode)
            strip = page.page.evaluate(_STRIP)
            assert max(strip["middles"]) - min(strip["middles"]) < 4, (mode, strip)
            assert strip["lines"] == 1, (mode, strip)
            assert strip["gap"] >= 0, (mode, strip)
            assert strip["height"] < 96, (mode, strip)
            assert strip["wide"] == width, (mode, strip)


def refuse_changes(route: Route) -> None:
    if route.request.method == "PATCH":
        route.abort()
    else:
        route.continue_()


def test_a_change_that_cannot_be_saved_is_taken_back_visibly(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.page.route("**/api/chat/sessions/*", refuse_changes)
        page.switch.click()
        expect(page(".toast.error")).to_contain_text("没有保存，已恢复原来的设置")
        expect(page.switch).to_have_attribute("aria-checked", "true")
        expect(page(".switch-state")).to_have_text("已开启")
        page.page.unroute_all()
        # Not every limit is that of conversations: the server says which one it is.
        full = {"error": "LimitReached", "message": "这里最多两个。", "fix": "请减少一个。"}
        page.page.route("**/api/chat/sessions/*", lambda route: route.fulfill(status=400, json=full))
        page.switch.click()
        expect(page(".toast.error").last).to_contain_text("这里最多两个。 请减少一个。")
        page.page.unroute_all()
        page.ask("还能搜索")
        assert world.searches() == ["还能搜索"]


def test_what_the_server_says_is_shown(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.turn_search_on()
        [session] = world.server.client.get("/api/chat/sessions").json()["sessions"]
        # Another program changes it; the page looks when it is looked at.
        world.server.client.patch(f"/api/chat/sessions/{session['id']}", json={"settings": {"mode": "agent"}})
        page.page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.switch).to_be_disabled()
        expect(page(".switch-note")).to_have_text("Agent 模式下由 AI 自动决策搜索")


def test_model_and_engine_are_shown_and_more_has_the_rest(chromium: Browser) -> None:
    with PageWorld(engines=("searxng", "tavily")) as world, screen(chromium, world) as page:
        expect(page(".facts")).to_contain_text("Scripted")
        expect(page(".facts")).to_contain_text("SearXNG")
        page.turn_search_on()
        page(".more summary").click()
        page.page.get_by_label("搜索引擎").select_option("tavily")
        expect(page.page.get_by_text("启用后将使用Tavily搜索实时信息", exact=True)).to_be_visible()
        page.page.get_by_label("结果数量").select_option("2")
        expect(page.page.get_by_text("每次使用 2 条结果", exact=True)).to_be_visible()
        turn = page.ask("换引擎")
        assert world.searches() == []
        assert len(world.engine("tavily").seen) == 1
        expect(turn.locator(".card")).to_have_count(2)


def test_a_new_chat_takes_the_settings_along(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.ask("一")
        page.choose("agent")
        page.page.get_by_role("button", name="新对话").click()
        # But for the mode: that one conversation was an agent's does not make it the usual one.
        expect(page("input[value=chat]")).to_be_checked()
        expect(page.switch).to_have_attribute("aria-checked", "true")
        page.ask("二")
        assert world.searches() == ["一", "二"]
        expect(page(".history li")).to_have_count(2)
