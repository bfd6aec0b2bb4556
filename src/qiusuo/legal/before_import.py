"""What a terminal says before an import begins: where an interrupted one was, and what a large one will take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qiusuo.legal.building.estimate import estimated
from qiusuo.legal.building.importers import files_under
from qiusuo.legal.building.staging import left_over
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.screen import say
from qiusuo.words import Fact


def tell_before(folder: IndexFolder, paths: Sequence[Path]) -> None:
    """Say what is known before the first file is read.

    Raises:
        InvalidQuery: a path holds nothing that can be read.
    """
    interrupted = left_over(folder)
    if interrupted is not None:
        counts = {"files": f"{interrupted.files:,}", "judgments": f"{interrupted.judgments:,}"}
        say(Fact("legal_import.goes_on", ranked=f"{interrupted.ranked:,}", **counts))
    found = [file for path in paths for file in files_under(path.expanduser().resolve())]
    estimate = estimated(found, folder.root)
    if estimate is not None:
        say(
            Fact(
                "legal_import.estimate",
                judgments=f"{round(estimate.judgments, -3):,}",
                minutes=max(1, round(estimate.cpu_seconds / 60)),
                disk=f"{estimate.disk_bytes / 1e9:.1f}",
                free=f"{estimate.free_bytes / 1e9:.0f}",
            )
        )
    if estimate is not None and estimate.disk_bytes > estimate.free_bytes:
        say(Fact("legal_import.little_room"))
