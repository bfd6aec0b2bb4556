"""What reading a page gives: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qiusuo.words import Fact, Language


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link on a page: where it leads and the words it stands on."""

    url: str
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the link in its JSON shape."""
        return {"url": self.url, "text": self.text}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as an agent reads it. ``text`` is Markdown where the page was HTML, without control characters.

    ``url`` is what was asked for, ``final_url`` where it led; ``published_at`` an ISO date; ``fetched_at`` an ISO time
    (UTC). ``truncated`` says that ``text`` was cut. ``notes`` tells what a reader should know about how it came.
    ``storable`` is False where the page forbids to keep it.
    """

    url: str
    final_url: str
    title: str
    text: str
    fetched_at: str
    content_type: str
    published_at: str | None = None
    language: str | None = None
    author: str | None = None
    site_name: str | None = None
    links: tuple[PageLink, ...] = ()
    truncated: bool = False
    notes: tuple[Fact, ...] = ()
    storable: bool = True

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the page in its JSON shape (camelCase), notes in a language; optional fields where they are known."""
        data: dict[str, Any] = {
            "url": self.url,
            "finalUrl": self.final_url,
            "title": self.title,
            "text": self.text,
            "truncated": self.truncated,
            "contentType": self.content_type,
            "fetchedAt": self.fetched_at,
            "links": [link.to_dict() for link in self.links],
        }
        optional = {
            "publishedAt": self.published_at,
            "language": self.language,
            "author": self.author,
            "siteName": self.site_name,
        }
        data |= {name: value for name, value in optional.items() if value is not None}
        if self.notes:
            data["notes"] = [note.text(language) for note in self.notes]
            data["noted"] = [note.to_dict() for note in self.notes]
        return data
