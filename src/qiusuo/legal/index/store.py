"""Reading the store of one generation: exact look-ups, never through ranking."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qiusuo.errors import ConfigurationError
from qiusuo.legal.index.folder import STORE
from qiusuo.legal.index.packed_texts import unpack
from qiusuo.legal.index.schema import STORE_VERSION
from qiusuo.legal.judgments.judgment_text import case_number_key
from qiusuo.legal.models import (
    Article,
    ArticleNumber,
    Case,
    DateBasis,
    IndexStats,
    Law,
    LawKind,
    LawVersion,
    Repeal,
    SourceState,
)
from qiusuo.words import Fact

MAX_RANGE = 100
_CASE_COLUMNS = (
    "c.id, c.name, c.number, c.court, c.case_type, c.procedure, c.date, c.parties, c.cause, c.legal_basis, c.url,"
    " s.label, t.packed"
)
_CASE_TABLES = "cases c JOIN sources s ON s.id = c.source_id JOIN case_texts t ON t.case_id = c.id"
_ARTICLE_COLUMNS = "id, version_id, number, suffix, label, headings, text"


def _case(row: Sequence[Any]) -> Case:
    texts = unpack(row[-1])
    told: list[Any] = [*row[:10], texts.facts, texts.reasoning, texts.verdict, texts.text, *row[10:12]]
    return Case(*told)


class LegalStore:
    """A generation's SQLite file, opened read-only. It never changes, so any number of threads may read it."""

    def __init__(self, generation: Path) -> None:
        address = f"{(generation / STORE).resolve().as_uri()}?mode=ro&immutable=1"
        try:
            self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
            version = self._meta("store_version")
        except sqlite3.Error as error:
            raise ConfigurationError(
                Fact("legal.unreadable", path=generation, words=str(error)), commands=("qiusuo legal rebuild",)
            ) from None
        if version != str(STORE_VERSION):
            self._database.close()
            raise ConfigurationError(Fact("legal.other_version"), commands=("qiusuo legal rebuild",))
        self.laws = self._all_laws()
        self.versions = self._all_versions()
        self.repeals = self._all_repeals()
        self.amendments = self._all_amendments()
        self.source_days = self._newest_of_each_source()
        self.cited_by = dict(self._all("SELECT id, cited_by FROM laws"))
        self._by_law: dict[int, list[LawVersion]] = {}
        for known in self.versions.values():
            self._by_law.setdefault(known.law.id, []).append(known)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def versions_of(self, law_id: int) -> Sequence[LawVersion]:
        """Return the versions of a law, oldest first."""
        return self._by_law.get(law_id, ())

    def articles(
        self,
        version: LawVersion,
        first: ArticleNumber,
        last: ArticleNumber | None = None,
        *,
        limit: int | None = MAX_RANGE,
    ) -> list[Article]:
        """Return the article of that number, or those of a range; several of one number if the document has them."""
        rows = self._all(
            f"SELECT {_ARTICLE_COLUMNS} FROM articles WHERE version_id = ?"  # noqa: S608 - our own column names
            " AND (number, suffix) >= (?, ?) AND (number, suffix) <= (?, ?)"
            " ORDER BY number, suffix, occurrence LIMIT ?",
            (version.id, *first, *(last or first), -1 if limit is None else limit),
        )
        return [self._article(row) for row in rows]

    def opening(self, version: LawVersion) -> Article | None:
        """Return the first article of a version."""
        rows = self._all(
            f"SELECT {_ARTICLE_COLUMNS} FROM articles WHERE version_id = ? ORDER BY number, suffix LIMIT 1",  # noqa: S608 - our own column names
            (version.id,),
        )
        return self._article(rows[0]) if rows else None

    def before(self, article: Article, count: int) -> list[Article]:
        """Return the articles right before one, in the order of the law."""
        if article.number is None:
            return []
        rows = self._all(
            f"SELECT {_ARTICLE_COLUMNS} FROM articles WHERE version_id = ? AND number > 0"  # noqa: S608 - our own column names
            " AND (number, suffix) < (?, ?) ORDER BY number DESC, suffix DESC, occurrence DESC LIMIT ?",
            (article.version.id, *article.number, count),
        )
        return [self._article(row) for row in reversed(rows)]

    def span_around(self, article: Article, depth: int) -> tuple[ArticleNumber, ArticleNumber]:
        """Return the first and the last article that share the upper ``depth`` headings with one, without a break.

        Titles such as 第一章 一般规定 come again in other parts of a code, which a source may leave out.
        """
        rows = self._all(
            "SELECT id, number, suffix, headings FROM articles WHERE version_id = ? AND number > 0"
            " ORDER BY number, suffix, occurrence",
            (article.version.id,),
        )
        shared = [tuple(row[3].split("\n")[:depth]) == article.headings[:depth] for row in rows]
        first = last = next(place for place, row in enumerate(rows) if row[0] == article.id)
        while first > 0 and shared[first - 1]:
            first -= 1
        while last + 1 < len(rows) and shared[last + 1]:
            last += 1
        return ArticleNumber(*rows[first][1:3]), ArticleNumber(*rows[last][1:3])

    def numbers(self, version: LawVersion) -> tuple[int, int]:
        """Return the smallest and the largest number of a version's articles."""
        row = self._all("SELECT min(number), max(number) FROM articles WHERE version_id = ?", (version.id,))[0]
        return int(row[0] or 0), int(row[1] or 0)

    def gaps(self, version: LawVersion, first: int, last: int) -> list[int]:
        """Return the numbers from ``first`` to ``last`` that are missing between a version's articles."""
        rows = self._all("SELECT DISTINCT number FROM articles WHERE version_id = ? AND number > 0", (version.id,))
        present = {int(row[0]) for row in rows}
        within = range(max(first, min(present, default=1)), min(last, max(present, default=0)) + 1)
        return [number for number in within if number not in present]

    def amending_items(self, amendment: LawVersion, law: Law, number: ArticleNumber) -> list[Article] | None:
        """Return the items of an amendment that change an article of a law; None where it cannot be told from them."""
        rows = self._all(
            "SELECT m.article_id, (m.number, m.suffix) <= (?, ?) AND (m.last_number, m.last_suffix) >= (?, ?)"
            " FROM amended m JOIN articles a ON a.id = m.article_id"
            " WHERE m.law_id = ? AND a.version_id = ? ORDER BY m.article_id",
            (*number, *number, law.id, amendment.id),
        )
        return self.articles_by_id([row[0] for row in rows if row[1]]) if rows else None

    def articles_by_id(self, ids: Sequence[int]) -> list[Article]:
        """Return articles in the order of their ids."""
        marks = ",".join("?" * len(ids))
        rows = self._all(f"SELECT {_ARTICLE_COLUMNS} FROM articles WHERE id IN ({marks})", tuple(ids))  # noqa: S608 - question marks
        found = {int(row[0]): self._article(row) for row in rows}
        return [found[known] for known in ids if known in found]

    def version_ids(self) -> list[int]:
        """Return the version of every article, at the place of the article's id; 0 where an id is not in use."""
        rows = self._all("SELECT id, version_id FROM articles")
        table = [0] * (max((row[0] for row in rows), default=0) + 1)
        for article_id, version_id in rows:
            table[article_id] = version_id
        return table

    def purposes(self) -> frozenset[int]:
        """Return the articles that say why a law was made, which is seldom what somebody asks."""
        rows = self._all(
            "SELECT id FROM articles WHERE number = 1 AND (text LIKE '为%制定本%' OR text LIKE '根据%制定本%')"
        )
        return frozenset(row[0] for row in rows)

    def cited(self, article_id: int, limit: int) -> list[tuple[int | None, str, ArticleNumber]]:
        """Return what an article cites: the law (None if it is not in the index), its name, the article."""
        rows = self._all(
            "SELECT law_id, law_name, number, suffix FROM citations WHERE article_id = ? ORDER BY place LIMIT ?",
            (article_id, limit),
        )
        return [(law_id, name, ArticleNumber(number, suffix)) for law_id, name, number, suffix in rows]

    def case(self, case_id: int) -> Case | None:
        """Return the judgment with that id."""
        found = self.cases_by_id([case_id])
        return found[0] if found else None

    def cases_by_id(self, ids: Sequence[int]) -> list[Case]:
        """Return judgments in the order of their ids."""
        marks = ",".join("?" * len(ids))
        rows = self._all(
            f"SELECT {_CASE_COLUMNS} FROM {_CASE_TABLES} WHERE c.id IN ({marks})",  # noqa: S608 - question marks
            tuple(ids),
        )
        found = {int(row[0]): _case(row) for row in rows}
        return [found[known] for known in ids if known in found]

    def cases_by_number(self, number: str) -> list[Case]:
        """Return the judgments with that 案号, however it is written."""
        rows = self._all(
            f"SELECT {_CASE_COLUMNS} FROM {_CASE_TABLES} WHERE c.number_key = ?"  # noqa: S608 - our own column names
            " ORDER BY c.date DESC, c.id LIMIT 20",
            (case_number_key(number),),
        )
        return [_case(row) for row in rows]

    def case_titles(self, ids: Iterable[int]) -> Mapping[int, tuple[str, str]]:
        """Return name and 案由 of judgments."""
        marks = ",".join(str(int(known)) for known in ids)
        rows = self._all(f"SELECT id, name, cause FROM cases WHERE id IN ({marks})")  # noqa: S608 - whole numbers
        return {int(row[0]): (str(row[1]), str(row[2])) for row in rows}

    def has_cases(self) -> bool:
        """Tell whether any judgment was imported."""
        return bool(self._all("SELECT 1 FROM cases LIMIT 1"))

    def case_facts(self, ids: Iterable[int]) -> Mapping[int, tuple[str, str]]:
        """Return court and date of judgments, for filtering."""
        marks = ",".join(str(int(known)) for known in ids)
        rows = self._all(f"SELECT id, court, date FROM cases WHERE id IN ({marks})")  # noqa: S608 - whole numbers
        return {int(row[0]): (str(row[1]), str(row[2])) for row in rows}

    def stats(self, generation: Path) -> IndexStats:
        """Return what the store holds."""
        counts = {
            table: int(self._all(f"SELECT count(*) FROM {table}")[0][0])  # noqa: S608 - names of our tables
            for table in ("versions", "articles", "citations", "cases", "rejected")
        }
        sources = self._all("SELECT path, kind, accepted, duplicates, rejected, done FROM sources ORDER BY id")
        size = sum(file.stat().st_size for file in generation.rglob("*") if file.is_file())
        return IndexStats(
            laws=len(self._by_law),
            versions=counts["versions"],
            articles=counts["articles"],
            citations=counts["citations"],
            cases=counts["cases"],
            rejected=counts["rejected"],
            size_bytes=size,
            built_at=self._meta("built_at"),
            semantic=(generation / "vectors.npy").is_file(),
            sources=tuple(SourceState(row[0], row[1], row[2], row[3], row[4], bool(row[5])) for row in sources),
        )

    def meta(self, key: str) -> str:
        """Return a fact about the store, an empty string where it is not known."""
        return self._meta(key)

    def _meta(self, key: str) -> str:
        rows = self._all("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def _article(self, row: Sequence[Any]) -> Article:
        article_id, version_id, number, suffix, label, headings, text = row
        return Article(
            article_id,
            self.versions[version_id],
            ArticleNumber(number, suffix) if number else None,
            label,
            tuple(headings.split("\n")) if headings else (),
            text,
        )

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._database.execute(sql, values).fetchall()

    def _all_laws(self) -> dict[int, Law]:
        rows = self._all("SELECT id, name, kind, issuer, department FROM laws")
        return {row[0]: Law(row[0], row[1], LawKind(row[2]), row[3], row[4]) for row in rows}

    def _all_versions(self) -> dict[int, LawVersion]:
        rows = self._all(
            "SELECT v.id, v.law_id, v.published, v.effective, v.basis, v.stated_status, s.label, v.url,"
            " (SELECT count(*) FROM articles a WHERE a.version_id = v.id)"
            " FROM versions v JOIN sources s ON s.id = v.source_id ORDER BY v.effective, v.published"
        )
        return {
            row[0]: LawVersion(row[0], self.laws[row[1]], row[2], row[3], DateBasis(row[4]), *row[5:]) for row in rows
        }

    def _all_amendments(self) -> dict[int, list[LawVersion]]:
        """Return for each law the documents that amend it, oldest first."""
        found: dict[int, list[LawVersion]] = {}
        for law_id, version_id in self._all("SELECT law_id, version_id FROM amendments"):
            found.setdefault(law_id, []).append(self.versions[version_id])
        for documents in found.values():
            documents.sort(key=lambda document: (document.effective, document.published))
        return found

    def _newest_of_each_source(self) -> dict[str, str]:
        """Return the newest day of publication in each source: what it says without a day it says of that day."""
        rows = self._all(
            "SELECT s.label, max(v.published) FROM versions v JOIN sources s ON s.id = v.source_id GROUP BY s.label"
        )
        return dict(rows)

    def _all_repeals(self) -> dict[int, Repeal]:
        rows = self._all("SELECT law_id, successor, date, article FROM repeals")
        return {row[0]: Repeal(self.laws[row[0]].name, row[1], row[2], row[3]) for row in rows}
