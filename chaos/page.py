"""docs/scaling-measured.md: each program writes its own part of it, between marks."""

from __future__ import annotations

import os
import platform
import re
import time
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


def machine() -> str:
    """Return when and on what was measured."""
    day = time.strftime("%Y-%m-%d")
    return (
        f"{day}, Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
