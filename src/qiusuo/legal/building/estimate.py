"""How much there is to import, told by a look at the beginning of the files, before any of it is done."""

from __future__ import annotations

import shutil
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from qiusuo.errors import InvalidQuery
from qiusuo.legal.building.importers import layout_of
from qiusuo.legal.building.prepared import CaseRow, prepared
from qiusuo.legal.index.ranking import tokens

SAMPLE: Final = 100
"""Judgments that are looked at."""
MUCH: Final = 20_000
"""From so many judgments on an import takes so long that one wants to know."""
# Measured beside what the sample takes: one that was parsed and cut into words once costs so much more to be ranked.
_WHOLE_WORK: Final = 3.0
_INDEX_SHARE: Final = 1.1
"""Of the packed texts: how much the ranking takes besides."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """About what an import will read and take; ``cpu_seconds`` of one core that has nothing else to do."""

    judgments: int
    cpu_seconds: float
    disk_bytes: int
    free_bytes: int


def estimated(files: Sequence[Path], root: Path) -> Estimate | None:
    """Return what importing the files will take; None where they hold few judgments, or something else."""
    large = max(files, key=lambda file: file.stat().st_size, default=None)
    layout = layout_of(large) if large is not None else None
    if large is None or layout is None:
        return None
    begun, packed, size, count = time.process_time(), 0, 0, 0
    try:
        for record in prepared(layout.parse, islice(layout.records(large, 0), SAMPLE)):
            if isinstance(record.read, CaseRow):
                packed += len(record.read.packed)
                text = zlib.decompress(record.read.packed).decode()
                tokens(text)
                size += len(zlib.compress(text.encode())) if large.suffix == ".gz" else len(text.encode())
                count += 1
    except InvalidQuery:
        return None
    if not count or not size:
        return None
    alike = [file for file in files if layout_of(file) is layout]
    judgments = round(sum(file.stat().st_size for file in alike) * count / size)
    if judgments < MUCH:
        return None
    spent = (time.process_time() - begun) / count * _WHOLE_WORK
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    disk = round(packed / count * judgments * (1 + _INDEX_SHARE))
    return Estimate(judgments, spent * judgments, disk, shutil.disk_usage(there).free)
