"""Which sites a person has answered, and when: kept beside the cookies that they gave for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

SOLVED: Final = "solved"


def solved_hosts(cookies_file: Path | None) -> dict[str, float]:
    """Return the hosts that a person has answered, with the moment in seconds since the epoch."""
    if cookies_file is None:
        return {}
    try:
        kept: Any = json.loads(cookies_file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # whoever uses the cookies themselves tells of a file that is spoilt
    found = kept.get(SOLVED) if isinstance(kept, dict) else None
    entries = found.items() if isinstance(found, dict) else ()
    return {host: float(moment) for host, moment in entries if isinstance(moment, (int, float))}


def host_of(url: str) -> str:
    """Return the host of an address, with its port where it has one."""
    return urlsplit(url).netloc.rpartition("@")[2]
