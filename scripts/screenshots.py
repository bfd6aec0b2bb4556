"""Make the pictures of the chat page: the real server, loopback engines, a scripted model, Chromium.

    python scripts/screenshots.py       writes docs/images/page-*.png

Needs Chromium, and for Chinese a font that has it (Debian: fonts-noto-cjk, fonts-noto-color-emoji).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from qiusuo.testing import Fault  # noqa: E402
from tests.support.page_world import PAGES, PageWorld, Screen, launch, screen, show  # noqa: E402
from tests.support.scripted_model import Call, Reply  # noqa: E402

QUESTION = "Python 3.14 有什么新变化？"
ANSWER = """## Python 3.14 的主要变化

Python 3.14 于 2025 年 10 月 7 日发布[1]。**自由线程**构建不再是实验性的，转为正式支持，但仍然是可选的[2]。

| 特性 | PEP | 说明 |
| --- | --- | --- |
| 自由线程 | 779 | 转为正式支持，仍然可选 [2] |
| 模板字符串 | 750 | f 字符串的推广 [3] |

```python
name = "世界"
template = t"你好 {name}"  # 模板字符串，交给自己的函数处理
```
"""
ROUND_TWO = (
    {
        "title": "Python 对自由线程的支持",
        "url": "https://docs.python.org/zh-cn/3.14/howto/free-threading-python.html",
        "snippet": "从 3.13 起，CPython 可以在禁用全局解释器锁的情况下构建。自由线程模式的单线程性能损失约为 5-10%。",
        "date": "2025-10-07",
    },
)
AGENT_ANSWER = """自由线程构建从 Python 3.14 起转为正式支持，但仍然是可选的[2]。单线程性能损失约为 5-10%[4]。

- 模板字符串由 PEP 750 引入[3]
- Python 3.14 于 2025 年 10 月 7 日发布[1]
"""


def main() -> int:
    """Take all pictures."""
    fonts = shutil.which("fc-list") and subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False).stdout
    if not fonts:
        print("No font here has Chinese characters: install fonts-noto-cjk and fonts-noto-color-emoji.")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder)
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for take in (chat, agent, notice):
                take(browser)
            browser.close()
    return 0


def keep(page: Screen, name: str) -> None:
    """Write one picture, small."""
    page.page.wait_for_timeout(2700)  # the confirmations have gone
    path = IMAGES / f"page-{name}.png"
    page.page.screenshot(path=path)
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--ext", ".png", "--speed", "1", "128", str(path)], check=False)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} KB")


def top(page: Screen) -> None:
    """Scroll to the last question."""
    page.turn.evaluate("e => e.scrollIntoView({ block: 'start' })")


def chat(browser: Browser) -> None:
    """An answer with its citations: desktop, dark in English, phone."""
    with PageWorld(Reply.text(ANSWER)) as world:
        with screen(browser, world) as page:
            page.turn_search_on()
            page.ask(QUESTION)
            top(page)
            page.turn.locator("a.cite").nth(1).hover()
            keep(page, "chat")
            where = page.page.url.removeprefix(world.url)
        with screen(browser, world, color_scheme="dark", locale="en") as page:
            page.open(where).ended()
            top(page)
            keep(page, "dark")
        with screen(browser, world, phone=True) as page:
            page.open(where).ended()
            top(page)
            keep(page, "phone")


def agent(browser: Browser) -> None:
    """Two rounds of searching."""
    with PageWorld() as world, screen(browser, world) as page:

        def elsewhere(_asked: object) -> Reply:
            show(world.engine(), ROUND_TWO)
            return Reply.tools(Call("web_search", {"query": "自由线程 单线程性能 损失"}))

        show(world.engine(), PAGES)
        first = Reply.tools(Call("web_search", {"query": "Python 3.14 自由线程 正式支持"}))
        world.model.add(first, elsewhere, Reply.text(AGENT_ANSWER))
        page.choose("agent")
        page.ask("Python 3.14 的自由线程值得用吗？")
        top(page)
        keep(page, "agent")


def notice(browser: Browser) -> None:
    """A search that fails."""
    words = "（未联网）根据已有知识：Python 3.14 带来了模板字符串，并正式支持自由线程构建。"
    with PageWorld(Reply.text(words)) as world, screen(browser, world) as page:
        page.turn_search_on()
        world.engine().fault = Fault.RESET
        page.ask(QUESTION)
        top(page)
        keep(page, "notice")


if __name__ == "__main__":
    sys.exit(main())
