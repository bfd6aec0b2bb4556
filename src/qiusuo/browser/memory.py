"""How much memory processes use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_PROPORTIONAL: Final = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)
_PROC: Final = Path("/proc")


def used_megabytes(process_ids: Iterable[int]) -> float | None:
    """Return the memory of these processes together, shared parts counted once; None where the system does not tell.

    Only Linux does without another package. Elsewhere the limits on scripts and the recycling have to do.
    """
    sizes: list[int] = []
    for process_id in process_ids:
        try:
            found = _PROPORTIONAL.search((_PROC / str(process_id) / "smaps_rollup").read_text("ascii"))
        except OSError:
            continue
        if found:
            sizes.append(int(found[1]))
    return sum(sizes) / 1024 if sizes else None
