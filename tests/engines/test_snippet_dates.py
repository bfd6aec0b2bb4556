"""The dates before snippets, on pages made up in the shapes of the sites and on real ones."""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qiusuo.engines import baidu, bing_web, google
from qiusuo.engines.snippet_dates import read_date, split_date

NOW = datetime(2026, 11, 16, 12, 30, tzinfo=UTC)
REAL_PAGES = Path(__file__).parents[3] / "shared" / "serp"
READERS = {"google": google.parse_results, "bing": bing_web.parse_results, "baidu": baidu.parse_results}


@pytest.mark.parametrize(
    ("before", "moment"),
    [
        ("May 3, 2024 — ", "2024-05-03"),
        ("3 May 2024 ... ", "2024-05-03"),
        ("3 May 2024 … ", "2024-05-03"),
        ("Sept. 5, 2023 · ", "2023-09-05"),
        ("December 16, 2025—", "2025-12-16"),
        ("2024年5月3日 — ", "2024-05-03"),
        ("2024 年 5 月 3 日 · ", "2024-05-03"),
        ("5月3日 · ", "2026-05-03"),
        ("12月3日 · ", "2025-12-03"),
        ("2024年5月3日 10:30 - ", "2024-05-03"),
        ("2024-05-03 - ", "2024-05-03"),
        ("20.08.2025—", "2025-08-20"),
        ("3 days ago — ", "2026-11-13"),
        ("a day ago · ", "2026-11-15"),
        ("2 weeks ago — ", "2026-11-02"),
        ("14 hours ago — ", "2026-11-15T22:30:00+00:00"),
        ("5 mins ago · ", "2026-11-16T12:25:00+00:00"),
        ("Yesterday — ", "2026-11-15"),
        ("9 months ago — ", "2026-02-16"),
        ("2天前 — ", "2026-11-14"),
        ("3 天之前 · ", "2026-11-13"),
        ("2 週前 — ", "2026-11-02"),
        ("3 小時前 — ", "2026-11-16T09:30:00+00:00"),
        ("1个月前 — ", "2026-10-16"),
        ("昨天 · ", "2026-11-15"),
    ],
)
def test_date_is_read_and_taken_off(before: str, moment: str) -> None:
    assert split_date(f"{before}Text — with more.", NOW) == (moment, "Text — with more.")


@pytest.mark.parametrize(
    "snippet",
    [
        "",
        "May 3, 2024 was a Friday.",
        "May 3, 2024 – May 5, 2024 · Berlin",
        "2024年5月3日，公司宣布。",
        "2024年5月3日-5月5日举行。",
        "2026年2月4日起施行",
        "Feb 30, 2024 — no such day",
        "May 3, 2031 — a day to come",
        "1 · a territory",
        "April 2023 · Sat Apr. 22.",
        "Today we look at dates — in short.",
        "5 days ago we met — by chance.",
    ],
)
def test_text_that_only_begins_so_stays_whole(snippet: str) -> None:
    assert split_date(snippet, NOW) == (None, snippet)


def test_last_of_a_longer_month_is_the_last_of_a_shorter_one() -> None:
    assert read_date("1 month ago", datetime(2026, 3, 31, tzinfo=UTC)) == "2026-02-28"


def test_real_pages() -> None:
    if not REAL_PAGES.is_dir():
        pytest.skip(f"NOT TESTED: the real result pages are not here ({REAL_PAGES})")
    dated, left = 0, []
    begins = re.compile(r"(?:[A-Z][a-z]{2} \d{1,2}, 20\d\d|20\d\d年\d+月\d+日|\d+ \w+ ago)\s*[—·]")
    for page in json.loads((REAL_PAGES / "manifest.json").read_text("utf-8")):
        if page["kind"] == "serp" and page["engine"] in READERS:
            text = gzip.decompress((REAL_PAGES / page["file"]).read_bytes()).decode()
            items = READERS[page["engine"]](text, now=NOW)
            dated += sum(1 for item in items if item.published_at)
            left += [item.snippet for item in items if begins.match(item.snippet)]
    assert left == []
    assert dated >= 65
