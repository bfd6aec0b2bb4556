"""The widely shared CSV of judgments: 原始链接, 案号, 案件名称, 法院, …, 全文."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from qiusuo.legal.building.importers.lines import EXCERPT_CHARS, MAX_LINE_BYTES, Line, read_lines
from qiusuo.legal.judgments.judgment_text import build_case
from qiusuo.legal.models import CaseDocument, RejectedRow

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "原始链接": "url",
        "链接": "url",
        "案号": "number",
        "案件名称": "name",
        "标题": "name",
        "法院": "court",
        "审理法院": "court",
        "案件类型": "case_type",
        "审理程序": "procedure",
        "裁判日期": "date",
        "当事人": "parties",
        "案由": "cause",
        "法律依据": "legal_basis",
        "全文": "text",
        "正文": "text",
    }
)
_NEEDED = "text"


def read_judgments_csv(path: Path) -> Iterator[CaseDocument | RejectedRow]:
    """Read the judgments of one file. Columns may be missing, except the text."""
    records = _records(read_lines(path))
    header = next(records, None)
    if header is None or isinstance(header, RejectedRow):
        yield header or RejectedRow("the file is empty")
        return
    names = [name.strip().lstrip("\ufeff") for name in header]
    fields = [COLUMNS.get(name, "") for name in names]
    if _NEEDED not in fields:
        yield RejectedRow(f"the column 全文 is missing; columns found: {', '.join(names) or 'none'}", ",".join(names))
        return
    for record in records:
        if isinstance(record, RejectedRow):
            yield record
        elif len(record) != len(fields):
            yield RejectedRow(f"{len(record)} fields instead of {len(fields)}", ",".join(record)[:EXCERPT_CHARS])
        else:
            row = {field: value for field, value in zip(fields, record, strict=True) if field}
            if row[_NEEDED].strip():
                yield build_case(row)
            else:
                yield RejectedRow("no text (全文 is empty)", ",".join(record)[:EXCERPT_CHARS])


def _records(lines: Iterator[Line]) -> Iterator[list[str] | RejectedRow]:
    """Yield records. A quote that is never closed costs its own line only, not the rest of the file."""
    waiting: deque[Line] = deque()
    width = 0
    while True:
        line = waiting.popleft() if waiting else next(lines, None)
        if line is None:
            return
        if line.text is None:
            yield RejectedRow(line.problem, line.excerpt)
            continue
        if not line.text.strip():
            continue
        taken, size, open_quote = [line], len(line.text), line.text.count('"') % 2 == 1
        while open_quote and size <= MAX_LINE_BYTES:
            following = waiting.popleft() if waiting else next(lines, None)
            if following is None:
                break
            taken.append(following)
            size += len(following.text or "")
            open_quote ^= (following.text or "").count('"') % 2 == 1
        if open_quote:
            waiting.extendleft(reversed(taken[1:]))
            yield RejectedRow("a quote that is never closed", line.text[:EXCERPT_CHARS])
            continue
        broken = next((part for part in taken if part.text is None), None)
        if broken is not None:
            yield RejectedRow(broken.problem, taken[0].text or broken.excerpt)
            continue
        record = _parsed("\n".join(part.text or "" for part in taken))
        width = width or _width(record)
        if len(taken) > 1 and _width(record) != width:
            # The quote that opened here was closed by that of another record.
            waiting.extendleft(reversed(taken[1:]))
            record = RejectedRow("a quote that is never closed", line.text[:EXCERPT_CHARS])
        yield record


def _width(record: list[str] | RejectedRow) -> int:
    return 0 if isinstance(record, RejectedRow) else len(record)


def _parsed(record: str) -> list[str] | RejectedRow:
    limit = csv.field_size_limit(MAX_LINE_BYTES * 2)
    try:
        return next(csv.reader(io.StringIO(record, newline="")))
    except (csv.Error, StopIteration) as error:
        return RejectedRow(f"not CSV: {error}", record[:EXCERPT_CHARS])
    finally:
        csv.field_size_limit(limit)
