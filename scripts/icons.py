"""Draw the icons of the installed page out of ``icon.svg``, with the Chromium of the tests.

python scripts/icons.py        writes icon-192.png, icon-512.png and icon-maskable-512.png beside it
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from qiusuo.web.static.install import THEME
from tests.support.page_world import launch

PAGE = Path(__file__).resolve().parents[1] / "src" / "qiusuo" / "web" / "static" / "page"
# Of a maskable icon only the inner circle, of 80 % of the width, is sure to be seen.
MASKABLE_SHARE = 0.8


def main() -> None:
    """Draw all icons."""
    drawing = (PAGE / "icon.svg").read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        for name, size, share in (
            ("icon-192", 192, 1.0),
            ("icon-512", 512, 1.0),
            ("icon-maskable-512", 512, MASKABLE_SHARE),
        ):
            page.set_viewport_size({"width": size, "height": size})
            back = THEME if share < 1 else "transparent"
            style = f"html,body{{margin:0;height:100%;background:{back}}}body{{display:grid;place-items:center}}"
            shown = f"svg{{display:block;width:{size * share}px;height:{size * share}px}}"
            page.set_content(f"<style>{style}{shown}</style>{drawing}")
            page.screenshot(path=PAGE / f"{name}.png", omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
