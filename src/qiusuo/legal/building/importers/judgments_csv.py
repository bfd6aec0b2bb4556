"""The widely shared CSV of judgments: 原始链接, 案号, 案件名称, 法院, …, 全文."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from qiusuo.legal.building.importers.lines import EXCERPT_CHARS, MAX_LINE_BYTES, Line, read_lines
from qiusuo.legal.building.importers.records import Layout, Record
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


def records_of(path: Path, after: int) -> Iterator[Record]:
    """Yield the rows of one file after the first ``after`` lines. Columns may be missing, except the text."""
    lines = _Lines(read_lines(path))
    header = next(_records(lines, 0), None)
    if header is None or isinstance(header, RejectedRow):
        yield Record(lines.taken, header or RejectedRow("the file is empty"))
        return
    names = [name.strip().lstrip("\ufeff") for name in header]
    fields = [COLUMNS.get(name, "") for name in names]
    if _NEEDED not in fields:
        problem = f"the column 全文 is missing; columns found: {', '.join(names) or 'none'}"
        yield Record(lines.taken, RejectedRow(problem, ",".join(names)))
        return
    while lines.taken < after and lines.take() is not None:
        pass
    for record in _records(lines, len(header)):
        yield _row(record, fields, lines)


def _row(record: list[str] | RejectedRow, fields: list[str], lines: _Lines) -> Record:
    if isinstance(record, RejectedRow):
        return Record(lines.taken, record, len(record.excerpt), lines.place)
    size = sum(map(len, record))
    if len(record) != len(fields):
        problem = f"{len(record)} fields instead of {len(fields)}"
        return Record(lines.taken, RejectedRow(problem, ",".join(record)[:EXCERPT_CHARS]), size, lines.place)
    row = {field: value for field, value in zip(fields, record, strict=True) if field}
    if not row[_NEEDED].strip():
        empty = RejectedRow("no text (全文 is empty)", ",".join(record)[:EXCERPT_CHARS])
        return Record(lines.taken, empty, size, lines.place)
    return Record(lines.taken, row, size, lines.place)


def parse_row(row: dict[str, str] | RejectedRow) -> CaseDocument | RejectedRow:
    """Read one judgment."""
    return row if isinstance(row, RejectedRow) else build_case(row)


class _Lines:
    """The lines of a file; some may be put back. ``taken`` counts those that were not."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._waiting: deque[Line] = deque()
        self.taken = 0
        self.place = 0

    def take(self) -> Line | None:
        line = self._waiting.popleft() if self._waiting else next(self._lines, None)
        if line is not None:
            self.taken += 1
            self.place = line.place
        return line

    def put_back(self, lines: list[Line]) -> None:
        self._waiting.extendleft(reversed(lines))
        self.taken -= len(lines)


def _records(lines: _Lines, width: int) -> Iterator[list[str] | RejectedRow]:
    """Yield records of ``width`` fields, or of as many as the first has.

    A quote that is never closed costs its own line only, not the rest of the file.
    """
    while (line := lines.take()) is not None:
        if line.text is None:
            yield RejectedRow(line.problem, line.excerpt)
            continue
        if not line.text.strip():
            continue
        taken, size, open_quote = [line], len(line.text), line.text.count('"') % 2 == 1
        while open_quote and size <= MAX_LINE_BYTES:
            following = lines.take()
            if following is None:
                break
            taken.append(following)
            size += len(following.text or "")
            open_quote ^= (following.text or "").count('"') % 2 == 1
        if open_quote:
            lines.put_back(taken[1:])
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
            lines.put_back(taken[1:])
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


JUDGMENTS_CSV = Layout("judgments-csv", (".csv", ".csv.gz"), records_of, parse_row)
