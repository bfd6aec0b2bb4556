"""The documents as tests read them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


PAIRS = (("README.md", "README.zh-CN.md"), ("docs/usage.md", "docs/usage.zh-CN.md"))


CONTRIBUTING = ("CONTRIBUTING.md", "CONTRIBUTING.zh-CN.md")


WITH_EXAMPLES = [name for pair in PAIRS for name in pair]


PAGES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("*.md", "docs/**/*.md", ".github/**/*.md")
    for path in ROOT.glob(folder)
    if path.stat().st_size
)


FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """Return the fenced blocks of a language with the line on which each begins."""
    text = text_of(page)
    return [
        (text.count("\n", 0, found.start(2)) + 1, found[2]) for found in FENCE.finditer(text) if found[1] == language
    ]


def file_name(block: str) -> str | None:
    """Return the name of the file that an example shows, if its first line says so."""
    found = re.match(r"# ([\w/]+\.py)\n", block)
    return found[1] if found else None
