"""Where an import begins: with what an interrupted one left, else with the current index."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qiusuo.legal.index.folder import STORE, IndexFolder
from qiusuo.legal.index.ranking import ranked_count
from qiusuo.legal.index.schema import RANKING_VERSION, STORE_VERSION

CASES: Final = "cases"
ARTICLES: Final = "articles"
ASKED: Final = "asked"
RANKED_AS: Final = "cases_ranked_as"
"""By which version the judgments that stand in staging are ranked."""


@dataclass(frozen=True, slots=True)
class LeftOver:
    """What an interrupted import has read, and how many of its judgments are ranked."""

    files: int
    judgments: int
    ranked: int


def left_over(folder: IndexFolder) -> LeftOver | None:
    """Return how far an interrupted import was, None where none was interrupted."""
    store = folder.staging / STORE
    if not store.exists() or sources_if_outdated(store) is not None:
        return None
    with closing(sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True)) as database:
        (files,) = database.execute("SELECT count(*) FROM sources WHERE position > 0 OR done").fetchone()
        (judgments,) = database.execute("SELECT count(*) FROM cases").fetchone()
    return LeftOver(files, judgments, ranked_count(folder.staging / CASES))


def prepare_staging(folder: IndexFolder) -> list[tuple[str, str]]:
    """Start from what an interrupted import left, else from the current index; return sources to read again."""
    staging, current = folder.staging, folder.current()
    if (staging / STORE).exists():
        outdated = sources_if_outdated(staging / STORE)
        if outdated is None:
            return []
        shutil.rmtree(staging)
        staging.mkdir()
        return outdated
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    if current is None:
        return []
    outdated = sources_if_outdated(current / STORE)
    if outdated is not None:
        return outdated
    if _ranked_as(current / STORE) == str(RANKING_VERSION):
        _link_files(current / CASES, staging / CASES)
    partial = staging / f"{STORE}.part"
    shutil.copyfile(current / STORE, partial)
    partial.rename(staging / STORE)  # last: what stands beside it is whole then
    return []


def sources_if_outdated(store: Path) -> list[tuple[str, str]] | None:
    """Return the sources of a store that has other tables than ours, with their labels; None if it can stay."""
    try:
        with closing(sqlite3.connect(store)) as database:
            row = database.execute("SELECT value FROM meta WHERE key = 'store_version'").fetchone()
            if row and row[0] == str(STORE_VERSION):
                return None
            rows = database.execute("SELECT path, label FROM sources ORDER BY id")
            return [(str(path), str(label)) for path, label in rows]
    except sqlite3.Error:
        return []


def _ranked_as(store: Path) -> str:
    with closing(sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        row = database.execute("SELECT value FROM meta WHERE key = ?", (RANKED_AS,)).fetchone()
    return str(row[0]) if row else ""


def _link_files(source: Path, target: Path) -> None:
    """Take over the files of a ranking. None is ever changed in place, so both folders may share them."""
    if not source.is_dir():
        return
    target.mkdir()
    for file in source.iterdir():
        if not file.is_file() or file.suffix == ".lock":
            continue
        try:
            os.link(file, target / file.name)
        except OSError:  # not every disk has links
            shutil.copyfile(file, target / file.name)
