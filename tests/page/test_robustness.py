"""Reloads, lost connections, restarts, two tabs, tokens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.web.entrance import door
from tests.support.page_world import DESKTOP, PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)


def second_tab(first: Screen, path: str = "/") -> Screen:
    return Screen(first.page.context.new_page(), first.world).open(path)


def address(page: Screen) -> str:
    return page.page.url.removeprefix(page.world.url)


def test_a_reload_in_the_middle_of_an_answer_joins_it_again(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("前半，", gate, "后半。")) as world, screen(chromium, world) as page:
        page.send("重新加载")
        expect(page.turn.locator(".answer")).to_have_text("前半，")
        page.page.reload()
        expect(page.turn.locator(".answer")).to_have_text("前半，")
        expect(page.page.get_by_role("button", name="停止")).to_be_visible()
        gate.open()
        expect(page.ended().locator(".answer")).to_have_text("前半，后半。")
        expect(page("article.turn")).to_have_count(1)
        assert len(world.model.requests) == 1


def test_a_closed_tab_does_not_stop_the_answer(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("还在", gate, "写。")) as world, screen(chromium, world) as page:
        page.send("关掉")
        expect(page.turn.locator(".answer")).to_have_text("还在")
        where = address(page)
        page.page.goto("about:blank")
        gate.open()
        page.open(where)
        expect(page.ended().locator(".answer")).to_have_text("还在写。")


def test_a_lost_connection_is_taken_up_where_it_broke(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("一。", gate, "二。")) as world, screen(chromium, world) as page:
        # The first stream breaks off after its first bytes, as with a proxy that hangs up.
        page.page.add_init_script(
            """const real = fetch; let first = true; window.fetch = async (url, options) => {
              const answer = await real(url, options);
              if (!String(url).endsWith('/turns') || !first) return answer;
              first = false;
              const reader = answer.body.getReader(); let shown = '';
              return new Response(new ReadableStream({ async pull(control) {
                if (shown.includes('一。')) { control.error(new TypeError('network error')); reader.cancel(); return; }
                const { value } = await reader.read(); shown += new TextDecoder().decode(value); control.enqueue(value);
              } }), { headers: answer.headers });
            };"""
        )
        page.open()
        page.send("断线")
        expect(page.turn.locator(".answer")).to_have_text("一。")
        gate.open()
        expect(page.ended().locator(".answer")).to_have_text("一。二。")
        expect(page(".lost")).to_have_count(0)


def test_a_question_that_does_not_reach_the_server_can_be_sent_again(chromium: Browser, tmp_path: Path) -> None:
    with PageWorld(store=tmp_path / "chat.db") as world, screen(chromium, world) as page:
        page.ask("在线")
        port = world.stop()
        page.send("离线")
        expect(page.turn.locator(".notice")).to_contain_text("没有送达")
        world.start(port)
        page.page.evaluate("window.dispatchEvent(new Event('focus'))")
        page.page.wait_for_timeout(300)
        expect(page.turn.locator(".notice")).to_contain_text("没有送达")
        page.turn.get_by_role("button", name="重试").click()
        expect(page.turn.locator(".answer")).to_have_text("好的。")
        expect(page("article.turn")).to_have_count(2)
        page.ended()
        page.page.reload()
        expect(page("article.turn")).to_have_count(2)


def test_a_page_opened_before_the_server_waits_for_it(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.page.route("**/api/**", lambda route: route.abort())
        page.page.reload()
        expect(page(".welcome")).to_contain_text("无法连接服务器")
        page.page.unroute_all()
        expect(page(".examples button").first).to_be_visible()


def test_two_tabs_share_settings_and_turns(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("共", gate, "享")) as world, screen(chromium, world) as first:
        first.turn_search_on()
        second = second_tab(first, address(first))
        expect(second.switch).to_have_attribute("aria-checked", "true")
        first.choose("agent")
        expect(second.switch).to_be_disabled()
        second.choose("chat")
        expect(first.switch).to_be_enabled()
        second.send("两个标签页")
        expect(first.turn.locator(".answer")).to_have_text("共")
        gate.open()
        for tab in (first, second):
            expect(tab.ended().locator(".answer")).to_have_text("共享")
            expect(tab("article.turn")).to_have_count(1)
            expect(tab(".history li")).to_have_count(1)


def test_one_question_at_a_time_over_two_tabs(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("第一", gate, "个")) as world, screen(chromium, world) as first:
        first.turn_search_on()
        second = second_tab(first, address(first))
        first.send("先来")
        for tab in (first, second):
            expect(tab.turn.locator(".answer")).to_have_text("第一")
        # Asked past the page, as a tab that has not heard yet would.
        session = re.sub(r".*/s/", "", first.page.url)
        refused = world.server.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "后到"})
        assert refused.status_code == 409
        gate.open()
        first.ended()


def test_switching_conversations_while_one_is_answered(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("慢", gate, "慢"), Reply.text("快")) as world, screen(chromium, world) as page:
        page.send("慢的问题")
        expect(page.turn.locator(".answer")).to_have_text("慢")
        page.page.get_by_role("button", name="新对话").click()
        expect(page(".welcome")).to_be_visible()
        expect(page(".history .pulse")).to_have_count(1)
        page.ask("快的问题")
        expect(page.turn.locator(".answer")).to_have_text("快")
        page.page.get_by_role("link", name=re.compile("慢的问题")).click()
        expect(page.turn.locator(".answer")).to_have_text("慢")
        gate.open()
        expect(page.ended().locator(".answer")).to_have_text("慢慢")
        page.page.go_back()
        expect(page.turn.locator(".answer")).to_have_text("快")


def test_a_conversation_that_is_gone(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.open("/#/s/nothing-here")
        expect(page(".toast.error")).to_have_text("这个会话已不存在。")
        page.ask("照常")


def test_what_was_being_written_survives_a_reload(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page("#question").fill("写到一半")
        page.page.reload()
        expect(page("#question")).to_have_value("写到一半")


def test_reading_further_up_is_not_disturbed(chromium: Browser) -> None:
    gate = Gate()
    text = "一段很长的话。\n\n" * 80
    with PageWorld(Reply.text(text, gate, text)) as world, screen(chromium, world) as page:
        place = "document.querySelector('.scroller').scrollTop"
        page.send("长")
        gate.was_reached.wait(5)
        expect(page.turn.locator(".answer p")).to_have_count(80)
        page.page.wait_for_timeout(200)
        left = "(e => e.scrollHeight - e.scrollTop - e.clientHeight)(document.querySelector('.scroller'))"
        assert page.page.evaluate(left) < 5, "it follows the end"
        page.page.evaluate(f"{place} = 100")
        expect(page.page.get_by_role("button", name="回到最新")).to_be_visible()
        gate.open()
        page.turn.locator(".turn-foot").wait_for(state="attached")
        assert page.page.evaluate(place) == 100
        page.page.get_by_role("button", name="回到最新").click()
        assert page.page.evaluate(left) < 5


@pytest.mark.parametrize("guessed", [False, True], ids=["", "while others guess"])
def test_a_server_with_tokens_asks_for_one(chromium: Browser, guessed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if guessed:  # every wrong token is one too many
        monkeypatch.setattr(door, "AT_ONCE", 0)
        monkeypatch.setattr(door, "MOST", 0)
    with PageWorld(tokens=["alice:tok-alice-0123456789"]) as world:
        context = chromium.new_context(viewport=DESKTOP, locale="zh-CN")
        page = Screen(context.new_page(), world)
        page.page.goto(world.url)
        dialog = page.page.get_by_role("dialog", name="访问令牌")
        expect(dialog).to_be_visible()
        dialog.get_by_label("访问令牌").fill("wrong")
        dialog.get_by_role("button", name="进入").click()
        expect(dialog).to_contain_text("令牌不正确")
        dialog.get_by_label("访问令牌").fill("tok-alice-0123456789")
        dialog.get_by_role("button", name="进入").click()
        expect(dialog).to_have_count(0)
        page.turn_search_on()
        page.ask("有令牌")
        assert world.searches() == ["有令牌"]
        # Kept for this tab only.
        page.page.reload()
        expect(page("article.turn")).to_have_count(1)
        other = context.new_page()
        other.goto(world.url)
        expect(other.get_by_role("dialog")).to_be_visible()
        assert page.outside == []
        context.close()
