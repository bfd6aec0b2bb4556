"""JSON lines: one article or one judgment per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from qiusuo.legal.building.importers.judgments_csv import COLUMNS
from qiusuo.legal.building.importers.lines import EXCERPT_CHARS, Line, read_lines
from qiusuo.legal.building.importers.records import Layout, Numbered, Parsed, Record
from qiusuo.legal.judgments.judgment_text import build_case
from qiusuo.legal.models import ArticleDraft, CaseDocument, LawDocument, LawKind, RejectedRow
from qiusuo.legal.reading.names import kind_of
from qiusuo.legal.reading.numbers import read_label

_LAW_FIELDS = ("law", "lawName", "law_name")
_LABEL_FIELDS = ("num", "articleNumber", "article_no")
_TEXT_FIELDS = ("content", "text", "article_text")
MAX_ARTICLES = 3000
# What stands in a law without a number of its own.
_UNNUMBERED = re.compile(r"全文|正文|序言|前言|引言|导言|绪言|题注|说明|附[件录表图].{0,12}")


def lines_of(path: Path, after: int) -> Iterator[Record]:
    """Yield the lines of a file after the first ``after`` of them."""
    for position, line in enumerate(read_lines(path), 1):
        if position > after:
            yield Record(position, line, len(line.text or ""), line.place)


def parse_line(line: Line) -> tuple[LawDocument, ArticleDraft] | CaseDocument | RejectedRow | None:
    """Read one line: an article with its law, or a judgment."""
    return RejectedRow(line.problem, line.excerpt) if line.text is None else _row(line.text)


def join_articles(parsed: Iterable[Parsed]) -> Iterator[Numbered]:
    """Make one document of the lines of one law in a row; judgments stand for themselves."""
    law: LawDocument | None = None
    drafts: list[ArticleDraft] = []
    aside: list[Numbered] = []  # lines between its articles that cannot be read
    last = Numbered(0, None)

    def finished() -> Iterator[Numbered]:
        yield from aside
        if law is not None:
            yield Numbered(last.position, replace(law, articles=tuple(drafts)), last.place)
        drafts.clear()
        aside.clear()

    for position, read, place in parsed:
        if read is None:
            continue
        if isinstance(read, tuple):
            its_law, draft = read
            if drafts and (law != its_law or len(drafts) + len(aside) >= MAX_ARTICLES):
                yield from finished()
            law = its_law
            drafts.append(draft)
        elif drafts and isinstance(read, RejectedRow):
            aside.append(Numbered(position, read, place, resumable=False))
        else:
            if drafts:
                yield from finished()
            yield Numbered(position, read, place)
        last = Numbered(position, None, place)
    if drafts:
        yield from finished()


JSON_LINES = Layout("json-lines", (".jsonl", ".jsonl.gz", ".ndjson", ".json"), lines_of, parse_line, join_articles)


def _row(text: str) -> tuple[LawDocument, ArticleDraft] | CaseDocument | RejectedRow | None:
    if not text.strip():
        return None
    try:
        row = orjson.loads(text)
    except (orjson.JSONDecodeError, RecursionError) as error:
        return RejectedRow(f"not JSON: {error}", text[:EXCERPT_CHARS])
    if not isinstance(row, dict):
        return RejectedRow("no JSON object", text[:EXCERPT_CHARS])
    law = _text(row, *_LAW_FIELDS)
    if law:
        return _article(row, law, text)
    if "facts" in row or "全文" in row or "verdict" in row:
        return _case(row, text)
    return RejectedRow(
        f"neither an article nor a judgment; fields: {', '.join(map(str, row))}"[:300], text[:EXCERPT_CHARS]
    )


def _article(row: dict[str, Any], name: str, line: str) -> tuple[LawDocument, ArticleDraft] | RejectedRow:
    """Return an article, and the law that it is of as a document without articles."""
    label, content = _label(row), _text(row, *_TEXT_FIELDS)
    if not content:
        return RejectedRow("an article without text", line[:EXCERPT_CHARS])
    number = read_label(label.strip("、.．。:：()（） "))
    if label and number is None and not _UNNUMBERED.fullmatch(label):
        # Shown without a number it would pass for the law's beginning.
        return RejectedRow(f"no article number can be read from {label[:40]!r}", line[:EXCERPT_CHARS])
    heads = row.get("heads") or row.get("headings") or ()
    headings = tuple(" ".join(str(head).split()) for head in heads) if isinstance(heads, list) else ()
    kinds = {kind.value: kind for kind in LawKind}
    law = LawDocument(
        name=name,
        articles=(),
        kind=kinds.get(_text(row, "kind")) or kind_of(name),
        issuer=_text(row, "issuer"),
        published=_text(row, "published", "publishDate", "publish_date"),
        effective=_text(row, "effective", "effectiveDate", "effective_date"),
        stated_status=_text(row, "status"),
        url=_text(row, "url"),
    )
    return law, ArticleDraft(label or "全文", content, number, headings)


def _case(row: dict[str, Any], line: str) -> CaseDocument | RejectedRow:
    fields = {field: str(row[name]) for name, field in COLUMNS.items() if row.get(name)}
    for name in ("name", "head", "facts", "reasoning", "verdict", "url", "court", "date", "number", "text"):
        if isinstance(row.get(name), str):
            fields.setdefault(name, row[name])
    if isinstance(row.get("doc"), str):
        fields["title"] = row["doc"]
    if "text" not in fields:
        parts = [fields.get(name, "") for name in ("head", "facts", "reasoning", "verdict")]
        fields["text"] = "\n".join(part.strip() for part in parts if part.strip())
    if not fields["text"].strip():
        return RejectedRow("a judgment without text", line[:EXCERPT_CHARS])
    return build_case(fields)


def _label(row: dict[str, Any]) -> str:
    """Return an article's label; a number may be given as such: 577."""
    values = (row[name] for name in _LABEL_FIELDS if name in row)
    value = next((value for value in values if value is not None and value != ""), "")
    return value.strip() if isinstance(value, str) else str(value)


def _text(row: dict[str, Any], *names: str) -> str:
    value = next((row[name] for name in names if row.get(name)), "")
    return value.strip() if isinstance(value, str) else ""
