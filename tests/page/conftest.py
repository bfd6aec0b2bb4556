"""One Chromium for the tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.page_world import launch

# What is looked for comes as soon as it can; on a loaded machine that is not within Playwright's own 5 seconds.
expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
