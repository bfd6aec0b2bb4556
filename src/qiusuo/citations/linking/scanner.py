"""Finds citation markers in Markdown that arrives piece by piece, and replaces them.

Everything but markers passes through unchanged, and at once: held back is only what could still be (part of) a marker,
or a marker in brackets or backticks that may yet turn out to be a link or code. The parser is a generator that waits
for text (see ``lookahead``), so the result does not depend on how the text was cut.

``[`` that are no markers are kept on a stack, as CommonMark does: markers behind them are undecided until the bracket
turns out to open a link (they stay as they are) or not (they are replaced).
"""

from __future__ import annotations

import re
import string
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from qiusuo.citations.linking import blocks, spans
from qiusuo.citations.linking.lookahead import Lookahead, Waits
from qiusuo.citations.linking.markers import (
    LOOK_BEHIND,
    Marker,
    is_mathematics,
    marker_at,
    may_become_marker,
)

_LABEL_REACH = 1000

_URL_START_CHARS = 8
_URL_STOP = re.compile(r"[<>\"`*|\\()\[\]]|[^!-~]")
_MARKS = r"\\`\[\]<\n【［"
# Begins with one set of characters, which makes the search several times faster. Marks, http:// and www.
_SPECIAL = re.compile(rf"[{_MARKS}HhWw](?:(?<=[{_MARKS}])|(?<=[Hh])(?i:ttps?://)|(?<=[Ww])(?<![A-Za-z0-9].)(?i:ww\.))")
_OPENING = re.compile("[【［\\[]")
_LABEL_STOP = re.compile(r"[\[\]\\\n]")
_ADDRESS = re.compile(r"[A-Za-z/#]")


class MarkerHandler(Protocol):
    """Told of what the scanner finds."""

    def replace(self, marker: Marker) -> str | None:
        """Return the text to put in place of a marker, None to keep it."""

    def linked(self, marker: Marker, destination: str) -> None:
        """Note a marker that is a link already, ``[[1]](https://...)``; it ends where the link ends."""


class MarkerScanner:
    """Feeds text through; markers become what the handler says."""

    def __init__(self, handler: MarkerHandler) -> None:
        self._handler = handler
        self._text = Lookahead()
        self._emitted = 0
        self._out: list[str] = []
        self._heading = False
        self._content = 0  # where the content of the current line begins
        self._undecided: deque[tuple[Marker, str]] = deque()  # each with what must go between it and the text before
        self._open: list[int] = []
        self._inactive = 0  # this many of the open brackets can be no links any more
        self._guarded = (0, 0)  # between these a link glued to the text before it could complete a link around it
        self._backticks = spans.BacktickRuns(self._text, self._begins_block)
        self._parsers: dict[str, Callable[[], Waits[None]]] = {
            "\\": self._escape,
            "`": self._code_span,
            "[": self._bracket,
            "【": self._bracket,
            "［": self._bracket,
            "]": self._closing_bracket,
            "<": self._angle,
        }
        self._parser = self._document()

    def feed(self, piece: str) -> str:
        """Take the next piece of text; return what can be said for sure."""
        self._text.append(piece)
        next(self._parser, None)
        if self._undecided:
            self._settle()
        start = self._undecided[0][0].start if self._undecided else max(self._text.position, self._emitted)
        opening = _OPENING.search(self._text.buffer, start - self._text.base)
        self._emit(opening.start() + self._text.base if opening else self._text.end)
        self._text.drop_before(min(self._text.position, self._emitted) - LOOK_BEHIND)
        return self._drain()

    def finish(self) -> str:
        """End the text; return what was held back."""
        self._text.closed = True
        next(self._parser, None)
        self._end_block()
        self._emit(self._text.end)
        return self._drain()

    def _emit(self, until: int) -> None:
        if until > self._emitted:
            self._out.append(self._text.slice(self._emitted, until))
            self._emitted = until

    def _drain(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    # --- lines -----------------------------------------------------------------------------------------------------

    def _document(self) -> Waits[None]:
        indented = blocks.IndentedCode()
        while (yield from self._text.more_at(self._text.position)):
            head = yield from blocks.line_head(self._text, self._text.position)
            fence = yield from blocks.fence(self._text, head, self._text.position)
            if fence is not None:
                self._end_block()
                yield from blocks.pass_fenced(self._text, fence)
                continue
            is_code = indented.takes(head)
            if is_code or self._heading or blocks.starts_block(head):
                self._end_block()
            self._heading = blocks.is_heading(head)
            if is_code:
                yield from self._text.pass_line()
            else:
                self._content = self._text.position + blocks.content_start(head)
                yield from self._inline()

    def _begins_block(self, start: int) -> Waits[bool]:
        """Tell whether the line at ``start`` ends the paragraph before it."""
        head = yield from blocks.line_head(self._text, start)
        return (
            self._heading or blocks.starts_block(head) or (yield from blocks.fence(self._text, head, start)) is not None
        )

    def _end_block(self) -> None:
        """Forget open brackets and backticks: nothing reaches over the end of a paragraph."""
        self._open.clear()
        self._inactive = 0
        self._backticks.reset()
        self._settle()

    # --- inside a line ---------------------------------------------------------------------------------------------

    def _inline(self) -> Waits[None]:
        """Read to the end of the line."""
        while True:
            match = _SPECIAL.search(self._text.buffer, self._text.position - self._text.base)
            if match is None:
                if self._text.closed:
                    self._text.position = self._text.end
                    return
                # The text goes out, but the search comes back to where "https://" may have begun.
                self._text.position = max(self._text.position, self._text.end - _URL_START_CHARS + 1)
                yield
                continue
            self._text.position = match.start() + self._text.base
            if match[0] == "\n":
                self._text.position += 1
                return
            yield from self._parsers.get(match[0], self._bare_url)()

    def _escape(self) -> Waits[None]:
        following = yield from self._text.char(self._text.position + 1)
        self._text.position += 2 if following and following in string.punctuation else 1

    def _code_span(self) -> Waits[None]:
        start = self._text.position
        end = yield from self._backticks.run_end(start)
        closing = yield from self._backticks.closing(end, end - start)
        self._text.position = end if closing < 0 else closing + end - start

    def _angle(self) -> Waits[None]:
        end = yield from spans.tag_end(self._text, self._text.position)
        self._text.position = end if end >= 0 else self._text.position + 1

    def _bare_url(self) -> Waits[None]:
        """Pass over an address in running text; brackets in it count as its own where they are balanced."""
        waiting_for: list[str] = []
        while True:
            stop = _URL_STOP.search(self._text.buffer, self._text.position - self._text.base)
            if stop is None:
                self._text.position = self._text.end
                if self._text.closed:
                    return
                yield
                continue
            self._text.position = stop.start() + self._text.base
            # "[[" begins a converted citation.
            if stop[0] == "(" or (stop[0] == "[" and (yield from self._text.char(self._text.position + 1)) != "["):
                waiting_for.append(")" if stop[0] == "(" else "]")
            elif waiting_for and stop[0] == waiting_for[-1]:
                waiting_for.pop()
            else:
                return
            self._text.position += 1

    # --- brackets --------------------------------------------------------------------------------------------------

    def _bracket(self) -> Waits[None]:
        start = self._text.position
        marker = yield from self._marker(start)
        if marker is None and (yield from self._doubled(start)):
            return
        if marker is None:
            if self._text.slice(start, start + 1) == "[":
                self._open.append(start)
            self._text.position = start + 1
        elif marker.opening not in {"[", "[^"}:
            self._accept(marker)
        elif start == self._content and (yield from self._text.char(marker.end)) == ":":
            yield from self._definition(marker.end)
        else:
            yield from self._link_or_citation(marker)

    def _marker(self, start: int) -> Waits[Marker | None]:
        while True:
            index = start - self._text.base
            marker = marker_at(self._text.buffer, index, self._text.base)
            if marker is not None or self._text.closed or not may_become_marker(self._text.buffer, index):
                return marker
            yield

    def _doubled(self, start: int) -> Waits[bool]:
        """Read ``[[1]](url)``, which is our own output, and ``[[1]]``, which counts as one marker."""
        if self._text.slice(start, start + 2) != "[[":
            return False
        inner = yield from self._marker(start + 1)
        if inner is None or (yield from self._text.char(inner.end)) != "]":
            return False
        yield from self._link_or_citation(Marker(start, inner.end + 1, inner.numbers, inner.opening, inner.closing))
        return True

    def _link_or_citation(self, marker: Marker) -> Waits[None]:
        if (yield from self._text.char(marker.end)) == "(":
            tail = yield from self._link_tail(marker.end)
            destination = self._text.slice(tail.start, tail.stop)
            # "Smith [1](2020)" is a citation and a year, though CommonMark would link to "2020".
            if tail.end >= 0 and _ADDRESS.search(destination):
                self._handler.linked(replace(marker, end=tail.end), destination)
                self._take_link(marker.start, tail.end)
                return
        if is_mathematics(self._before(marker), several=len(marker.numbers) > 1):
            self._text.position = marker.end
        else:
            self._accept(marker)

    def _before(self, marker: Marker) -> str:
        return self._text.slice(marker.start - LOOK_BEHIND, marker.start)

    def _link_tail(self, start: int) -> Waits[spans.LinkTail]:
        tail = yield from spans.link_tail(self._text, start)
        # If this is no link because of a blank inside "[1, 2]", it must not become one when that blank is gone.
        self._guarded = (tail.start - 1, tail.stop)
        return tail

    def _closing_bracket(self) -> Waits[None]:
        at = self._text.position
        if len(self._open) > self._inactive and at - self._open[-1] < spans.REACH:
            start = self._open[-1]
            following = yield from self._text.char(at + 1)
            if following == "(":
                tail = yield from self._link_tail(at + 1)
                if tail.end >= 0:
                    self._take_link(start, tail.end)
                    return
            elif following == "[" and (yield from self._reference_link(start, at + 1)):
                return
            elif following == ":" and start == self._content:
                self._forget(start)
                yield from self._definition(at + 1)
                return
        if self._open:
            self._open.pop()
            self._inactive = min(self._inactive, len(self._open))
        self._text.position = at + 1
        self._settle()

    def _definition(self, colon: int) -> Waits[None]:
        """Pass over ``: https://...`` of a link or footnote definition."""
        self._text.position = colon + 1
        self._text.position = yield from spans.definition_end(self._text, colon + 1)

    def _reference_link(self, start: int, label: int) -> Waits[bool]:
        """Pass over ``[text][label]``.

        Whether the label is defined shows only at the end of the text, so brackets around it may still be a link.
        """
        end = yield from spans.closing_at(self._text, _LABEL_STOP, "]", label + 1, label + _LABEL_REACH)
        if end < 0 or (yield from self._text.char(end)) == "(":
            return False
        self._forget(start)
        self._text.position = end
        self._settle()
        return True

    # --- decisions -------------------------------------------------------------------------------------------------

    def _accept(self, marker: Marker) -> None:
        # Glued to "!" the link would become an image, glued to a backslash its bracket would be escaped.
        after_failed_link = self._guarded[0] < marker.start < self._guarded[1]
        glued = after_failed_link or self._text.slice(marker.start - 1, marker.start) in {"!", "\\"}
        self._undecided.append((marker, " " if glued else ""))
        self._text.position = marker.end
        self._settle()

    def _take_link(self, start: int, end: int) -> None:
        """Leave everything from ``start`` to ``end`` as it is; brackets around a link are no links themselves."""
        self._forget(start)
        self._inactive = len(self._open)
        self._text.position = end
        self._settle()

    def _forget(self, start: int) -> None:
        """Drop the markers and brackets from ``start`` on."""
        while self._undecided and self._undecided[-1][0].start >= start:
            self._undecided.pop()
        while self._open and self._open[-1] >= start:
            self._open.pop()
        self._inactive = min(self._inactive, len(self._open))

    def _settle(self) -> None:
        """Replace the markers that no open bracket can claim any more."""
        while self._inactive < len(self._open) and self._open[self._inactive] <= self._text.position - spans.REACH:
            self._inactive += 1
        if self._inactive < len(self._open):
            return
        while self._undecided:
            marker, blank = self._undecided.popleft()
            replacement = self._handler.replace(marker)
            if replacement is not None:
                self._emit(marker.start)
                self._out.append(blank)
                self._out.append(replacement)
                self._emitted = marker.end
