"""Puts right what models send, while the text streams in: thoughts (``<think>…</think>``) and halves of characters."""

from __future__ import annotations

import re
from typing import Final

from langchain_core.messages import AIMessageChunk

_HALF: Final = re.compile("[\ud800-\udfff]")
_FIRST_HALF: Final = re.compile("[\ud800-\udbff]\\Z")
_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_THOUGHT_FIELDS: Final = ("reasoning_content", "reasoning")
_THOUGHT_BLOCKS: Final = frozenset({"thinking", "reasoning"})
_BLANKS: Final = " \t"
_FENCE_LINE: Final = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_LIST_MARK: Final = r"[ \t]*(?:[-*+•>#|]+|[(（]?\d+[.)）、])"
# What stands before the mark in its line where the text is about it: it is an entry of a list or a cell of a table,
# indented code, or comes behind what opens a quotation or announces it.
_MENTIONING: Final = re.compile(
    rf"{_LIST_MARK}[ \t]*|(?: {{4}}|\t)(?!{_LIST_MARK}[ \t]).*|.*[“‘「『《〈【（(\[{{<|:：=][ \t]*"
)
_SENTENCE_ENDS: Final = tuple('.!?;。！？；…~～”’」』》〉】）)]"`')
_BEGINS_NO_ANSWER: Final = tuple(",.;:?!)]}，。、；：？！）】》〉”’」』/")


class ThinkFilter:
    """Takes pieces, gives back what is meant for the reader. Thoughts come only at the very beginning.

    Some templates (DeepSeek R1 and V3.1, QwQ, Qwen3 Thinking, MiniMax M2) open the thought in the prompt, so that a
    server that does not part thoughts from text sends only the mark that closes it. Until then nobody can know:
    ``retracts`` tells that all given out before was a thought.

    Only the first such mark of a message is looked at, and only one at an end of its line or right behind a sentence
    ends a thought; not one that is quoted, listed, announced by a colon, or in code. What remains: an answer with the
    bare mark in such a place is taken for a thought, unless the server sends thoughts apart
    (``thoughts_come_apart``); and a thought that mentions a mark before its end, or runs into its answer without the
    end of a sentence (``hm</think>Yes``), stays in the answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._given: list[str] = []
        self._inside = False
        self._begun = False  # the text for the reader has: blanks before it are left out
        self._watching = True
        self._apart = False
        self.retracts = False

    @property
    def thinking(self) -> bool:
        """Whether a thought is being left out just now."""
        return self._inside

    def thoughts_come_apart(self) -> None:
        """Note that the server sends the thoughts of this message by themselves: a bare mark is none of theirs."""
        self._apart = True

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
        if not self._inside and not after.strip(_BLANKS):
            return ""  # what comes next tells what the mark is
        return self._at_the_mark(before, after)

    def finish(self) -> str:
        """End the text; return what was held back for nothing."""
        self.retracts = False
        before, close, after = self._held.partition(_CLOSE)
        if close:
            return self._at_the_mark(before, after)
        held, self._held = self._held, ""
        return "" if self._inside else held

    def _at_the_mark(self, before: str, after: str) -> str:
        if not self._inside and not self._ends_a_thought(before, after):
            return self._end_of_watch(self._held)
        self.retracts = not self._inside
        self._inside = self._begun = False
        return self._end_of_watch(after)

    def _until_a_mark_may_begin(self) -> str:
        """Keep only the end that may still be the beginning of the closing mark."""
        size = next((n for n in range(len(_CLOSE) - 1, 0, -1) if self._held.endswith(_CLOSE[:n])), 0)
        cut = len(self._held) - size
        certain, self._held = self._held[:cut], self._held[cut:]
        if self._inside:
            return ""
        self._given.append(certain)
        return certain

    def _ends_a_thought(self, before: str, after: str) -> bool:
        """Tell whether a mark that nothing has opened is one, and not what the text is about."""
        text = "".join([*self._given, before])
        if self._apart or _OPEN in text or len(_FENCE_LINE.findall(text)) % 2 == 1:
            return False
        line = text.rpartition("\n")[2]
        odd = tuple(quote for quote in '`"' if line.count(quote) % 2 == 1)
        if line.endswith(odd) or _MENTIONING.fullmatch(line):
            return False
        behind = after.lstrip(_BLANKS)
        if not behind or behind.startswith(("\n", "\r")):
            return True
        # More follows in the line. An odd quote may end there, with the mark inside.
        may_begin = not odd and not behind.startswith(_BEGINS_NO_ANSWER)
        return may_begin and (not line.strip() or line.endswith(_SENTENCE_ENDS))

    def _end_of_watch(self, text: str) -> str:
        self._watching, self._held = False, ""
        self._given.clear()
        return self._text(text)

    def _text(self, text: str) -> str:
        text = text if self._begun else text.lstrip()
        self._begun = self._begun or bool(text)
        return text


def has_thought_apart(chunk: AIMessageChunk) -> bool:
    """Tell whether a server has sent a piece of a thought as such, beside the text."""
    if isinstance(chunk.content, str):
        return any(chunk.additional_kwargs.get(field) for field in _THOUGHT_FIELDS)
    return any(isinstance(block, dict) and block.get("type") in _THOUGHT_BLOCKS for block in chunk.content)


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
