"""The documents of a store as the ranking takes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from qiusuo.legal.index.packed_texts import unpack
from qiusuo.legal.index.places import place_of
from qiusuo.legal.index.ranking import RankedDocument
from qiusuo.legal.models import Law, LawKind
from qiusuo.legal.reading.names import STATE


def article_documents(database: sqlite3.Connection) -> Iterator[RankedDocument]:
    """Yield the articles."""
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


def case_documents(database: sqlite3.Connection, after: int = 0) -> Iterator[RankedDocument]:
    """Yield the judgments without the first ``after`` of them."""
    if after:
        row = database.execute("SELECT id FROM cases ORDER BY id LIMIT 1 OFFSET ?", (after - 1,)).fetchone()
        last = row[0] if row else 0
    else:
        last = 0
    rows = database.execute(
        "SELECT c.id, c.name, c.cause, c.case_type, c.court, c.date, t.packed"
        " FROM cases c JOIN case_texts t ON t.case_id = c.id WHERE c.id > ? ORDER BY c.id",
        (last,),
    )
    for case_id, name, cause, case_type, court, day, packed in rows:
        texts = unpack(packed)
        rest = f"{name} {cause} {texts.reasoning} {texts.verdict}"
        fields = {"facts": texts.facts or texts.text, "rest": rest}
        yield RankedDocument(case_id, fields, {"type": case_type or "-", "court": court, "day": day})


def case_count(database: sqlite3.Connection) -> int:
    """Return how many judgments there are."""
    return int(database.execute("SELECT count(*) FROM cases").fetchone()[0])
