"""A follow-up question on the page: what was searched for is shown, and can be put better."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.support.page_world import PageWorld, screen, with_own_browser
from tests.support.scripted_model import Asked, Reply

pytestmark = with_own_browser(__name__)
FIRST, SECOND, QUERY = "西安天气怎么样", "明天有雨吗", "西安明天有雨吗"


def answers(asked: Asked) -> Reply:
    return Reply.text(QUERY if str(asked.messages[-1]["content"]).endswith("查询：") else "可能有小雨[1]。")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_what_was_searched_for_is_shown_and_can_be_put_better(chromium: Browser, phone: bool) -> None:
    with PageWorld() as world, screen(chromium, world, phone=phone) as page:
        world.model.otherwise = answers
        page.turn_search_on()
        page.ask(FIRST)
        turn = page.ask(SECOND)
        line = turn.locator(".round")
        expect(line.locator(".round-query")).to_have_text(QUERY)
        line.locator(".why").click()
        expect(line.locator(".receipt")).to_contain_text(f"你问的是：{SECOND}")
        line.get_by_role("button", name="搜索的词").click()
        words = line.get_by_role("textbox", name="搜索的词")
        expect(words).to_have_value(QUERY)
        words.fill("西安 明天 降水概率")
        words.press("Enter")
        again = page("article.turn").last
        expect(again.locator(".round-query")).to_have_text("西安 明天 降水概率")
        expect(again.locator(".bubble")).to_contain_text(SECOND)
        expect(page("article.turn")).to_have_count(2)
        assert world.searches() == [FIRST, QUERY, "西安 明天 降水概率"]
