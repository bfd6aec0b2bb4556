"""Conversations on the page over a web of their own: follow-ups find the right pages, which are read and shown."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.support import conversations
from tests.support.page_world import PageWorld, screen, with_own_browser

pytestmark = with_own_browser(__name__)


@pytest.mark.parametrize(
    ("phone", "said"), [(False, conversations.CHINESE), (True, conversations.ENGLISH)], ids=["chinese", "english-phone"]
)
def test_a_conversation_of_five_turns(chromium: Browser, phone: bool, said: tuple[tuple[str, str], ...]) -> None:
    with PageWorld(engines=("small",), without_model=True) as world, screen(chromium, world, phone=phone) as page:
        expect(page.switch).to_have_attribute("aria-checked", "true")  # without a model there is nothing else
        for question, expected in said:
            expect(page.ask(question).locator(".answer")).to_contain_text(expected)


def test_what_was_read_is_shown(chromium: Browser) -> None:
    with PageWorld(engines=("small",), without_model=True) as world, screen(chromium, world) as page:
        turn = page.ask("云岭大桥的主跨有多长")
        line = turn.locator(".round").nth(1)
        expect(line).to_contain_text("读了 3 个网页")
        line.get_by_role("button", name="哪些网页").click()
        expect(line.locator(".pages li").first).to_contain_text("已用到")
        opened = page.open_source()
        expect(opened.locator("blockquote").first).to_contain_text("主跨长1196米")
        expect(opened).to_contain_text("已读网页")
        page.close_source()
        # What nothing answers is told as such, and sources that differ are told.
        expect(page.ask("云岭大桥的油漆是哪家工厂生产的").locator(".answer")).to_contain_text(
            "没有搜到能回答这个问题的内容"
        )
        differing = page.ask("云岭大桥哪一天正式通车").locator(".answer")
        expect(differing).to_contain_text("来源说法似乎不一")
        expect(differing).to_contain_text("2021年9月2日")
        # The choice of snippets alone is kept, and nothing is read.
        page.page.get_by_text("更多", exact=True).click()
        page.page.get_by_label("阅读深度").select_option("snippets")
        expect(page.page.get_by_label("阅读深度")).to_have_value("snippets")
        expect(page.ask("青石隧道全长多少米").locator(".round")).to_have_count(1)
        page.page.reload()
        expect(page("article.turn").first.locator(".round").nth(1)).to_contain_text("读了 3 个网页")


def test_who_runs_the_server_is_told_how_a_port_is_opened(chromium: Browser) -> None:
    closed: dict[str, Any] = {"engines": ("small",), "without_model": True, "read_private": ()}
    with PageWorld(**closed) as world, screen(chromium, world) as page:
        line = page.ask("云岭大桥的主跨有多长").locator(".round").nth(1)
        line.get_by_role("button", name="哪些网页").click()
        expect(line.locator(".pages li").first).to_contain_text(
            f"在 QIUSUO_READ_PRIVATE 中加入 {urlsplit(world.engine('small').url).netloc}"
        )
        # Others can do nothing about it.
        page.page.set_extra_http_headers({"X-Forwarded-For": "192.0.2.1"})
        page.page.reload()
        line.get_by_role("button", name="哪些网页").click()
        expect(line.locator(".pages li").first).to_contain_text("不允许使用端口")
        expect(line).not_to_contain_text("QIUSUO_READ_PRIVATE")
