"""What stands beside a law's Markdown file: the title page of a law split over files, and a collection's own index."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qiusuo.legal.building.importers.lines import read_lines
from qiusuo.legal.models import LawKind
from qiusuo.legal.reading.names import name_key

TITLE_PAGE: Final = "README.md"
_INDEX: Final = "db.sqlite3"
_MAX_HEIGHT: Final = 5
_MAX_TITLE_LINES: Final = 200
# Folders of collections that say what kind of law lies in them.
_KINDS: Final = {
    "行政法规": LawKind.REGULATION,
    "司法解释": LawKind.JUDICIAL_INTERPRETATION,
    "部门规章": LawKind.RULE,
    "地方性法规": LawKind.LOCAL,
}
_TITLE = re.compile(r"^#\s+(.+?)\s*#*$")


@dataclass(frozen=True, slots=True)
class TitlePage:
    """The page that names a law whose parts lie in files beside it."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """What a collection's index says of one version of a law. ``expired``: repealed, or replaced by a newer version."""

    published: str
    effective: str
    expired: bool


def title_page(path: Path) -> TitlePage | None:
    """Return the title page of the folder in which a part of a law lies."""
    page = path.with_name(TITLE_PAGE)
    if page == path or not page.is_file():
        return None
    lines = [line.text or "" for line, _ in zip(read_lines(page), range(_MAX_TITLE_LINES), strict=False)]
    title = next((match[1] for line in lines if (match := _TITLE.match(line))), "")
    return TitlePage(title, tuple(lines)) if title else None


def kind_by_folder(path: Path) -> LawKind | None:
    """Return the kind of law that a folder above a file names."""
    return next((kind for part in reversed(path.parent.parts[-_MAX_HEIGHT:]) if (kind := _KINDS.get(part))), None)


def listed(path: Path, name: str, published: str) -> Listed | None:
    """Return what the index of the collection around a file says of a law; None where there is none."""
    for folder in path.parents[:_MAX_HEIGHT]:
        index = folder / _INDEX
        if index.is_file():
            return _look_up(index, name, published)
    return None


def is_index(path: Path) -> bool:
    """Tell whether a file is such an index, which holds no texts."""
    return path.name == _INDEX


def _look_up(index: Path, name: str, published: str) -> Listed | None:
    try:
        with closing(sqlite3.connect(f"{index.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            rows = database.execute(
                "SELECT name, publish, valid_from, expired FROM law WHERE publish = ? OR ? = ''", (published, published)
            ).fetchall()
    except sqlite3.Error:
        return None
    key = name_key(name)
    found = [row for row in rows if name_key(str(row[0])) == key]
    if len(found) != 1:  # of several versions it is not told which one the file holds
        return None
    _, publish, valid_from, expired = found[0]
    return Listed(str(publish or ""), str(valid_from or ""), bool(expired))
