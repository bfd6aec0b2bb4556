"""What an import changed: the laws, versions and judgments of two generations of the index compared."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from qiusuo.legal.index.folder import STORE

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Changes:
    """How a generation differs from the one before. ``named`` has laws with a new version or another text."""

    laws_new: int
    laws_gone: int
    versions_new: int
    versions_gone: int
    texts_changed: int
    cases_new: int
    cases_gone: int
    named: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        counts = (self.versions_new, self.versions_gone, self.texts_changed, self.cases_new, self.cases_gone)
        return any(counts)


def changes(before: Path | None, after: Path | None) -> Changes:
    """Compare two generations; None stands for an empty one."""
    old, new = _held(before), _held(after)
    old_laws, new_laws = {law for law, _ in old}, {law for law, _ in new}
    altered = [key for key in new if key in old and new[key] != old[key]]
    added = [key for key in new if key not in old]
    named = dict.fromkeys(law for law, _ in (*altered, *added) if law in old_laws)
    return Changes(
        len(new_laws - old_laws),
        len(old_laws - new_laws),
        len(added),
        len(old.keys() - new.keys()),
        len(altered),
        _cases_beyond(after, before),
        _cases_beyond(before, after),
        tuple(named),
    )


def _held(generation: Path | None) -> dict[_Key, str]:
    """Return a digest of the text of each version."""
    if generation is None or not (generation / STORE).is_file():
        return {}
    texts: dict[_Key, list[str]] = {}
    try:
        with closing(sqlite3.connect(_address(generation), uri=True)) as database:
            rows = database.execute(
                "SELECT l.name, v.published, a.number, a.suffix, a.text FROM articles a"
                " JOIN versions v ON v.id = a.version_id JOIN laws l ON l.id = v.law_id"
                " ORDER BY v.id, a.number, a.suffix, a.occurrence"
            )
            for law, published, number, suffix, text in rows:
                texts.setdefault((law, published), []).append(f"{number}.{suffix} {text}")
    except sqlite3.Error:  # one of another version: everything counts as new
        return {}
    return {key: hashlib.sha256("\n".join(parts).encode()).hexdigest() for key, parts in texts.items()}


def _cases_beyond(generation: Path | None, other: Path | None) -> int:
    """Count the judgments that another generation does not have; there may be too many to hold them."""
    if generation is None or not (generation / STORE).is_file():
        return 0
    try:
        with closing(sqlite3.connect(_address(generation), uri=True)) as database:
            if other is None or not (other / STORE).is_file():
                return int(database.execute("SELECT count(*) FROM cases").fetchone()[0])
            database.execute("ATTACH ? AS other", (_address(other),))
            beyond = (
                "SELECT count(*) FROM cases c WHERE NOT EXISTS (SELECT 1 FROM other.cases o WHERE o.digest = c.digest)"
            )
            return int(database.execute(beyond).fetchone()[0])
    except sqlite3.Error:
        return 0


def _address(generation: Path) -> str:
    return f"{(generation / STORE).resolve().as_uri()}?mode=ro"
