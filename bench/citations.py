"""Citations: streaming links, the support check, canonical addresses. CPU time, best of several runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.table import Report
from qiusuo.citations import CitationProcessor, add_citations, check_support
from qiusuo.models import SearchResultItem
from qiusuo.urls import canonical_url

CHUNK = 4
SMALL, LARGE = 100_000, 1_000_000
TEXTS = {
    "usual answer": (
        "根据最新报道[1]，Paris is the capital of France [2][3]。更多内容见 `code[1]` 与 [link](https://a.b/c)。\n\n"
        "- 列表项目 **加粗** [1-3]，以及【4】和[^5]。\n\n```python\nx = a[1]\n```\n\n"
    ),
    "prose without markers": "这是一段没有引用的普通文字。Some plain words here, and more. ",
    "hostile: open brackets": "[",
    "hostile: markers in open brackets": "[a[1]",
    "hostile: open backticks": "` `` ``` ```` [1] ",
    "hostile: broken links": "[1](a",
    "hostile: open tags": "<a [1] ",
}
SOURCES = Path(__file__).parents[1] / "eval" / "citations" / "tune.jsonl"
GOAL_MS = 5.0


def measure() -> Report:
    report = Report(
        "Citations",
        f"Text streamed in pieces of {CHUNK} characters; growth is the time for 1,000,000 characters over that for "
        "100,000 (10 is linear). The check is of an answer with 20 cited sentences and 10 sources.",
    )
    processor = CitationProcessor([SearchResultItem(f"T{n}", f"https://s{n}.cn/", "") for n in range(1, 6)])
    for name, unit in TEXTS.items():
        small, large = ((unit * (size // len(unit) + 1))[:size] for size in (SMALL, LARGE))
        first, second = best(partial(stream, processor, small), 3), best(partial(stream, processor, large), 1)
        growth = second / first
        report.add(f"stream, {name}", f"{second:.2f} s per million", f"growth {growth:.1f}x", "< 15x", met=growth < 15)
    for language in ("zh", "en"):
        add_checks(report, language)
    addresses = [
        "https://www.Example.com/a/?utm_source=x&b=2&a=1#top",
        "https://例え.jp/路径?q=中文",
        "http://a.cn/",
    ] * 500
    spent = best(partial(canonicalise, addresses), 5) / len(addresses)
    report.add("canonical_url", f"{spent * 1e6:.1f} µs")
    return report


def add_checks(report: Report, language: str) -> None:
    rows = [json.loads(line) for line in SOURCES.read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if row["lang"] == language][:10]
    processor = CitationProcessor(
        [SearchResultItem(row["title"], f"https://s.cn/{row['id']}", row["source"]) for row in chosen]
    )
    claims = [(claim["text"].rstrip("。."), n) for n, row in enumerate(chosen, 1) for claim in row["claims"][:2]]
    answer = "".join(f"{text}[{number}]。\n" for text, number in claims)
    pages = {number: "\n".join(row["source"] for row in rows) for number in range(1, len(chosen) + 1)}
    spent = best(partial(check_support, answer, processor), 30) * 1e3
    report.add(f"check {language}, snippets", f"{spent:.1f} ms", goal=f"< {GOAL_MS:.0f} ms", met=spent < GOAL_MS)
    spent = best(partial(check_support, answer, processor, pages), 3) * 1e3
    report.add(f"check {language}, pages of {len(pages[1]):,} characters", f"{spent:.0f} ms")
    uncited = "".join(f"{text}。\n" for text, _ in claims)
    report.add(f"add citations {language}", f"{best(partial(add_citations, uncited, processor), 10) * 1e3:.1f} ms")


def best(run: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return min(seconds)


def stream(processor: CitationProcessor, text: str) -> None:
    converter = processor.stream()
    for start in range(0, len(text), CHUNK):
        converter.feed(text[start : start + CHUNK])
    converter.finish()


def canonicalise(addresses: list[str]) -> None:
    for address in addresses:
        canonical_url(address)
