"""Writing into the store that stands in staging: documents, progress and rejected rows, always in one transaction."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from types import MappingProxyType

from qiusuo.legal.building.prepared import CaseRow
from qiusuo.legal.index.schema import STORE_VERSION, TABLES
from qiusuo.legal.models import ArticleDraft, ArticleNumber, LawDocument, LawKind, RejectedRow
from qiusuo.legal.reading.amendments import with_quoted_articles_rejoined
from qiusuo.legal.reading.dates import effective_day
from qiusuo.legal.reading.names import STATE, name_key
from qiusuo.legal.reading.numbers import folded

MAX_EXCERPT = 2000
# A packed judgment has some 2 kB: of pages of the usual 4 kB a third would stay empty.
PAGE_BYTES = 8192
# The share of articles with the same words from which on an undated text is the one that is known.
ENOUGH_ALIKE = 0.9
Prepared = LawDocument | CaseRow | RejectedRow
_NO_LETTERS = re.compile(r"[\W_]+")


def letters_of(text: str) -> str:
    """Return the words of a text alone: collections set the same law with other blanks, brackets and quotes."""
    return _NO_LETTERS.sub("", folded(text))


def stamp_of(file: Path) -> str:
    """Return what tells a changed file from the one that was read."""
    facts = file.stat()
    return f"{facts.st_size}-{facts.st_mtime_ns}"


@dataclass(slots=True)
class ImportProgress:
    """How far a source has been read."""

    source_id: int
    position: int = 0
    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    done: bool = False


class StoreWriter:
    """The one connection that writes. Nothing is seen by readers until the folder publishes it."""

    def __init__(self, path: Path) -> None:
        new = not path.exists()
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a new store
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = NORMAL")
        if new or not self._has_tables():
            self.database.executescript(f"BEGIN; {TABLES} COMMIT;")
            self.set_meta("store_version", str(STORE_VERSION))

    def _has_tables(self) -> bool:
        return bool(self.database.execute("SELECT 1 FROM sqlite_master WHERE name = 'cases_by_number'").fetchone())

    def meta(self, key: str) -> str:
        """Return a fact about the store, an empty string where it is not known."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def set_meta(self, key: str, value: str) -> None:
        """Remember a fact about the store."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def source(self, path: str, stamp: str, kind: str, label: str) -> ImportProgress:
        """Return how far a source has been read; a file that changed is another source."""
        self.database.execute(
            "INSERT OR IGNORE INTO sources (path, stamp, kind, label) VALUES (?, ?, ?, ?)", (path, stamp, kind, label)
        )
        row = self.database.execute(
            "SELECT id, position, accepted, duplicates, rejected, done FROM sources WHERE path = ? AND stamp = ?",
            (path, stamp),
        ).fetchone()
        return ImportProgress(row[0], row[1], row[2], row[3], row[4], bool(row[5]))

    def begin(self) -> None:
        """Begin a batch."""
        self.database.execute("BEGIN IMMEDIATE")

    def commit(self, progress: ImportProgress) -> None:
        """End a batch: the documents and how far they go become durable together."""
        self.database.execute(
            "UPDATE sources SET position = ?, accepted = ?, duplicates = ?, rejected = ?, done = ? WHERE id = ?",
            (
                progress.position,
                progress.accepted,
                progress.duplicates,
                progress.rejected,
                int(progress.done),
                progress.source_id,
            ),
        )
        self.database.execute("COMMIT")

    def add(self, entry: Prepared, progress: ImportProgress) -> None:
        """Add one entry and count it."""
        if isinstance(entry, LawDocument):
            self._add_law(with_quoted_articles_rejoined(entry), progress)
        elif isinstance(entry, CaseRow):
            self._add_case(entry, progress)
        else:
            self.reject(entry, progress)

    def reject(self, row: RejectedRow, progress: ImportProgress) -> None:
        """Keep a row aside, with the reason."""
        # Half a surrogate pair may come out of broken files and cannot be stored.
        excerpt = row.excerpt[:MAX_EXCERPT].encode("utf-8", "replace").decode()
        self.database.execute(
            "INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?)",
            (progress.source_id, progress.position, row.reason, excerpt),
        )
        progress.rejected += 1

    def close(self) -> None:
        """Fold the journal into the file and close, so that the file stands alone."""
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.database.execute("PRAGMA journal_mode = DELETE")
        self.database.close()

    def _add_law(self, law: LawDocument, progress: ImportProgress) -> None:
        # Whether a source has laws at all: an article does not tell from which of several it came.
        self.database.execute("UPDATE sources SET laws = 1 WHERE id = ? AND NOT laws", (progress.source_id,))
        law_id = self._law_id(law)
        version_id = self._version_id(law_id, law, progress.source_id)
        added = changed = 0
        seen: dict[tuple[int, int], int] = {}
        for draft in law.articles:
            number = (draft.number.number, draft.number.suffix) if draft.number else (0, 0)
            occurrence = seen.get(number, 0)
            seen[number] = occurrence + 1
            outcome = self._add_article(version_id, number, occurrence, draft)
            added += outcome is None
            if outcome is not None and letters_of(outcome) != letters_of(draft.text):
                changed += 1
                self.reject(
                    RejectedRow(f"{law.name} {draft.label}: the index has this article with another text", draft.text),
                    progress,
                )
        progress.accepted += added
        progress.duplicates += len(law.articles) - added - changed

    def _add_article(
        self, version_id: int, number: tuple[int, int], occurrence: int, draft: ArticleDraft
    ) -> str | None:
        """Add an article; return the text that is there already, if any."""
        row = self.database.execute(
            "SELECT text FROM articles WHERE version_id = ? AND number = ? AND suffix = ? AND occurrence = ?",
            (version_id, *number, occurrence),
        ).fetchone()
        if row is not None:
            return str(row[0])
        self.database.execute(
            "INSERT INTO articles (version_id, number, suffix, occurrence, label, headings, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (version_id, *number, occurrence, draft.label, "\n".join(draft.headings), draft.text),
        )
        return None

    def _law_id(self, law: LawDocument) -> int:
        key = name_key(law.name)
        row = self.database.execute("SELECT id, name, kind FROM laws WHERE key = ?", (key,)).fetchone()
        if row is None:
            cursor = self.database.execute(
                "INSERT INTO laws (key, name, kind, issuer, department) VALUES (?, ?, ?, ?, ?)",
                (key, law.name, law.kind.value, law.issuer, law.department),
            )
            return int(cursor.lastrowid or 0)
        if law.name.startswith(STATE) and not str(row[1]).startswith(STATE):
            self.database.execute("UPDATE laws SET name = ? WHERE id = ?", (law.name, row[0]))
        if row[2] == LawKind.OTHER.value and law.kind is not LawKind.OTHER:
            self.database.execute("UPDATE laws SET kind = ? WHERE id = ?", (law.kind.value, row[0]))
        return int(row[0])

    def _version_id(self, law_id: int, law: LawDocument, source_id: int) -> int:
        row = self.database.execute(
            "SELECT id FROM versions WHERE law_id = ? AND published = ?", (law_id, law.published)
        ).fetchone()
        known = int(row[0]) if row else self._same_under_another_day(law_id, law)
        if known:
            return known
        effective, basis = effective_day(law.name, law.published, law.effective, _NO_DECISIONS)
        cursor = self.database.execute(
            "INSERT INTO versions (law_id, published, effective, basis, stated_status, source_id, url)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (law_id, law.published, effective, basis.value, law.stated_status, source_id, law.url),
        )
        return int(cursor.lastrowid or 0)

    def _same_under_another_day(self, law_id: int, law: LawDocument) -> int:
        """Return the version that a document holds too, where one of both gives no day, or the day it was adopted.

        Two versions cannot begin on one day: what was adopted in December and published in June is one.
        """
        rows = self.database.execute(
            "SELECT id, published, effective FROM versions WHERE law_id = ? ORDER BY published DESC", (law_id,)
        ).fetchall()
        for version_id, published, effective in rows:
            one_day = law.effective and effective == law.effective >= max(published, law.published) and published
            if one_day or ((not published or not law.published) and self._shares_its_text(version_id, law)):
                if law.published > published:
                    self._date(version_id, law)
                return int(version_id)
        return 0

    def _shares_its_text(self, version_id: int, law: LawDocument) -> bool:
        rows = self.database.execute("SELECT number, suffix, text FROM articles WHERE version_id = ?", (version_id,))
        held = {ArticleNumber(number, suffix): letters_of(text) for number, suffix, text in rows}
        drafts = [(draft.number or ArticleNumber(0), letters_of(draft.text)) for draft in law.articles]
        return sum(held.get(number) == text for number, text in drafts) >= ENOUGH_ALIKE * len(drafts)

    def _date(self, version_id: int, law: LawDocument) -> None:
        (read,) = self.database.execute("SELECT effective FROM versions WHERE id = ?", (version_id,)).fetchone()
        effective, basis = effective_day(law.name, law.published, law.effective or read, _NO_DECISIONS)
        self.database.execute(
            "UPDATE versions SET published = ?, effective = ?, basis = ? WHERE id = ?",
            (law.published, effective, basis.value, version_id),
        )

    def _add_case(self, case: CaseRow, progress: ImportProgress) -> None:
        row = astuple(case)
        cursor = self.database.execute(
            "INSERT OR IGNORE INTO cases (digest, number, number_key, name, court, case_type, procedure, date, parties,"
            " cause, legal_basis, url, source_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row[:-1], progress.source_id),
        )
        if cursor.rowcount:
            self.database.execute("INSERT INTO case_texts VALUES (?, ?)", (cursor.lastrowid, case.packed))
            progress.accepted += 1
        else:
            progress.duplicates += 1


_NO_DECISIONS: Mapping[str, str] = MappingProxyType({})
