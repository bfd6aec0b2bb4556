"""Questions that may come next: asked for from the model behind its answer, or taken from what a search has brought.

They are words of a model, a provider or a page: shown as text, short, and asked only when the reader wishes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from qiusuo.text import clean

MOST: Final = 3
LONGEST: Final = 120
BEGIN: Final = "<related-questions>"
END: Final = "</related-questions>"

_SHORTEST: Final = 4
_LONGEST_BLOCK: Final = 1500
_MOST_HELD: Final = 200
_FENCE: Final = re.compile(r"[ \t]*`{1,3}[a-z]{0,12}")
_FENCE_END: Final = "```"
_FENCE_LINE: Final = re.compile(r"^[ \t]*```", re.MULTILINE)
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•]\s+|\(?\d{1,2}[.)、．）:：]\s*)")
_WRAPPING: Final = '*_`"“” \t'
_NOT_ASKED: Final = re.compile(r"://|[<>{}\[\]|\\]")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_ASKS: Final = re.compile(
    r"[?？]$|^(?:how|what|why|when|where|which|who|can|is|are|do|does|should)\b.{8}"
    r"|如何|怎么|怎样|为什么|什么|哪些|哪个|是否|多少|吗$|呢$",
    re.IGNORECASE,
)
_SAME: Final = re.compile(r"[\W_]+")


@dataclass(slots=True)
class Suggestions:
    """What is gathered in a turn. ``by_model``: the model was asked for them, so that a search has no say."""

    asked: str
    wanted: bool = False
    by_model: bool = False
    said: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def questions(self, pages: Iterable[str] = ()) -> tuple[str, ...]:
        """Return those to show; ``pages`` are texts whose headings may be questions."""
        if not self.wanted:
            return ()
        if self.by_model:
            return tidy(self.said, self.asked)
        headings = (title for page in pages for title in _HEADING.findall(page) if _ASKS.search(title))
        return tidy([*self.found, *headings], self.asked)


def tidy(candidates: Iterable[str], asked: str) -> tuple[str, ...]:
    """Return the first few that a reader may ask: short, plain, none twice, none that was just asked."""
    known, kept = {_key(asked)}, []
    for candidate in candidates:
        text = clean(_LIST_MARK.sub("", candidate)).strip(_WRAPPING)
        if not _SHORTEST <= len(text) <= LONGEST or _NOT_ASKED.search(text) or _key(text) in known:
            continue
        known.add(_key(text))
        kept.append(text)
        if len(kept) == MOST:
            break
    return tuple(kept)


class RelatedFilter:
    """Takes the pieces of an answer, gives back what is meant for the reader; ``questions`` are those behind it.

    The mark may come in any pieces, and within a fence of code that the model has put around it.
    """

    def __init__(self) -> None:
        self.questions: list[str] = []
        self._given: list[str] = []
        self._held = ""
        self._inside = False
        self._fenced = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that is certain by now."""
        self._held += piece
        shown = ""
        while True:
            if self._inside:
                rest = self._leave()
                if rest is None:
                    return self._give(shown)
                self._held = rest
            if self._fenced and not self._past_fence():
                return self._give(shown)
            at = self._held.lower().find(BEGIN)
            if at < 0:
                cut = _certain(self._held)
                cut = len(self._held) if len(self._held) - cut > _MOST_HELD else cut
                shown, self._held = shown + self._held[:cut], self._held[cut:]
                return self._give(shown)
            before, self._held = self._held[:at], self._held[at + len(BEGIN) :]
            shown += self._without_fence(shown, before)
            self._inside = True

    def finish(self) -> str:
        """End the text; return what was held back for nothing."""
        held, self._held = self._held, ""
        if not self._inside:
            return self._give("" if self._fenced else held)
        self.questions = held.splitlines()[:-1]  # the last one may have been broken off
        return ""

    def _leave(self) -> str | None:
        """Return what comes behind the questions; None while they are still coming."""
        at = self._held.lower().find(END)
        if at >= 0:
            block, rest = self._held[:at], self._held[at + len(END) :]
        elif len(self._held) > _LONGEST_BLOCK:  # its end was forgotten: the answer goes on behind the questions
            lines = [line for line in self._held.splitlines(keepends=True) if line.strip()]
            block, rest = "".join(lines[:MOST]), "\n\n" + "".join(lines[MOST:])
        else:
            return None
        self._inside = False
        self.questions = [line for line in block.splitlines() if line.strip()]
        return rest

    def _past_fence(self) -> bool:
        """Leave out the end of the fence that was opened for the questions; False while it may still come."""
        rest = self._held.lstrip()
        if _FENCE_END.startswith(rest):
            return False
        self._fenced = False
        self._held = rest.removeprefix(_FENCE_END) if rest.startswith(_FENCE_END) else self._held
        return True

    def _without_fence(self, shown: str, before: str) -> str:
        """Return the text before the mark without the fence that was opened for it."""
        whole = "".join([*self._given, shown, before])
        body = before.rstrip()
        start = body.rfind("\n") + 1
        opened = _FENCE.fullmatch(body[start:]) is not None and len(_FENCE_LINE.findall(whole)) % 2 == 1
        self._fenced = opened
        return body[:start].rstrip() if opened else body

    def _give(self, text: str) -> str:
        self._given.append(text)
        return text


def _certain(text: str) -> int:
    """Return how much of a text cannot belong to a mark that may still come: blanks and a fence before it may."""
    at = text.rfind("<")
    end = at if at >= 0 and BEGIN.startswith(text[at:].lower()) else len(text)
    body = text[:end].rstrip()
    start = body.rfind("\n") + 1
    return len(body[:start].rstrip()) if _FENCE.fullmatch(body[start:]) else len(body)


def _key(text: str) -> str:
    return _SAME.sub("", text).casefold()
