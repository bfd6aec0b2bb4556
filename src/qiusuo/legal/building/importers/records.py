"""What a file is read as: records in their order, each parsed by itself, and entries that an import can go on after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from qiusuo.legal.models import CaseDocument, LawDocument, RejectedRow

Entry = LawDocument | CaseDocument | RejectedRow


class Record(NamedTuple):
    """A part of a file that can be parsed without the others.

    ``position`` counts what was read of the file with it (its lines, say), ``size`` its characters, and ``place`` says
    how far into the file that is, in bytes.
    """

    position: int
    raw: Any
    size: int = 0
    place: int = 0


class Parsed(NamedTuple):
    """A record that was parsed; ``read`` is None where there was nothing in it."""

    position: int
    read: Any
    place: int = 0


class Numbered(NamedTuple):
    """An entry, and whether an import that ends after it can go on with what follows."""

    position: int
    entry: Any
    place: int = 0
    resumable: bool = True


def as_it_is(raw: Any) -> Any:
    """Parse what the records hold already."""
    return raw


def one_by_one(parsed: Iterable[Parsed]) -> Iterator[Numbered]:
    """Yield each record as an entry."""
    for one in parsed:
        if one.read is not None:
            yield Numbered(one.position, one.read, one.place)


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout by its name, how its files are called, and how they are read.

    ``records`` cuts a file into records, from after the given position on; it has to be quick. ``parse`` makes of one
    what it says, perhaps in another process. ``join`` makes entries of what was parsed.
    """

    name: str
    endings: tuple[str, ...]
    records: Callable[[Path, int], Iterator[Record]]
    parse: Callable[[Any], Any] = as_it_is
    join: Callable[[Iterable[Parsed]], Iterator[Numbered]] = one_by_one

    def read(self, path: Path) -> Iterator[Entry]:
        """Yield all entries of a file."""
        parsed = (Parsed(record.position, self.parse(record.raw)) for record in self.records(path, 0))
        return (numbered.entry for numbered in self.join(parsed))


def whole_documents(read: Callable[[Path], Iterator[Entry]]) -> Callable[[Path, int], Iterator[Record]]:
    """Return the records of a layout whose files are read as a whole."""

    def records(path: Path, after: int) -> Iterator[Record]:
        for position, entry in enumerate(read(path), 1):
            if position > after:
                yield Record(position, entry)

    return records
