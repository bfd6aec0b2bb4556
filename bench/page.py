"""The chat page in a real browser: 2000 tokens at full speed, its weight, and a long conversation."""

from __future__ import annotations

from bench.table import Report

RUNS = 5
CPU_MS = 1.0
LAST_MS = 150.0
WEIGHT_KB = 130


def measure() -> Report:
    """Run everything and report."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - needs the tests' modules

    from tests.support.chromium import chrome_problem  # noqa: PLC0415
    from tests.support.page_speed import TOKENS, measure_stream, page_weight  # noqa: PLC0415
    from tests.support.page_world import PageWorld, launch, screen  # noqa: PLC0415

    report = Report(
        "Chat page",
        f"The page in headless Chromium, over the real server, loopback engines and a scripted model that sends "
        f"{TOKENS} tokens (headings, lists, code, tables, citations) at full speed. Processor time is that of the "
        f"page's main thread, for everything from the question to the finished answer; best of {RUNS}.",
    )
    if problem := chrome_problem():
        report.add("not measured", problem)
        return report
    with sync_playwright() as playwright, PageWorld() as world:
        browser = launch(playwright)
        with screen(browser, world) as page:
            weight = page_weight(page) / 1000
            page.turn_search_on()
            speeds = []
            for _ in range(RUNS):
                speeds.append(measure_stream(page, world))
                page.page.locator(".new-chat").click()
        browser.close()
    cpu = min(speed.cpu_ms_per_token for speed in speeds)
    last = min(speed.last_text_ms for speed in speeds)
    report.add("browser time per token", f"{cpu:.2f} ms", "", f"at most {CPU_MS:.0f} ms", met=cpu <= CPU_MS)
    report.add("last token to screen", f"{last:.0f} ms", "", f"at most {LAST_MS:.0f} ms", met=last <= LAST_MS)
    report.add("page, transferred", f"{weight:.0f} KB", "", f"under {WEIGHT_KB} KB", met=weight < WEIGHT_KB)
    return report
