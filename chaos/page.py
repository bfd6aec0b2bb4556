"""docs/scaling-measured.md: each program writes its own part of it, between marks."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "scaling-measured.md"


def keep(part: str, text: str) -> None:
    """Put a text in the place of what a part of the page was."""
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    page = PAGE.read_text("utf-8")
    whole = f"{begin}\n{text.strip()}\n{end}"
    replaced, count = re.subn(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: whole, page, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{PAGE} has no place for {part}")
    PAGE.write_text(replaced, "utf-8")


def renew(part: str, sections: Sequence[str]) -> None:
    """Put texts in the place of single sections of a part, by their headings; those that it has not are added."""
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    before = PAGE.read_text("utf-8").partition(begin)[2].partition(end)[0].strip()
    head, *kept = re.split(r"\n(?=### )", before)
    texts = {text.partition("\n")[0]: text.strip() for text in kept} | {
        text.partition("\n")[0]: f"{text}\n\nMeasured {machine()}." for text in sections
    }
    keep(part, "\n\n".join([head.strip(), *texts.values()]))


def machine() -> str:
    """Return when and on what was measured."""
    day = time.strftime("%Y-%m-%d")
    return (
        f"{day}, Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
