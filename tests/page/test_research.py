"""Research on the page: the button with its limits, the sub-questions as they go on, stopping, going on, documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, expect

from tests.support.page_world import PageWorld, screen, with_own_browser
from tests.support.research_world import PARTS, QUESTION, part_of, writer
from tests.support.scripted_model import Gate

pytestmark = with_own_browser(__name__)
HEADINGS = ".answer :is(h2, h3, h4)"


def text_of(download: Download) -> str:
    return Path(download.path()).read_text("utf-8")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_from_the_button_to_the_document(chromium: Browser, phone: bool) -> None:
    gate = Gate()
    with PageWorld(research_pages=0) as world, screen(chromium, world, phone=phone) as page:
        world.model.otherwise = writer(gate, PARTS[1])
        button = page.page.get_by_role("button", name="深入研究", exact=True)
        expect(button).to_have_attribute("aria-pressed", "false")
        limits = "最多 6 个子问题、12 次搜索、0 个网页、5 分钟"
        assert limits in (button.get_attribute("title") or ""), "told before it starts"
        button.click()
        expect(page(".research-limits")).to_contain_text(limits)
        page.send(QUESTION)
        steps = page.turn.locator(".step")
        expect(steps).to_have_count(3)
        expect(steps.nth(0)).to_contain_text("完成")
        expect(steps.nth(0)).to_contain_text("3 条结果")
        expect(steps.nth(0)).to_contain_text("秒")
        expect(steps.nth(1)).to_contain_text("正在撰写")
        expect(button).to_have_attribute("aria-pressed", "false")
        page.page.reload()  # it goes on, and is joined again
        expect(steps.nth(1)).to_contain_text("正在撰写")
        expect(page.turn.locator(HEADINGS)).to_have_text([PARTS[0]])
        page.page.get_by_role("button", name="停止").click()
        turn = page.ended()
        again = turn.get_by_role("button", name="继续")
        expect(again).to_be_visible()
        asked = len(world.model.requests)
        world.model.otherwise = writer()
        gate.open()
        again.click()
        expect(page.turn.locator(HEADINGS)).to_have_text([*PARTS, "小结"])
        turn = page.ended()
        assert [part_of(each) for each in world.model.requests[asked:]] == [PARTS[1], PARTS[2], ""]
        expect(page("article.turn")).to_have_count(1)
        expect(turn.get_by_role("button", name="继续")).to_have_count(0)
        for name, expected in (("导出 Markdown", f"# {QUESTION}"), ("导出网页", "@media print")):
            with page.page.expect_download() as saved:
                turn.get_by_role("button", name=name).click()
            assert expected in text_of(saved.value)
        # Put otherwise it is a research still.
        turn.locator(".question").hover()
        turn.get_by_role("button", name="编辑并重新发送").click()
        page.turn.locator(".edit textarea").press("Enter")
        expect(page.turn.locator(".step")).to_have_count(3)
        page.ended()
        width = page.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, "nothing stands over the edge"
