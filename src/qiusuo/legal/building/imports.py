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
from qiusuo.legal.building.importers.records import as_it_is
from qiusuo.legal.building.prepared import MUCH_BYTES, prepared, prepared_beside
from qiusuo.legal.building.ranked import article_documents, case_count, case_documents
from qiusuo.legal.building.replacing import forget_unread, replace_sources, unread
from qiusuo.legal.building.staging import ARTICLES, ASKED, CASES, RANKED_AS, prepare_staging
from qiusuo.legal.building.writer import ImportProgress, StoreWriter, stamp_of
from qiusuo.legal.index import encoding, semantic
from qiusuo.legal.index.asked import ASKED_FIELDS, asked_documents, asked_rows
from qiusuo.legal.index.folder import STORE, IndexFolder
from qiusuo.legal.index.handle import ARTICLE_FIELDS, CASE_FIELDS
from qiusuo.legal.index.ranking import RankingBuilder, build_tantivy, load_tantivy
from qiusuo.legal.index.schema import RANKING_VERSION
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
class _Span:
    """Where a file stands among all that is read: from which share on, how much of all, its bytes."""

    start: float
    part: float
    size: int
    many: bool

    def share(self, place: int) -> float | None:
        """Return how much of all has been read, at a place in the file; None where the place is not known."""
        return self.start + self.part * min(1.0, place / self.size) if place and self.size else None


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
            lost = prepare_staging(self.folder)
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

    def _read_all(
        self, writer: StoreWriter, again: list[tuple[Path, str]], given: list[tuple[Path, str]]
    ) -> Iterator[SourceReport]:
        """Read the files; what is read again after others were taken out is reported only where it cannot be read."""
        count = len(again) + len(given)
        sizes = [_size(file) for file, _ in (*again, *given)]
        total, before = sum(sizes) or 1, 0
        for place, (file, label) in enumerate((*again, *given)):
            if len(given) > 1:
                self.tell(ImportStep(label or file.parent.name, before / total))
            span = _Span(before / total, sizes[place] / total, sizes[place], many=count > 1)
            report = self._read_or_skip(writer, file, label, span)
            before += sizes[place]
            if place >= len(again) or not (report.accepted or report.duplicates):
                yield report

    def _read_or_skip(self, writer: StoreWriter, file: Path, label: str, span: _Span) -> SourceReport:
        """Read a file; one of many that cannot be read is reported and does not keep the others out."""
        try:
            return self._read(writer, file, label, span)
        except InvalidQuery as error:
            if not span.many:
                raise
            return SourceReport(file, 0, 0, 1, ((error.message, 1),))

    def _read(self, writer: StoreWriter, file: Path, label: str, span: _Span) -> SourceReport:
        layout = layout_of(file)
        if layout is None:  # a source of a former version whose name no longer fits
            return SourceReport(file, 0, 0, 0, ())
        progress = writer.source(str(file), stamp_of(file), layout.name, label or file.name)
        resumed = progress.position > 0
        if not progress.done:
            self._read_rest(writer, file, layout, progress, span)
        reasons = writer.database.execute(
            "SELECT reason, count(*) FROM rejected WHERE source_id = ? GROUP BY reason ORDER BY count(*) DESC LIMIT 20",
            (progress.source_id,),
        ).fetchall()
        return SourceReport(file, progress.accepted, progress.duplicates, progress.rejected, tuple(reasons), resumed)

    def _read_rest(
        self, writer: StoreWriter, file: Path, layout: Layout, progress: ImportProgress, span: _Span
    ) -> None:
        begun, since = time.monotonic(), 0
        records = layout.records(file, progress.position)
        beside = span.size >= MUCH_BYTES and layout.parse is not as_it_is
        parsed = prepared_beside(layout, records) if beside else prepared(layout.parse, records)
        writer.begin()
        try:
            with closing(parsed):
                for position, entry, place, resumable in layout.join(parsed):
                    progress.position = position
                    writer.add(entry, progress)
                    since += 1
                    if resumable and (since >= BATCH_ENTRIES or time.monotonic() - begun > BATCH_SECONDS):
                        writer.commit(progress)
                        self.tell(ImportStep(f"{file.name}: {progress.accepted:,}", span.share(place)))
                        begun, since = time.monotonic(), 0
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
        shutil.rmtree(staging / ARTICLES, ignore_errors=True)
        articles = self.build_ranking(
            staging / ARTICLES, ARTICLE_FIELDS, lambda _: article_documents(database), lambda _: None
        )
        shutil.rmtree(staging / ASKED, ignore_errors=True)
        self.build_ranking(staging / ASKED, ASKED_FIELDS, lambda _: asked_documents(database), lambda _: None)
        cases = self._rank_cases(writer)
        self._build_vectors(database, articles)
        writer.set_meta("ranking_version", str(RANKING_VERSION))
        writer.set_meta("built_at", datetime.now(UTC).isoformat(timespec="seconds"))
        gaps = tuple((name, published, tuple(missing)) for name, published, missing in numbering_gaps(database))
        return articles, cases, gaps

    def _rank_cases(self, writer: StoreWriter) -> int:
        """Rank the judgments that are new; those that an interrupted import or the current index has ranked stay."""
        database, folder = writer.database, self.folder.staging / CASES
        self.tell(ImportStep("ranking: cases"))
        if writer.meta(RANKED_AS) != str(RANKING_VERSION):
            shutil.rmtree(folder, ignore_errors=True)
            writer.set_meta(RANKED_AS, str(RANKING_VERSION))
        count = case_count(database)

        def tell(done: int) -> None:
            self.tell(ImportStep(f"ranking: cases {done:,}", done / count))

        return self.build_ranking(folder, CASE_FIELDS, lambda after: case_documents(database, after), tell)

    def _build_vectors(self, database: sqlite3.Connection, count: int) -> None:
        """Encode the articles, all of them where that was asked for.

        An index that has vectors keeps them where few are new; otherwise a server or a chat makes them beside its work.
        """
        current = self.folder.current()
        had_vectors = current is not None and (current / semantic.VECTORS).is_file() and semantic.is_installed()
        if not (self.with_vectors or had_vectors) or not count:
            return
        known, most = self.folder.generations(), None if self.with_vectors else FEW_NEW
        rows, asked = encoding.article_rows(database), asked_rows(database)
        for done in encoding.build_vectors(self.folder.staging, rows, known, most, asked=asked):
            self.tell(ImportStep("vectors", done / count))


def rebuild(importer: Importer) -> ImportReport:
    """Build the ranking anew from the store; a store of another version is read again from its sources.

    Raises:
        ConfigurationError: there is no index to rebuild.
    """
    if importer.folder.current() is None and not (importer.folder.staging / STORE).exists():
        raise ConfigurationError(Fact("legal.nothing_to_rebuild"), commands=("qiusuo legal install",))
    return importer.run([])


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
