"""axe finds nothing, and the keyboard is enough."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.testing import Fault
from tests.support.page_world import PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Call, Reply

AXE = Path(__file__).parents[2] / "scripts" / "vendor" / "node_modules" / "axe-core" / "axe.min.js"
with_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="NO AXE, NOT TESTED: run 'npm ci' in scripts/vendor (scripts/setup.py --test does)"
)
pytestmark = with_own_browser(__name__)

SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

ANSWER = """# 主要变化

Python 3.14 于 2025 年 10 月 7 日发布[1]，发布于 1999 年[2]。

#### 跳级的标题

| 特性 | 状态 |
| --- | --- |
| 自由线程 | 正式支持 [2] |

```python
print("代码")  # 注释
```

> 引文，以及 [链接](https://example.org/)。
"""


def violations(page: Screen) -> list[str]:
    """What axe finds in what is shown now, in light and in dark colours."""
    if not page.page.evaluate("'axe' in window"):
        page.page.evaluate(AXE.read_text(encoding="utf-8"))
    told = []
    for scheme in SCHEMES:
        page.page.emulate_media(color_scheme=scheme)
        page.page.wait_for_timeout(150)
        found = page.page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)")
        told += [
            f"{scheme}: {one['id']}: {node['target']} {node['failureSummary']}"
            for one in found
            for node in one["nodes"]
        ]
    return told


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_axe_finds_nothing(chromium: Browser, phone: bool) -> None:
    script = (
        Reply.text(ANSWER),
        Reply.text("没有联网。"),
        Reply.tools(Call("web_search", {"query": "甲"})),
        Reply.tools(Call("web_search", {"query": "乙"})),
        Reply.text(ANSWER),
    )
    with PageWorld(*script) as world, screen(chromium, world, phone=phone) as page:
        assert violations(page) == [], "start"
        page.turn_search_on()
        turn = page.ask("回答")
        turn.get_by_role("button", name="为什么用这个引擎").click()
        turn.locator("a.cite").first.focus()
        expect(page("#cite-card")).to_be_visible()
        assert violations(page) == [], "answer with card"
        world.engine().fault = Fault.RESET
        page.ask("通知")
        assert violations(page) == [], "notice"
        world.engine().fault = None
        page.choose("agent")
        page.ask("智能体")
        assert violations(page) == [], "agent"
        if phone:
            page("#drawer-button").click()
        page(".more summary").click()
        assert violations(page) == [], "sidebar"


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_nor_on_law_cards(chromium: Browser, phone: bool) -> None:
    answer = Reply.text("违约责任见[1]，旧法见[2]，解释见[3]。")
    with PageWorld(answer) as world, screen(chromium, world, phone=phone) as page:
        page.turn_search_on()
        page.ask("不履行合同怎么办？")
        page.show_laws()
        for number, badge in enumerate(("现行有效", "已废止", "尚未生效"), start=1):
            expect(page.open_source(number).locator(".badge")).to_have_text(badge)
            assert violations(page) == []
            page.close_source()


@with_axe
def test_the_docs_too(chromium: Browser) -> None:
    found = {}
    with PageWorld() as world, screen(chromium, world) as page:
        for path in ("/docs", "/docs/troubleshooting?lang=zh", "/docs/api"):
            page.page.goto(world.url + path)
            found[path] = violations(page)
    assert not any(found.values()), found


def test_setting_up_is_accessible(chromium: Browser) -> None:
    if not AXE.is_file():
        pytest.skip("NO AXE, NOT TESTED")
    with PageWorld(engines=()) as world, screen(chromium, world) as page:
        expect(page(".setup")).to_be_visible()
        assert violations(page) == []


def test_a_whole_turn_with_the_keyboard_alone(chromium: Browser) -> None:
    with PageWorld(Reply.text("见[1]。"), Reply.text("改过了")) as world, screen(chromium, world) as page:
        keys = page.page.keyboard

        def focused() -> str:
            return str(page.page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))

        def tab_to(words: str, most: int = 40) -> None:
            for _ in range(most):
                keys.press("Tab")
                if words in focused() or words in str(page.page.evaluate("document.activeElement.textContent")):
                    return
            raise AssertionError(f"{words} is not reached by Tab")

        tab_to("跳到对话", 1)
        tab_to('role="switch"')
        keys.press("Space")
        expect(page.switch).to_have_attribute("aria-checked", "true")
        tab_to('id="question"')
        keys.type("键盘")
        keys.press("Enter")
        page.ended()
        assert world.searches() == ["键盘"]
        assert 'id="question"' in focused(), "the next question can be typed at once"
        keys.press("Shift+Tab")
        for _ in range(20):
            if "cite" in focused():
                break
            keys.press("Shift+Tab")
        expect(page("#cite-card")).to_be_visible()
        keys.press("Escape")
        expect(page("#cite-card")).to_have_count(0)
        # The first Tab of a page leads past the sidebar.
        page.page.reload()
        expect(page("#question")).to_be_visible()
        tab_to("跳到对话", 1)
        keys.press("Enter")
        assert 'id="question"' in focused()
        # Mode by arrow keys.
        page("input[value=chat]").focus()
        keys.press("ArrowRight")
        expect(page.switch).to_be_disabled()


def test_the_drawer_of_a_phone_by_keyboard(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world, phone=True) as page:
        page("#drawer-button").focus()
        page.page.keyboard.press("Enter")
        expect(page(".sidebar")).to_be_visible()
        assert page.page.evaluate("document.activeElement.closest('.sidebar') !== null")
        page.page.keyboard.press("Escape")
        expect(page(".sidebar")).to_have_count(0)
        assert page.page.evaluate("document.activeElement.id") == "drawer-button"


def test_headings_are_in_order(chromium: Browser) -> None:
    with PageWorld(Reply.text(ANSWER)) as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.ask("标题")
        levels = page.page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((e) => Number(e.localName[1]))"
        )
        assert levels[0] == 1
        assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
