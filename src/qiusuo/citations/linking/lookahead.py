"""A text that arrives in pieces, read by a parser that waits where it must see more.

Positions are offsets in the whole text. A parser is a generator that yields whenever it needs the next piece; so it is
written as if the whole text were there, and cannot depend on where the pieces end.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Waits = Generator[None, None, Result]

_TRIM_AT = 4096


class Lookahead:
    """The part of the text that is still needed. ``position`` is how far the parser has come."""

    def __init__(self) -> None:
        self.position = 0
        self.buffer = ""
        self.base = 0
        self.end = 0
        self.closed = False

    def append(self, piece: str) -> None:
        self.buffer += piece
        self.end += len(piece)

    def slice(self, start: int, end: int) -> str:
        return self.buffer[max(start - self.base, 0) : max(end - self.base, 0)]

    def found(self, position: int) -> str:
        """Return the character at a position that :meth:`find` has given."""
        return self.buffer[position - self.base]

    def drop_before(self, position: int) -> None:
        """Forget the text before ``position`` (now and then, so that dropping costs nothing on average)."""
        if position - self.base > _TRIM_AT:
            self.buffer = self.buffer[position - self.base :]
            self.base = position

    def more_at(self, position: int) -> Waits[bool]:
        """Wait until there is text at ``position``; False if the text ends before."""
        while position >= self.end:
            if self.closed:
                return False
            yield
        return True

    def char(self, position: int) -> Waits[str]:
        """Return the character at ``position``, an empty string behind the end."""
        if position >= self.end and not (yield from self.more_at(position)):
            return ""
        return self.buffer[position - self.base]

    def find(self, pattern: re.Pattern[str], start: int, limit: int) -> Waits[int]:
        """Return where the first character that ``pattern`` matches stands before ``limit``, or -1."""
        while True:
            match = pattern.search(self.buffer, start - self.base, limit - self.base)
            if match is not None:
                return match.start() + self.base
            if self.closed or self.end >= limit:
                return -1
            start = max(start, self.end)
            yield

    def pass_line(self) -> Waits[None]:
        """Move behind the end of the line."""
        while (yield from self.more_at(self.position)):
            newline = self.buffer.find("\n", self.position - self.base)
            if newline >= 0:
                self.position = newline + self.base + 1
                return
            self.position = self.end
