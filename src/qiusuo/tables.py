"""Tables of facts that come with the package: columns between tabs, one of which says where a line comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

SOURCE: Final = "source"


def read_table(path: Path) -> Iterator[Mapping[str, str]]:
    """Give out the lines of a table by the names in its first one. Blank lines and remarks (#) do not count.

    Raises:
        ValueError: a line has other columns than the first, or the table does not say where its lines come from.
    """
    lines = (line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    names = next(lines, "").split("\t")
    if SOURCE not in names:
        raise ValueError(f"{path.name} has no column {SOURCE}")
    for line in lines:
        columns = line.split("\t")
        if len(columns) != len(names):
            raise ValueError(f"{path.name}: {line[:40]!r} has {len(columns)} columns, not {len(names)}")
        yield dict(zip(names, columns, strict=True))
