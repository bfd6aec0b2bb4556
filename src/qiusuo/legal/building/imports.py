"""Bringing laws and judgments into the index: resumable, duplicate-safe, published in one step."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.legal.building.finish import finish, numbering_gaps
from qiusuo.legal.building.importers import Layout, files_under, layout_of
from qiusuo.legal.building.replacing import forget_unread, replace_sources, unread
from qiusuo.legal.building.writer import ImportProgress, StoreWriter, stamp_of
from qiusuo.legal.index import encoding, semantic
from qiusuo.legal.index.folder import STORE, IndexFolder
from qiusuo.legal.index.handle import ARTICLE_FIELDS, ARTICLE_FILTERS, CASE_FIELDS, CASE_FILTERS
from qiusuo.legal.index.places import place_of
from qiusuo.legal.index.ranking import RankedDocument, RankingBuilder, build_tantivy, load_tantivy
from qiusuo.legal.index.schema import RANKING_VERSION, STORE_VERSION
from qiusuo.legal.models import Law, LawKind
from qiusuo.legal.reading.names import STATE
from qiusuo.words import Fact

BATCH_SECONDS = 0.5
BATCH_ENTRIES = 400
FEW_NEW = 1000
"""So many new articles are encoded with an import: a few seconds."""


@dataclass(frozen=True, slots=True)
class ImportStep:
    """Where an import stands, for a progress bar: what is being done, and how far (0 to 1, None if unknown)."""

    what: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What came of one file."""

    path: Path
    accepted: int
    duplicates: int
    rejected: int
    reasons: tuple[tuple[str, int], ...]
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What came of an import."""

    sources: tuple[SourceReport, ...]
    gaps: tuple[tuple[str, str, tuple[int, ...]], ...]
    articles: int
    cases: int
    seconds: float
    lost_sources: tuple[str, ...] = ()


Tell = Callable[[ImportStep], None]


@dataclass(frozen=True, slots=True)
class Importer:
    """Writes to one index folder."""

    folder: IndexFolder
    tell: Tell = lambda _step: None
    build_ranking: RankingBuilder = build_tantivy
    with_vectors: bool = False

    def run(self, paths: list[Path], label: str = "", replacing: Path | None = None) -> ImportReport:
        """Read the files, then build the ranking and publish everything at once.

        Killed at any moment and run again, it goes on where the last batch ended and gives the same index. What was
        read from ``replacing`` before, and is not among the files now, is taken out.

        Raises:
            InvalidQuery: a path holds nothing that can be read.
            ConfigurationError: the index cannot be written, or what it needs is not installed.
        """
        load_tantivy()
        started = time.monotonic()
        found = [file for path in paths for file in files_under(path.expanduser().resolve())]
        # The index may lie within a folder that is imported.
        own = (self.folder.staging.resolve(), (self.folder.root / "generations").resolve())
        files = [file for file in found if not any(file.is_relative_to(folder) for folder in own)]
        with self.folder.writing():
            lost = self._prepare_staging()
            writer = StoreWriter(self.folder.staging / STORE)
            try:
                given = [(file, label) for file in files]
                if replacing is not None:
                    replace_sources(writer, replacing.resolve(), given)
                again = [read for read in unread(writer) if read not in given]
                given = [(Path(path), named) for path, named in lost if Path(path).exists()] + given
                reports = list(self._read_all(writer, again, given))
                articles, cases, gaps = self._complete(writer)
            finally:
                writer.close()
            self.folder.publish()
        return ImportReport(
            tuple(reports),
            gaps,
            articles,
            cases,
            time.monotonic() - started,
            tuple(path for path, _ in lost if not Path(path).exists()),
        )

    def _prepare_staging(self) -> list[tuple[str, str]]:
        """Start from what an interrupted import left, else from the current index; return sources to read again."""
        staging, current = self.folder.staging, self.folder.current()
        if (staging / STORE).exists():
            outdated = _sources_if_outdated(staging / STORE)
            if outdated is None:
                return []
            shutil.rmtree(staging)
            staging.mkdir()
            return outdated
        staging.mkdir(parents=True, exist_ok=True)
        if current is None:
            return []
        outdated = _sources_if_outdated(current / STORE)
        if outdated is not None:
            return outdated
        partial = staging / f"{STORE}.part"
        shutil.copyfile(current / STORE, partial)
        partial.rename(staging / STORE)
        return []

    def _read_all(
        self, writer: StoreWriter, again: list[tuple[Path, str]], given: list[tuple[Path, str]]
    ) -> Iterator[SourceReport]:
        """Read the files; what is read again after others were taken out is reported only where it cannot be read."""
        count = len(again) + len(given)
        for place, (file, label) in enumerate((*again, *given)):
            if len(given) > 1:
                self.tell(ImportStep(label or file.parent.name, place / count))
            report = self._read_or_skip(writer, file, label, many=count > 1)
            if place >= len(again) or not (report.accepted or report.duplicates):
                yield report

    def _read_or_skip(self, writer: StoreWriter, file: Path, label: str, *, many: bool) -> SourceReport:
        """Read a file; one of many that cannot be read is reported and does not keep the others out."""
        try:
            return self._read(writer, file, label)
        except InvalidQuery as error:
            if not many:
                raise
            return SourceReport(file, 0, 0, 1, ((error.message, 1),))

    def _read(self, writer: StoreWriter, file: Path, label: str) -> SourceReport:
        layout = layout_of(file)
        if layout is None:  # a source of a former version whose name no longer fits
            return SourceReport(file, 0, 0, 0, ())
        progress = writer.source(str(file), stamp_of(file), layout.name, label or file.name)
        resumed = progress.position > 0
        if not progress.done:
            self._read_rest(writer, file, layout, progress)
        reasons = writer.database.execute(
            "SELECT reason, count(*) FROM rejected WHERE source_id = ? GROUP BY reason ORDER BY count(*) DESC LIMIT 20",
            (progress.source_id,),
        ).fetchall()
        return SourceReport(file, progress.accepted, progress.duplicates, progress.rejected, tuple(reasons), resumed)

    def _read_rest(self, writer: StoreWriter, file: Path, layout: Layout, progress: ImportProgress) -> None:
        start, begun = progress.position, time.monotonic()
        writer.begin()
        try:
            for position, entry in enumerate(layout.read(file), 1):
                if position <= start:
                    continue
                progress.position = position
                writer.add(entry, progress)
                if position % BATCH_ENTRIES == 0 or time.monotonic() - begun > BATCH_SECONDS:
                    writer.commit(progress)
                    self.tell(ImportStep(f"{file.name}: {progress.accepted:,}"))
                    begun = time.monotonic()
                    writer.begin()
            progress.done = True
            writer.commit(progress)
        except BaseException:  # an interrupt too leaves nothing half done
            if writer.database.in_transaction:
                writer.database.execute("ROLLBACK")
            raise

    def _complete(self, writer: StoreWriter) -> tuple[int, int, tuple[tuple[str, str, tuple[int, ...]], ...]]:
        database, staging = writer.database, self.folder.staging
        forget_unread(writer)
        self.tell(ImportStep("citations"))
        finish(database)
        self.tell(ImportStep("ranking: articles"))
        articles = self.build_ranking(
            staging / "articles", ARTICLE_FIELDS, ARTICLE_FILTERS, _article_documents(database)
        )
        self.tell(ImportStep("ranking: cases"))
        cases = self.build_ranking(staging / "cases", CASE_FIELDS, CASE_FILTERS, _case_documents(database))
        self._build_vectors(database, articles)
        writer.set_meta("ranking_version", str(RANKING_VERSION))
        writer.set_meta("built_at", datetime.now(UTC).isoformat(timespec="seconds"))
        gaps = tuple((name, published, tuple(missing)) for name, published, missing in numbering_gaps(database))
        return articles, cases, gaps

    def _build_vectors(self, database: sqlite3.Connection, count: int) -> None:
        """Encode the articles, all of them where that was asked for.

        An index that has vectors keeps them where few are new; otherwise a server or a chat makes them beside its work.
        """
        current = self.folder.current()
        had_vectors = current is not None and (current / semantic.VECTORS).is_file() and semantic.is_installed()
        if not (self.with_vectors or had_vectors) or not count:
            return
        known, most = self.folder.generations(), None if self.with_vectors else FEW_NEW
        for done in encoding.build_vectors(self.folder.staging, encoding.article_rows(database), known, most):
            self.tell(ImportStep("vectors", done / count))


def rebuild(importer: Importer) -> ImportReport:
    """Build the ranking anew from the store; a store of another version is read again from its sources.

    Raises:
        ConfigurationError: there is no index to rebuild.
    """
    if importer.folder.current() is None and not (importer.folder.staging / STORE).exists():
        raise ConfigurationError(Fact("legal.nothing_to_rebuild"), commands=("qiusuo legal install",))
    return importer.run([])


def _article_documents(database: sqlite3.Connection) -> Iterator[RankedDocument]:
    laws = {
        row[0]: Law(row[0], row[1], LawKind(row[2]), "", "")
        for row in database.execute("SELECT id, name, kind FROM laws")
    }
    rows = database.execute(
        "SELECT a.id, v.law_id, a.headings, a.text FROM articles a JOIN versions v ON v.id = a.version_id ORDER BY a.id"
    )
    for article_id, law_id, headings, text in rows:
        law = laws[law_id]
        # 第三章 says nothing, its title does.
        titles = " ".join(head.partition(" ")[2] or head for head in headings.split("\n"))
        fields = {"text": text, "headings": titles, "law": law.name.removeprefix(STATE)}
        yield RankedDocument(article_id, fields, {"of_law": str(law_id), "place": place_of(law)})


def _case_documents(database: sqlite3.Connection) -> Iterator[RankedDocument]:
    rows = database.execute("SELECT id, name, cause, facts, reasoning, verdict, text, case_type FROM cases ORDER BY id")
    for case_id, name, cause, facts, reasoning, verdict, text, case_type in rows:
        rest = f"{name} {cause} {reasoning} {verdict}"
        yield RankedDocument(case_id, {"facts": facts or text, "rest": rest}, {"type": case_type or "-"})


def _sources_if_outdated(store: Path) -> list[tuple[str, str]] | None:
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
