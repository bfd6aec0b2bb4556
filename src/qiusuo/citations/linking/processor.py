"""Turns the citation markers of an answer into links, all at once or while the answer streams in."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from qiusuo.citations.linking.markers import Marker
from qiusuo.citations.linking.references import HEADING, Reference, reference_list
from qiusuo.citations.linking.scanner import MarkerScanner
from qiusuo.models import SearchResultItem
from qiusuo.urls import canonical_url

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted text: the numbers it cites, and how often it names numbers that no source has."""

    text: str
    used: tuple[int, ...]
    invalid: Mapping[int, int]
    markers: tuple[Marker, ...]


class CitationProcessor:
    """Knows the source behind each number.

    Results are numbered from 1 in their order. A page that comes twice keeps its first number: the later one is
    understood and shown as the first.
    """

    def __init__(self, results: Iterable[SearchResultItem] = ()) -> None:
        references: dict[int, Reference] = {}
        first_number: dict[str, int] = {}
        for number, item in enumerate(results, 1):
            same = first_number.setdefault(page_key(item), number)
            references[number] = references[same] if same != number else Reference.of(number, item)
        self._references = references
        self._warned: set[int] = set()

    @classmethod
    def from_references(cls, references: Mapping[int, Reference]) -> CitationProcessor:
        """Return a processor for sources that are numbered already."""
        processor = cls()
        processor._references = dict(references)
        return processor

    @property
    def sources(self) -> Mapping[int, Reference]:
        """The source behind every number that may be cited."""
        return MappingProxyType(self._references)

    @property
    def numbers(self) -> list[int]:
        """The number that each result is shown with, in the order of the results."""
        return [reference.number for reference in self._references.values()]

    def convert(self, text: str, *, note: str = "") -> str:
        """Return ``text`` with valid markers as links ``[[1]](url)``; everything else stays as it is.

        A ``note`` becomes the title of the links, which browsers show when the pointer rests on them.
        """
        return _run(self.stream(note=note), text)

    def analyse(self, text: str) -> Conversion:
        """Convert ``text`` and tell what it cites."""
        stream = self.stream()
        converted = _run(stream, text)
        return Conversion(converted, stream.used, stream.invalid, stream.markers)

    def stream(self, *, note: str = "") -> CitationStream:
        """Return a converter for one answer that arrives piece by piece."""
        return CitationStream(self._references, self._warned, note)

    def used_references(self, text: str) -> tuple[Reference, ...]:
        """Return the sources that ``text`` cites (before or after conversion), by number."""
        return tuple(self._references[number] for number in self.analyse(text).used)

    def references(self, text: str, heading: str = HEADING) -> str:
        """Return the list of the sources that ``text`` cites as Markdown, an empty string if it cites none."""
        return reference_list(self.used_references(text), heading)

    def to_dict(self) -> dict[str, Any]:
        """Return the processor in its JSON shape."""
        return {"sources": {str(number): reference.to_dict() for number, reference in self._references.items()}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CitationProcessor:
        """Rebuild a processor from ``to_dict``."""
        return cls.from_references({int(n): Reference.from_dict(source) for n, source in data["sources"].items()})


class CitationStream:
    """Converts one answer piece by piece: ``feed`` every piece, then ``finish``; the joined output is the answer.

    Holds back only what may still belong to a marker. ``used``, ``invalid`` and ``markers`` tell what was seen so far.
    """

    def __init__(self, references: Mapping[int, Reference], warned: set[int], note: str = "") -> None:
        self._references: dict[int, Reference] = {}
        self._links: dict[int, str | None] = {}  # of the numbers that were cited
        self._note = note
        self.add(references)
        self._warned = warned
        self._used: set[int] = set()
        self._invalid: Counter[int] = Counter()
        self._markers: list[Marker] = []
        self._scanner = MarkerScanner(self)
        self._finished = False

    def add(self, references: Mapping[int, Reference]) -> None:
        """Make more sources known, from here on (a model that searches by itself names them as it goes)."""
        for number, reference in references.items():
            self._references[number] = reference
            self._links.pop(number, None)

    def feed(self, chunk: str) -> str:
        """Take the next piece of the answer; return the text that is certain by now."""
        if self._finished:
            raise RuntimeError("this stream is finished; ask the processor for a new one")
        return self._scanner.feed(chunk)

    def finish(self) -> str:
        """End the answer; return what was held back. A second call returns nothing."""
        if self._finished:
            return ""
        self._finished = True
        return self._scanner.finish()

    @property
    def used(self) -> tuple[int, ...]:
        """The numbers of the sources cited so far, in rising order."""
        return tuple(sorted(self._used))

    @property
    def invalid(self) -> Mapping[int, int]:
        """How often each number was cited that no source has."""
        return dict(self._invalid)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers and numbered links seen so far that cite at least one source."""
        return tuple(self._markers)

    def replace(self, marker: Marker) -> str | None:
        """Return the links for a marker; what cannot be linked stays as text, in brackets of its own."""
        pieces: list[str] = []
        kept: list[int] = []
        cited: dict[int, str | None] = {}
        for number in marker.numbers:
            reference = self._references.get(number)
            if reference is None:
                self._note_invalid(number)
            elif reference.number in cited:
                continue
            link = self._link(number, reference) if reference else None
            if reference:
                cited[reference.number] = link
            if link is None:
                kept.append(number)
                continue
            if kept:
                pieces.append(marker.written(kept))
                kept = []
            pieces.append(link)
        if cited:
            self._used.update(cited)
            self._markers.append(marker)
        if not any(cited.values()):
            return None
        if kept:
            pieces.append(marker.written(kept))
        return "".join(pieces)

    def linked(self, marker: Marker, destination: str) -> None:
        """Count a link that an earlier conversion made as a citation."""
        cited = [self._references[number] for number in marker.numbers if number in self._references]
        if cited and destination == cited[0].link:
            self._used.add(cited[0].number)
            self._markers.append(marker)

    def _link(self, number: int, reference: Reference) -> str | None:
        if number not in self._links:
            self._links[number] = reference.linked_marker(self._note)
        return self._links[number]

    def _note_invalid(self, number: int) -> None:
        self._invalid[number] += 1
        if number not in self._warned:
            self._warned.add(number)
            logger.warning(
                "citation [%d] names no source (there are %d); its text is kept", number, len(self._references)
            )


def _run(stream: CitationStream, text: str) -> str:
    return stream.feed(text) + stream.finish()


def page_key(item: SearchResultItem) -> str:
    """Return what tells pages apart: the canonical address, or the title where there is none."""
    return canonical_url(item.url) or f"\x00{item.title}"
