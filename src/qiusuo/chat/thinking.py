"""Puts right what models send, while the text streams in: thoughts (``<think>…</think>``) and halves of characters."""

from __future__ import annotations

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")
_FIRST_HALF: Final = re.compile("[\ud800-\udbff]\\Z")
_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_FENCE_LINE: Final = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_OPENING: Final = ("“", "‘", "「", "『", "（", "(")


class ThinkFilter:
    """Takes pieces, gives back what is meant for the reader. Thoughts come only at the very beginning.

    Some templates (DeepSeek R1 and V3.1, QwQ, Qwen3 Thinking, MiniMax M2) open the thought in the prompt, so that a
    server that does not part thoughts from text sends only the mark that closes it. Until then nobody can know:
    ``retracts`` tells that all given out before was a thought.
    """

    def __init__(self) -> None:
        self._held = ""
        self._given: list[str] = []
        self._inside = False
        self._begun = False  # the text for the reader has: blanks before it are left out
        self._watching = True
        self.retracts = False

    @property
    def thinking(self) -> bool:
        """Whether a thought is being left out just now."""
        return self._inside

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that is certain by now."""
        self.retracts = False
        if not self._watching:
            return self._text(piece)
        self._held += piece
        if not self._begun and not self._inside:
            start = self._held.lstrip()
            if not start or _OPEN.startswith(start):
                return ""
            self._inside = start.startswith(_OPEN)
            self._begun = not self._inside
            self._held = start[len(_OPEN) :] if self._inside else self._held
        before, close, after = self._held.partition(_CLOSE)
        if not close:
            return self._until_a_mark_may_begin()
        if not self._inside and self._is_mentioned(before):
            return self._end_of_watch(self._held)
        self.retracts = not self._inside
        self._inside = self._begun = False
        return self._end_of_watch(after)

    def finish(self) -> str:
        """End the text; return what was held back for nothing."""
        held, self._held = self._held, ""
        return "" if self._inside else held

    def _until_a_mark_may_begin(self) -> str:
        """Keep only the end that may still be the beginning of the closing mark."""
        size = next((n for n in range(len(_CLOSE) - 1, 0, -1) if self._held.endswith(_CLOSE[:n])), 0)
        cut = len(self._held) - size
        certain, self._held = self._held[:cut], self._held[cut:]
        if self._inside:
            return ""
        self._given.append(certain)
        return certain

    def _is_mentioned(self, before: str) -> bool:
        """Tell whether the mark is what the text is about: quoted, in code, or after the one that opens."""
        text = "".join([*self._given, before])
        line = text.rpartition("\n")[2]
        in_code = line.count("`") % 2 == 1 or len(_FENCE_LINE.findall(text)) % 2 == 1
        quoted = line.endswith(_OPENING) or (line.endswith('"') and line.count('"') % 2 == 1)
        return in_code or quoted or _OPEN in text

    def _end_of_watch(self, text: str) -> str:
        self._watching, self._held = False, ""
        self._given.clear()
        return self._text(text)

    def _text(self, text: str) -> str:
        text = text if self._begun else text.lstrip()
        self._begun = self._begun or bool(text)
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
