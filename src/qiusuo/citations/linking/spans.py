"""Spans inside a paragraph that citations must not touch: code spans, HTML tags, addresses and the tails of links.

All functions read from a ``Lookahead`` and wait where the text does not reach far enough yet. Constructs that reach
over more than ``REACH`` characters are not recognised: this bounds memory and the time for which text is held back.
"""

from __future__ import annotations

import re
import string
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from qiusuo.citations.linking.lookahead import Lookahead, Waits

REACH = 4096 + 256  # a link of ours, which is at most 4,000 characters long, must fit
_TAG_REACH = 1000
_NESTED_PARENTHESES = 32

_NO_BACKTICK = re.compile("[^`]")
_BACKTICK_OR_NEWLINE = re.compile("[`\n]")
_TAG_FIRST = string.ascii_letters + "/"
_TAG_END = re.compile("[<>\n]")
_TAG_OR_AUTOLINK = re.compile(
    r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>"
    r"|</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\s*/?>"
)
_NO_BLANK = re.compile(r"[^ \t]")
_BLANK_OR_NEWLINE = re.compile(r"\s")
_DESTINATION_STOP = re.compile(r"[()\\\x00-\x20\x7f]")
_ANGLE_STOP = re.compile(r"[<>\\\n]")
_TITLE_STOP = {'"': re.compile(r'["\\\n]'), "'": re.compile(r"['\\\n]"), "(": re.compile(r"[()\\\n]")}


class BacktickRuns:
    """Finds the end of code spans.

    What was seen on the way is remembered, so that a paragraph is searched once however many runs stay open.
    """

    def __init__(self, text: Lookahead, begins_block: Callable[[int], Waits[bool]]) -> None:
        self._text = text
        self._begins_block = begins_block
        self._ahead: dict[int, deque[int]] = {}  # where runs of each length begin
        self._seen = 0
        self._block_end: int | None = None

    def reset(self) -> None:
        """Begin a new paragraph."""
        self._ahead.clear()
        self._block_end = None

    def run_end(self, start: int) -> Waits[int]:
        """Return the end of the run that begins at ``start``."""
        end = yield from self._text.find(_NO_BACKTICK, start, start + REACH)
        return end if end >= 0 else min(self._text.end, start + REACH)

    def closing(self, after: int, length: int) -> Waits[int]:
        """Return where the next run of ``length`` backticks in this paragraph begins, or -1."""
        limit = after + REACH
        known = self._ahead.get(length, deque())
        while known and known[0] < after:
            known.popleft()
        if known:
            return known[0] if known[0] < limit else -1
        self._seen = max(self._seen, after)
        while self._block_end is None and self._seen < limit:
            stop = yield from self._text.find(_BACKTICK_OR_NEWLINE, self._seen, limit)
            if stop < 0:
                self._seen = min(self._text.end, limit)
                break
            if self._text.slice(stop, stop + 1) == "\n":
                if (yield from self._begins_block(stop + 1)):
                    self._block_end = stop
                self._seen = stop + 1
                continue
            self._seen = yield from self.run_end(stop)
            if self._seen - stop == length:
                return stop
            self._ahead.setdefault(self._seen - stop, deque()).append(stop)
        return -1


def has_backtick(text: Lookahead, start: int, limit: int) -> Waits[bool | None]:
    """Tell whether the line has a backtick at or behind ``start``; None if neither comes before ``limit``."""
    stop = yield from text.find(_BACKTICK_OR_NEWLINE, start, limit)
    if stop < 0:
        return None if text.end >= limit else False
    return text.slice(stop, stop + 1) == "`"


def tag_end(text: Lookahead, start: int) -> Waits[int]:
    """Return the end of the HTML tag or the address in angle brackets at ``start``, or -1."""
    following = yield from text.char(start + 1)
    if not following or following not in _TAG_FIRST:
        return -1
    end = yield from text.find(_TAG_END, start + 1, start + _TAG_REACH)
    return end + 1 if end >= 0 and _TAG_OR_AUTOLINK.fullmatch(text.slice(start, end + 1)) else -1


def definition_end(text: Lookahead, start: int) -> Waits[int]:
    """Return the end of the address that a link definition gives from ``start`` on."""
    begin = yield from text.find(_NO_BLANK, start, start + REACH)
    if begin < 0:
        return start
    end = yield from text.find(_BLANK_OR_NEWLINE, begin, begin + REACH)
    return end if end >= 0 else min(text.end, begin + REACH)


def closing_at(text: Lookahead, stops: re.Pattern[str], closing: str, start: int, limit: int) -> Waits[int]:
    """Return the position behind the first unescaped ``closing``, -1 if another of ``stops`` comes first."""
    while True:
        start = yield from text.find(stops, start, limit)
        stop = text.slice(start, start + 1) if start >= 0 else ""
        if stop != "\\":
            return start + 1 if stop == closing else -1
        start += 2


class LinkTail(NamedTuple):
    """``(destination "title")``: its end (-1 if it is no such thing), and from where to where the destination goes."""

    end: int
    start: int
    stop: int


def link_tail(text: Lookahead, start: int) -> Waits[LinkTail]:
    """Read what follows the text of a link, from the opening parenthesis on."""
    limit = start + REACH
    begin = yield from text.find(_NO_BLANK, start + 1, limit)
    if begin < 0:
        return LinkTail(-1, start, start)
    if text.slice(begin, begin + 1) == "<":
        stop = yield from closing_at(text, _ANGLE_STOP, ">", begin + 1, limit)
        complete = stop >= 0
    else:
        stop, complete = yield from _destination_end(text, begin, limit)
    if not complete:
        return LinkTail(-1, begin, stop)
    position = yield from text.find(_NO_BLANK, stop, limit)
    mark = text.slice(position, position + 1) if position >= 0 else ""
    if mark in _TITLE_STOP and position > stop:
        closing = ")" if mark == "(" else mark
        position = yield from closing_at(text, _TITLE_STOP[mark], closing, position + 1, limit)
        position = -1 if position < 0 else (yield from text.find(_NO_BLANK, position, limit))
        mark = text.slice(position, position + 1) if position >= 0 else ""
    return LinkTail(position + 1 if mark == ")" else -1, begin, stop)


def _destination_end(text: Lookahead, position: int, limit: int) -> Waits[tuple[int, bool]]:
    """Return where a destination stops, and whether its parentheses are balanced there."""
    depth = 0
    while depth <= _NESTED_PARENTHESES:
        position = yield from text.find(_DESTINATION_STOP, position, limit)
        stop = text.found(position) if position >= 0 else ""
        if stop == "\\":
            position += 1
        elif stop == "(":
            depth += 1
        elif stop == ")" and depth:
            depth -= 1
        else:
            return position, depth == 0 and stop in {")", " ", "\t"}
        position += 1
    return position, False
