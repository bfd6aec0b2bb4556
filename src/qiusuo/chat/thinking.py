"""Puts right what models send, while the text streams in: thoughts (``<think>…</think>``) and halves of characters."""

from __future__ import annotations

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")
_FIRST_HALF: Final = re.compile("[\ud800-\udbff]\\Z")
_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkFilter:
    """Takes pieces, gives back what is meant for the reader. Thoughts come only at the very beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._settled = False

    @property
    def thinking(self) -> bool:
        """Whether a thought is being left out just now."""
        return self._inside

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that is certain by now."""
        if self._settled:
            return piece
        self._held += piece
        if not self._inside:
            start = self._held.lstrip()
            if not start or _OPEN.startswith(start):
                return ""
            if not start.startswith(_OPEN):
                return self._settle(self._held)
            self._inside = True
            self._held = start[len(_OPEN) :]
        end = self._held.find(_CLOSE)
        if end < 0:
            # Only the end of it may still be the beginning of the closing mark.
            self._held = self._held[-len(_CLOSE) :]
            return ""
        return self._settle(self._held[end + len(_CLOSE) :].lstrip())

    def finish(self) -> str:
        """End the text; return what was held back for nothing."""
        held, self._held = self._held, ""
        return "" if self._inside or self._settled else held

    def _settle(self, text: str) -> str:
        self._settled, self._inside, self._held = True, False, ""
        return text


class WholeCharacters:
    """Joins halves of characters: some servers cut their text anywhere in UTF-16, and no JSON may carry a half."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that has only whole characters."""
        text = self._held + piece
        self._held = ""
        if not _HALF.search(text):
            return text
        if _FIRST_HALF.search(text):
            text, self._held = text[:-1], text[-1]
        return whole(text)

    def finish(self) -> str:
        """End the text; return what stands for a half that was left over."""
        held, self._held = self._held, ""
        return whole(held)


def whole(text: str) -> str:
    """Return a text whose halves of characters are joined, or replaced where the other half is missing."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
