"""What was imported, summed up: nobody reads a line for each of thousands of files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

MAX_SHOWN_FOLDERS = 20


class Source(Protocol):
    """A file with what came of it."""

    @property
    def path(self) -> str | Path: ...


S = TypeVar("S", bound=Source)


def by_folder(sources: Iterable[S]) -> dict[str, list[S]]:
    """Return files by the folders in which they lie; those of a deep tree by folders higher up."""
    known = [(Path(source.path).parent.parts, source) for source in sources]
    groups: dict[str, list[S]] = {}
    for depth in range(max((len(parts) for parts, _ in known), default=0), 0, -1):
        groups = {}
        for parts, source in known:
            groups.setdefault(str(Path(*parts[:depth])), []).append(source)
        if len(groups) <= MAX_SHOWN_FOLDERS:
            break
    return groups
