"""Readers of the layouts in which laws and judgments are passed around. Each yields documents and rejected rows."""

from __future__ import annotations

from pathlib import Path

from qiusuo.errors import InvalidQuery
from qiusuo.legal.building.importers.beside import is_index
from qiusuo.legal.building.importers.json_lines import JSON_LINES
from qiusuo.legal.building.importers.judgments_csv import JUDGMENTS_CSV
from qiusuo.legal.building.importers.markdown import is_law_page, read_markdown
from qiusuo.legal.building.importers.records import Entry, Layout, whole_documents
from qiusuo.legal.building.importers.statutes_db import read_statutes_db
from qiusuo.words import Fact

__all__ = ["LAYOUTS", "Entry", "Layout", "files_under", "layout_of"]

LAYOUTS = (
    Layout("markdown", (".md", ".markdown"), whole_documents(read_markdown)),
    JUDGMENTS_CSV,
    JSON_LINES,
    Layout("statutes-db", (".db", ".sqlite", ".sqlite3"), whole_documents(read_statutes_db)),
)
_README = "readme.md"
_NO_LAWS = frozenset({"_index.md", "index.md", "license.md", "changelog.md", "contributing.md", "目录.md"})


def layout_of(path: Path) -> Layout | None:
    """Return the layout of a file, None where it is none of ours."""
    name = path.name.lower()
    return next((layout for layout in LAYOUTS if name.endswith(layout.endings)), None)


def files_under(path: Path) -> list[Path]:
    """Return the files to read, in a fixed order.

    Raises:
        InvalidQuery: there is no such path, or nothing there that can be read.
    """
    if path.is_file():
        if layout_of(path) is None:
            raise InvalidQuery(Fact("legal.unknown_file", path=path))
        return [path]
    if not path.is_dir():
        raise InvalidQuery(Fact("legal.no_file", path=path))
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file()
        and layout_of(file) is not None
        and _may_hold_laws(file, path)
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    if not files:
        raise InvalidQuery(Fact("legal.nothing_readable", path=path))
    return files


def _may_hold_laws(file: Path, root: Path) -> bool:
    """Tell a law from what a collection says of itself, which stands at its top or holds no law."""
    name = file.name.lower()
    if name == _README:
        return file.parent != root and is_law_page(file)
    return name not in _NO_LAWS and not _is_template(file) and not is_index(file)


def _is_template(file: Path) -> bool:
    return file.stem.endswith(("模版", "模板"))
