"""Judgments as the store takes them, made beside the one writer: in two processes where there is much to read.

Parsing and packing cost most of an import's reading. The processes end with the one that started them, however that
ends: their input is closed then.
"""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.legal.building.importers.records import Layout, Parsed, Record
from qiusuo.legal.index.packed_texts import CaseTexts, pack
from qiusuo.legal.judgments.judgment_text import case_number_key
from qiusuo.legal.models import CaseDocument

Parse = Callable[[Any], Any]
PROCESSES: Final = 2
CHUNK_RECORDS: Final = 200
CHUNK_CHARACTERS: Final = 1_000_000
MUCH_BYTES: Final = 4_000_000
"""So much to read, as it lies on the disk, is worth the start of processes."""


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A judgment as a row of the store; ``digest`` tells whether it is there already."""

    digest: bytes
    number: str
    number_key: str
    name: str
    court: str
    case_type: str
    procedure: str
    date: str
    parties: str
    cause: str
    legal_basis: str
    url: str
    packed: bytes


def case_row(case: CaseDocument) -> CaseRow:
    """Make the row of a judgment."""
    text = case.text.encode("utf-8", "replace").decode()
    texts = CaseTexts(text, *(part.encode("utf-8", "replace").decode() for part in _parts(case)))
    return CaseRow(
        hashlib.sha256(f"{case.number}\n{text}".encode()).digest()[:16],
        case.number,
        case_number_key(case.number),
        case.name,
        case.court,
        case.case_type,
        case.procedure,
        case.date,
        case.parties,
        case.cause,
        case.legal_basis,
        case.url,
        pack(texts),
    )


def _parts(case: CaseDocument) -> tuple[str, str, str]:
    return case.facts, case.reasoning, case.verdict


def prepared(parse: Parse, records: Iterable[Record]) -> Generator[Parsed]:
    """Parse records, one after the other."""
    return (Parsed(record.position, prepare(parse, record.raw), record.place) for record in records)


def prepare(parse: Parse, raw: Any) -> Any:
    """Parse one record; a judgment becomes a row of the store."""
    read = parse(raw)
    return case_row(read) if isinstance(read, CaseDocument) else read


def prepared_beside(layout: Layout, records: Iterable[Record]) -> Generator[Parsed]:
    """Parse records in processes beside this one; they come back in their order."""
    with ExitStack() as stack:
        workers = [stack.enter_context(closing(_Worker(layout.name))) for _ in range(PROCESSES)]
        # Each has one chunk at a time and gets the next when it gives that back: neither side can wait for the other.
        busy: deque[tuple[_Worker, list[Record]]] = deque()
        chunks = _chunks(records)
        for worker in workers:
            _hand_out(worker, chunks, busy)
        while busy:
            worker, chunk = busy.popleft()
            read = worker.take()
            _hand_out(worker, chunks, busy)
            for record, one in zip(chunk, read, strict=True):
                yield Parsed(record.position, one, record.place)


def _hand_out(worker: _Worker, chunks: Iterator[list[Record]], busy: deque[tuple[_Worker, list[Record]]]) -> None:
    chunk = next(chunks, None)
    if chunk is not None:
        worker.give([record.raw for record in chunk])
        busy.append((worker, [record._replace(raw=None) for record in chunk]))


def _chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += record.size
        if len(chunk) >= CHUNK_RECORDS or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class _Worker:
    """A process that parses chunks of records of one layout. It ends when its input does."""

    def __init__(self, layout: str) -> None:
        code = "from qiusuo.legal.building.parsing_process import main; main()"
        self._process = subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, "-c", code, layout],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a terminal sends Ctrl-C to the whole group: who started it ends it
        )

    def give(self, raw: list[Any]) -> None:
        if self._process.stdin is not None:
            pickle.dump(raw, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()

    def take(self) -> list[Any]:
        """Return what was made of the chunk.

        Raises:
            EOFError: the process has ended; its own words are on the terminal.
        """
        if self._process.stdout is None:
            raise EOFError
        read: list[Any] = pickle.load(self._process.stdout)  # noqa: S301 - what our own process has written
        return read

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
