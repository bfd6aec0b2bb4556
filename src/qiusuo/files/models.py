"""The text of a file, in the parts that are cited: pages of a PDF, sections or lines of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from qiusuo.words import Fact

MAX_BYTES: Final = 10 * 1024 * 1024
"""Of one file."""
PER_MESSAGE: Final = 5
"""Files that may be added before one question."""
MAX_CHARS: Final = 1_000_000
"""Characters of a file that are read; a book has fewer."""
ADDRESS: Final = "#file-"
"""How the address of a part begins: it leads nowhere but to the card of the source."""


class FileKind(StrEnum):
    """The kinds of files that are read."""

    PDF = "pdf"
    DOCX = "docx"
    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file. ``page`` and ``line`` count from 1; 0 means that the kind has none."""

    text: str
    page: int = 0
    heading: str = ""
    line: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the part in its JSON shape."""
        return {"text": self.text, "page": self.page, "heading": self.heading, "line": self.line}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Part:
        """Rebuild a part from ``to_dict``."""
        return cls(str(data["text"]), int(data["page"]), str(data["heading"]), int(data["line"]))


@dataclass(frozen=True)
class FileText:
    """A file that was read. ``id`` is made of its content; ``size`` counts its bytes, ``pages`` those of a PDF.

    ``cut``: it is longer than what was read.
    """

    id: str
    name: str
    kind: FileKind
    size: int
    parts: Sequence[Part]
    pages: int = 0
    cut: bool = False

    @cached_property
    def chars(self) -> int:
        """How many characters of it there are."""
        return sum(len(part.text) for part in self.parts)

    @property
    def about(self) -> Fact:
        """Its name with how long it is."""
        return about_file(self.name, self.pages, self.chars)

    def address(self, index: int) -> str:
        """Return the address of a part, by which it keeps its number in the conversation."""
        return f"{ADDRESS}{self.id}-{index + 1}"

    def place(self, index: int) -> Fact:
        """Say where a part stands: the name, and the page, the heading or the line."""
        part = self.parts[index]
        if part.page:
            return Fact("file.on_page", name=self.name, page=part.page)
        if part.heading:
            return Fact("file.below", name=self.name, heading=part.heading)
        if part.line > 1:
            return Fact("file.at_line", name=self.name, line=part.line)
        return Fact("file.itself", name=self.name)


def about_file(name: str, pages: int, chars: int) -> Fact:
    """Return the name of a file with how long it is."""
    if pages:
        return Fact("file.of_pages", name=name, count=pages)
    return Fact("file.of_chars", name=name, count=chars)
