"""Long conversations and long histories on the page: read in pages, with a word before a limit is reached."""

from __future__ import annotations

import httpx
from playwright.sync_api import Browser, Locator, expect

from qiusuo.chat.sessions.limits import StoreLimits
from tests.support.page_world import PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)
HEIGHT = "element => element.getBoundingClientRect().top"


def talk(client: httpx.Client, count: int) -> str:
    """Make a conversation of so many turns; return its id."""
    session: str = client.post("/api/chat/sessions", json={}).json()["id"]
    for number in range(1, count + 1):
        client.post(f"/api/chat/sessions/{session}/turns", json={"text": f"第 {number} 问"}).raise_for_status()
    return session


def questions(page: Screen) -> list[str]:
    return [text.partition(": ")[2] for text in page("article.turn h2.bubble").all_text_contents()]


def article(page: Screen, number: int) -> Locator:
    return page("article.turn").filter(has_text=f"第 {number} 问").last


def expected(first: int, last: int) -> list[str]:
    return [f"第 {number} 问" for number in range(first, last + 1)]


class TestTurns:
    def test_earlier_questions_come_with_the_button_and_by_scrolling(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            session = talk(world.server.client, 120)
            page.open(f"/#/s/{session}")
            page.page.reload()
            turns, earlier = page("article.turn"), page("button.earlier")
            expect(turns).to_have_count(50)
            expect(turns.last).to_contain_text("第 120 问")
            expect(turns.last).to_be_in_viewport()
            expect(earlier).to_have_text("更早的提问（70）")
            # What is read stays where it is.
            page(".scroller").evaluate("box => (box.scrollTop = 100)")
            first = article(page, 71)
            expect(first).to_be_in_viewport()
            before = first.evaluate(HEIGHT)
            earlier.dispatch_event("click")  # which does not scroll to the button first
            expect(turns).to_have_count(100)
            assert abs(first.evaluate(HEIGHT) - before) < 60
            expect(turns.last).not_to_be_in_viewport()
            # To its very top, as a reader does with the wheel.
            page(".scroller").hover()
            for _ in range(200):
                page.page.mouse.wheel(0, -4000)
                if turns.count() == 120:
                    break
                page.page.wait_for_timeout(50)
            expect(turns).to_have_count(120)
            expect(earlier).to_have_count(0)
            assert questions(page) == expected(1, 120)

    def test_they_stay_when_the_conversation_goes_on(self, chromium: Browser) -> None:
        gate = Gate()
        with PageWorld() as world, screen(chromium, world) as page:
            session = talk(world.server.client, 60)
            page.open(f"/#/s/{session}")
            page.page.reload()
            page("button.earlier").click()
            expect(page("article.turn")).to_have_count(60)
            world.model.script.append(Reply.text("开头", gate, "结尾"))
            page.send("第 61 问")
            expect(page.turn).to_contain_text("开头")
            with page.page.expect_response(f"**/api/chat/sessions/{session}"):
                page.page.evaluate("window.dispatchEvent(new Event('focus'))")
            gate.open()
            page.ended()
            # Asked elsewhere, and looked at again.
            world.server.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "第 62 问"})
            page.page.evaluate("window.dispatchEvent(new Event('focus'))")
            expect(page("article.turn")).to_have_count(62)
            assert questions(page) == expected(1, 62)

    def test_a_full_conversation_is_told_in_the_reader_s_language(self, chromium: Browser) -> None:
        with PageWorld(limits=StoreLimits(turns=1)) as world, screen(chromium, world) as page:
            page.ask("第 1 问")
            page.send("第 2 问")
            expect(page(".notice.error")).to_contain_text("这个会话已满")
            expect(page.turn.get_by_role("button", name="重试")).to_have_count(0)
            expect(page(".notice.error")).to_contain_text("请开始新对话")


class TestConversations:
    def test_more_of_the_history(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            for number in range(130):
                world.server.client.post("/api/chat/sessions", json={"title": f"会话 {number}"})
            page.page.reload()
            entries = page(".history li")
            expect(entries).to_have_count(100)
            more = page.page.get_by_role("button", name="更多会话")
            more.click()
            expect(entries).to_have_count(130)
            expect(more).to_have_count(0)
            page.page.get_by_role("searchbox").fill("会话 12")
            expect(entries).to_have_count(11)

    def test_near_the_limit_and_at_it(self, chromium: Browser) -> None:
        with PageWorld(limits=StoreLimits(sessions=2)) as world, screen(chromium, world) as page:
            hint = page(".history .hint[role=status]")
            page.ask("甲")
            expect(hint).to_have_count(0)
            page.page.get_by_role("button", name="新对话").click()
            page.ask("乙")
            expect(hint).to_contain_text("已有 2 个会话，最多保留 2 个")
            page.page.get_by_role("button", name="新对话").click()
            page.send("丙")
            expect(page(".notice.error")).to_contain_text("会话数已达上限")
            expect(page(".notice.error")).to_contain_text("没有删除任何内容")
            kept = world.server.client.get("/api/chat/sessions").json()
            assert {one["title"] for one in kept["sessions"]} == {"甲", "乙"}
            # The reader makes room, and asks again.
            page(
                ".history li",
            ).filter(has_text="甲").hover()
            page(".history li").filter(has_text="甲").locator(".remove").click()
            page.page.get_by_role("button", name="删除", exact=True).click()
            expect(page(".history li").filter(has_text="甲")).to_have_count(0)
            page.page.get_by_role("button", name="重试").click()
            expect(page.turn).to_contain_text("好的。")

    def test_where_the_oldest_make_room_the_reader_is_told(self, chromium: Browser) -> None:
        limits = StoreLimits(sessions=1, oldest_make_room=True)
        with PageWorld(limits=limits) as world, screen(chromium, world) as page:
            page.ask("甲")
            expect(page(".history .hint[role=status]")).to_contain_text("最早的会话会被自动删除")
            page.page.get_by_role("button", name="新对话").click()
            page.ask("乙")
            expect(page(".toast")).to_contain_text("最早的会话已删除：甲")
            expect(page(".history li")).to_have_count(1)
