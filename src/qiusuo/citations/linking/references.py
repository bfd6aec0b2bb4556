"""Sources with their numbers, and the lists of them that readers see."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.models import SearchResultItem, domain_of
from qiusuo.text import clean, truncate
from qiusuo.urls import link_url
from qiusuo.words import Fact, Language

HEADING: Final = Fact("citations.references").text(Language.CHINESE)
LINK: Final = re.compile(
    r'\[\[(\d{1,4})\]\]\((https?://[^()\s]*(?:\([^()\s]*\)[^()\s]*)*|#file-[\w-]+)(?: "(?:[^"\\\n]|\\.)*")?\)'
)
"""A citation as we link it: its number and address."""
# A passage of a file of the conversation: it leads to the card of the source, nowhere else.
_IN_FILE: Final = re.compile(r"#file-[\w-]{1,80}", re.ASCII)
_TITLE_CHARS = 200
# Everything that could open a link, an image, code, emphasis, HTML, an entity or a table cell, or be taken for an
# address by renderers that link bare ones.
_MARKDOWN = re.compile(r"[\\`*_\[\]<>&~|$!#^=]|:(?=//)|@|(?<=\bwww)\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A source as readers see it: its number, title, address and domain.

    ``snippet`` is what the search engine showed of it. ``link`` is the escaped address, None where it may not be
    linked (only http and https may, and passages of files).
    """

    number: int
    title: str
    url: str
    domain: str
    snippet: str = ""

    @classmethod
    def of(cls, number: int, item: SearchResultItem) -> Reference:
        """Return the reference for a search result."""
        return cls(number, item.title, item.url, item.source or domain_of(item.url), item.snippet)

    @property
    def link(self) -> str | None:
        return self.url if _IN_FILE.fullmatch(self.url) else link_url(self.url)

    def marker(self, tooltip: str = "") -> str:
        """Return the citation as Markdown: ``[[1]](https://...)``, or ``[1]`` where there is nothing to link to."""
        return self.linked_marker(tooltip) or f"[{self.number}]"

    def linked_marker(self, tooltip: str = "") -> str | None:
        """Return the citation as a link in Markdown, None where there is nothing to link to."""
        link = self.link
        if link is None:
            return None
        return f'[[{self.number}]]({link} "{escape_title(tooltip)}")' if tooltip else f"[[{self.number}]]({link})"

    def line(self) -> str:
        """Return the entry of a reference list as Markdown."""
        title = escape_markdown(self.title) or escape_markdown(self.domain) or "—"
        domain = escape_markdown(self.domain)
        return f"- {self.marker()} {title}" + (f" — {domain}" if domain and domain != title else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the reference in its JSON shape."""
        return {
            "number": self.number,
            "title": self.title,
            "url": self.url,
            "domain": self.domain,
            "snippet": self.snippet,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reference:
        """Rebuild a reference from ``to_dict``."""
        return cls(data["number"], data["title"], data["url"], data["domain"], data.get("snippet", ""))


def without_file_links(markdown: str) -> str:
    """Return an answer or a list of references whose citations of files are bare: for readers beside the chat page."""
    return LINK.sub(lambda found: f"[{found[1]}]" if _IN_FILE.fullmatch(found[2]) else found[0], markdown)


def reference_list(references: Iterable[Reference], heading: str = HEADING) -> str:
    """Return a list of references as Markdown, an empty string for none.

    Entries are bullets that carry their number: Markdown would count a numbered list 2, 5 as 2, 3.
    """
    lines = [reference.line() for reference in references]
    return "\n".join([f"## {heading}", "", *lines]) if lines else ""


def escape_markdown(text: str) -> str:
    """Return foreign text as one line that Markdown shows as it is: no links, images, code, HTML or emphasis."""
    return _MARKDOWN.sub(r"\\\g<0>", truncate(clean(text), _TITLE_CHARS))


def escape_title(text: str) -> str:
    """Return text that may stand between the quotes of a link's title."""
    return re.sub(r"[\\\"<>&]", r"\\\g<0>", clean(text))
