"""Citation markers in streamed text: found also when they are cut into pieces, and written as ``[n]``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.chat.models.native.sources import Numbering, domain_of, is_tagged, markers

_LABEL: Final = r"(?:\[[^\[\]\n]{1,8}\]|[^\[\]\n]{1,200})"
_URL: Final = r"https?://(?:[^\s()]|\([^\s()]*\))+"
_LINK: Final = rf"\[{_LABEL}\]\({_URL}\)"
_BETWEEN: Final = r"[,;，；、]?[ ]?"
# "([host](url))" is OpenAI's, also several in one pair of brackets; "[[1]](url)" is xAI's.
_MARKER: Final = re.compile(rf"\({_LINK}(?:{_BETWEEN}{_LINK})*\)|{_LINK}")
_LINK_PARTS: Final = re.compile(rf"\[(?P<label>{_LABEL})\]\((?P<url>{_URL})\)")
# Text that may become a marker when more of it comes.
_BEGINNING: Final = re.compile(
    rf"\(?(?:{_LINK}{_BETWEEN})*"
    rf"(?:\[(?:\[[^\[\]\n]{{0,8}}\]?|[^\[\]\n]{{0,200}})|\[{_LABEL}\](?:\((?:h|ht|htt|https?|https?:/?|https?://\S*)?)?)?"
)
_STARTS: Final = re.compile("[(\\[\ue200]")
# The model's own reference signs, which the provider should have replaced: private characters around "cite…".
_SIGN: Final = re.compile("\ue200[^\ue201]{0,200}\ue201")
_SIGN_OPEN: Final = "\ue200"
_MAX_SIGN: Final = 202
_MAX_MARKER: Final = 3000

PATIENCE: Final = 160
"""How many characters may come behind a link before it is settled that no annotation will explain it."""


@dataclass(frozen=True, slots=True)
class _Point:
    """Numbers to be written at a place of the text (``end``), in place of what is there from ``start`` on."""

    start: int
    end: int
    number: int


class AnnotatedText:
    """One text block whose citations are links in the text, explained by annotations that may come later.

    An annotation's offsets are not trusted where the text itself says it: a link to the annotated page is its marker.
    """

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._raw = ""
        self._done = 0
        self._points: list[_Point] = []

    def feed(self, text: str) -> None:
        """Take more of the text."""
        self._raw += text

    def annotate(self, annotation: dict[str, Any]) -> None:
        """Take an annotation (``url_citation``, or LangChain's ``citation``)."""
        number = self._numbering.cite(annotation.get("url"), annotation.get("title"))
        start, end = annotation.get("start_index"), annotation.get("end_index")
        if number is None or not isinstance(start, int) or not isinstance(end, int):
            return
        if end <= 0 or "](" in self._raw[start:end] or end < self._done:
            # A marker of its own, no place at all, or a place that is given out already.
            return
        if not self._raw[start:end].startswith(_SIGN_OPEN):
            start = end
        self._points.append(_Point(start, end, number))

    def release(self, *, final: bool = False) -> str:
        """Return the text that is certain by now, with its markers."""
        given: list[str] = []
        while self._done < len(self._raw):
            if self._at_point(given):
                continue
            stop = min((p.start for p in self._points if p.start >= self._done), default=len(self._raw))
            found = _STARTS.search(self._raw, self._done, min(stop, len(self._raw)))
            if found is None:
                self._give(given, min(stop, len(self._raw)))
            else:
                self._give(given, found.start())
                if not self._marker(given, final=final):
                    break
        self._at_point(given)
        return "".join(given)

    def _give(self, given: list[str], end: int) -> None:
        given.append(self._raw[self._done : end])
        self._done = end

    def _at_point(self, given: list[str]) -> bool:
        here = [point for point in self._points if point.start == self._done]
        if not here or max(point.end for point in here) > len(self._raw):
            return False
        self._points = [point for point in self._points if point not in here]
        given.append(markers(point.number for point in here))
        self._done = max(point.end for point in here)
        return True

    def _marker(self, given: list[str], *, final: bool) -> bool:
        """Deal with what begins here; False if more must come first."""
        if self._raw[self._done] == _SIGN_OPEN:
            return self._sign(final=final)
        found = _MARKER.match(self._raw, self._done)
        if found is None:
            tail = self._raw[self._done :]
            if not final and len(tail) <= _MAX_MARKER and _BEGINNING.fullmatch(tail):
                return False
            self._give(given, self._done + 1)
            return True
        links = [(each["label"].strip("[]"), each["url"]) for each in _LINK_PARTS.finditer(found[0])]
        numbers = [self._numbering.known(url) for _, url in links]
        if None in numbers:
            if not final and len(self._raw) - found.end() < PATIENCE:
                return False
            if not all(self._is_citation(found[0], url) for _, url in links):
                self._give(given, found.end())
                return True
            numbers = [self._numbering.cite(url, label) for label, url in links]
        given.append(_words_of(found[0], links) + markers(numbers))
        self._done = found.end()
        return True

    def _is_citation(self, marker: str, url: str) -> bool:
        # Else it is a link that the model has written for the reader.
        known = self._numbering.known(url) is not None
        return known or is_tagged(url) or marker.startswith("[[") or self._numbering.was_consulted(url)

    def _sign(self, *, final: bool) -> bool:
        found = _SIGN.match(self._raw, self._done)
        if found is None:
            if not final and len(self._raw) - self._done < _MAX_SIGN:
                return False
            self._done += 1
        elif not final and len(self._raw) - found.end() < PATIENCE:
            return False  # its annotation may still come
        else:
            self._done = found.end()
        return True


def _words_of(marker: str, links: list[tuple[str, str]]) -> str:
    """Return the words of a marker that belong to the sentence: "as [Reuters](…) reports", but not "([host](…))"."""
    (label, url), *more = links
    if more or marker.startswith("(") or label.isdigit() or domain_of(url) in label:
        return ""
    return label


_ENTRY: Final = re.compile(r"[\[【]\^?(?:ref[_ ]?|web:)?(\d{1,3})[\]】]")
_ENTRY_BEGINNING: Final = re.compile(r"[\[【][\^\w:]{0,8}$")


class NumberedText:
    """Text that refers to entries of a list: ``[ref_1]``, ``[1]``, ``[web:1]``, 【1】."""

    def __init__(self, number: Callable[[int], int | None]) -> None:
        self._number = number
        self._held = ""

    def feed(self, text: str) -> str:
        """Take more of the text; return what is certain by now."""
        text = self._held + text
        cut = found.start() if (found := _ENTRY_BEGINNING.search(text)) else len(text)
        self._held = text[cut:]
        return self._written(text[:cut])

    def finish(self) -> str:
        """End the text; return what was held back."""
        held, self._held = self._held, ""
        return self._written(held)

    def _written(self, text: str) -> str:
        # A reference to nothing is left out: with our numbers it might mean another page.
        return _ENTRY.sub(lambda found: markers([self._number(int(found[1]))]), text)
