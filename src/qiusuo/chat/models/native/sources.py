"""Numbers for the pages that a model's own search has used."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from qiusuo.chat.models.port import NativeSource
from qiusuo.text import clean
from qiusuo.urls import canonical_url, link_url

_log = logging.getLogger(__name__)

MAX_CONSULTED: Final = 10
"""How many pages are named if an answer cites none of those that were looked at."""

_MAX_TITLE: Final = 200
_OPENAI_TAG: Final = "utm_source=openai"


def untagged(url: str) -> str:
    """Return the address without the ``utm_source=openai`` that OpenAI adds; all else of it stays as it is."""
    if _OPENAI_TAG not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    query = "&".join(part for part in parts.query.split("&") if part != _OPENAI_TAG)
    return urlunsplit(parts._replace(query=query))


def is_tagged(url: str) -> bool:
    """Tell whether OpenAI has marked the address as one of its citations."""
    return _OPENAI_TAG in url


def domain_of(url: str) -> str:
    """Return the host without ``www.``; the address itself where it has none."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return host.removeprefix("www.") or url


def source_of(url: object, title: object = "", cited_text: object = "") -> NativeSource | None:
    """Return the source, None where the address may not be shown. A title that says nothing becomes the domain."""
    if not isinstance(url, str):
        return None
    plain = untagged(url.strip())
    if link_url(plain) is None:
        return None
    label = clean(title, _MAX_TITLE)
    # xAI gives the number of the citation as its title.
    if not label or re.fullmatch(r"[\[\d\]]+", label) or label.startswith(("http://", "https://")):
        label = domain_of(plain)
    return NativeSource(label, plain, cited_text.strip() if isinstance(cited_text, str) else "")


class Numbering:
    """Gives each page the next number when it is first cited; the same page keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._fresh: list[NativeSource] = []
        self._consulted: dict[str, NativeSource] = {}

    def cite(self, url: object, title: object = "", cited_text: object = "") -> int | None:
        """Return the number of a cited page, None where the address cannot be shown."""
        source = source_of(url, title, cited_text)
        if source is None:
            return None
        key = canonical_url(source.url)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._fresh.append(source)
        return self._numbers[key]

    def known(self, url: str) -> int | None:
        """Return the number of a page that was cited before."""
        return self._numbers.get(canonical_url(untagged(url)))

    def consult(self, url: object, title: object = "") -> None:
        """Note a page that the model has looked at; it gets a number only if it is cited."""
        if source := source_of(url, title):
            self._consulted.setdefault(canonical_url(source.url), source)

    def was_consulted(self, url: str) -> bool:
        """Tell whether the model has looked at the page."""
        return canonical_url(untagged(url)) in self._consulted

    def take(self) -> tuple[NativeSource, ...]:
        """Return the sources that are new since the last call, in the order of their numbers."""
        fresh, self._fresh = tuple(self._fresh), []
        return fresh

    def finish(self) -> tuple[NativeSource, ...]:
        """Return what is left; of an answer that cites nothing, the pages that the model has looked at."""
        if not self._numbers:
            for source in [*self._consulted.values()][:MAX_CONSULTED]:
                self.cite(source.url, source.title)
        return self.take()


class Listed:
    """Numbers for answers that refer to entries of a list (``[ref_3]``), which may come before or after the text.

    A list that is there first gives the numbers, in its own order. Else they are given in the order in which the text
    refers to the entries, and the sources follow when the list comes.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._entries: dict[int, NativeSource] = {}
        self._last: list[Mapping[str, Any]] = []
        self._complete = False
        self._given = 0

    def add(self, rows: Iterable[Any], number_key: str, url_key: str, text_key: str) -> None:
        """Take rows of the list. Each has its number under ``number_key``; without one, its place counts."""
        found = [row for row in rows if isinstance(row, Mapping)]
        if not found or found == self._last:  # some providers give the same list once more at the end
            return
        self._last = found
        for row in found:
            source = source_of(row.get(url_key), row.get("title"), clean(row.get(text_key)))
            entry = _digits(row.get(number_key))
            if entry is None:
                entry = len(self._entries) + 1
            elif source is not None and self._entries.get(entry, source).url != source.url:
                # A second search that counts from 1 again.
                entry = max(self._entries) + 1
            if source is not None:
                self._entries.setdefault(entry, source)
            self._complete = True

    def number(self, entry: int) -> int | None:
        """Return our number for an entry; None if there is no such entry."""
        if self._complete and entry not in self._entries:
            return None
        if self._complete and not self._numbers:
            self._number_all()
        return self._numbers.setdefault(entry, len(self._numbers) + 1)

    def take(self) -> tuple[NativeSource, ...]:
        """Return the sources that are new since the last call, in the order of their numbers."""
        if not self._complete:
            return ()
        self._number_all()
        found: list[NativeSource] = []
        for entry in [*self._numbers][self._given :]:
            source = self._entries.get(entry)
            if source is None:
                # What comes behind would get a wrong number: rather a citation without a page than with another one.
                _log.warning("the answer cites entry %d, which is not in the list of results", entry)
                break
            found.append(source)
        self._given += len(found)
        return tuple(found)

    def _number_all(self) -> None:
        for entry in self._entries:
            self._numbers.setdefault(entry, len(self._numbers) + 1)


def _digits(value: object) -> int | None:
    if isinstance(value, int):
        return value
    found = re.search(r"\d+", value) if isinstance(value, str) else None
    return int(found[0]) if found else None


def markers(numbers: Iterable[int | None]) -> str:
    """Return ``[1][3]`` for the numbers, each one once."""
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers) if number is not None)
