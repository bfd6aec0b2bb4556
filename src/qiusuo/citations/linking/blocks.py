"""The line structure of Markdown as far as citations need it: where code begins and where a paragraph ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qiusuo.citations.linking.lookahead import Lookahead, Waits
from qiusuo.citations.linking.spans import has_backtick

# The head of a line: enough of it to tell what block it belongs to.
_HEAD_REACH = 100
_INFO_REACH = 200
_HEAD_OPEN = re.compile(r"[ \t\r>\-*+0-9.)#`~=|_]*")

_LIST_MARK = r"(?:[-*+]|[0-9]{1,9}[.)])"
_CONTAINERS = re.compile(rf"[ \t>]*(?:{_LIST_MARK}[ \t]+)*")
_LIST_ITEM = re.compile(rf"[ \t>]*{_LIST_MARK}(?:[ \t\r\n]|\Z)")
_BLANK = re.compile(r"[ \t\r>]*(?:\n|\Z)")
_NEW_BLOCK = re.compile(
    r"[ \t]*(?:"
    r">|\|"
    r"|#{1,6}(?:[ \t\r\n]|\Z)"
    r"|(?:[-*_][ \t]*){3,}\r?(?:\n|\Z)|=+[ \t]*\r?(?:\n|\Z)"
    rf"|{_LIST_MARK}(?:[ \t\r\n]|\Z)"
    r")"
)
_HEADING = re.compile(r"[ \t>]*#{1,6}(?:[ \t\r\n]|\Z)")
_FENCE = re.compile(rf"(?P<containers>[ \t>]*(?:{_LIST_MARK}[ \t]+)*)(?P<run>`{{3,}}|~{{3,}})")
_FENCE_END = re.compile(r"(?P<containers>[ \t>]*)(?P<run>`{3,}|~{3,})[ \t\r]*(?:\n|\Z)")
_CODE_INDENT = 4


def line_head(text: Lookahead, start: int) -> Waits[str]:
    """Return the beginning of the line at ``start``, as much as is needed to tell what the line is."""
    while True:
        head = text.slice(start, start + _HEAD_REACH)
        if text.closed or len(head) == _HEAD_REACH or not _HEAD_OPEN.fullmatch(head):
            return head
        yield


def starts_block(head: str) -> bool:
    """Tell whether a line ends the paragraph before it (blank, heading, list item, quote, table row, rule)."""
    return _BLANK.match(head) is not None or _NEW_BLOCK.match(head) is not None


def is_heading(head: str) -> bool:
    """Tell whether a line is a heading, which ends with its line."""
    return _HEADING.match(head) is not None


def content_start(head: str) -> int:
    """Return where the content of a line begins, behind indentation, quote and list marks."""
    match = _CONTAINERS.match(head)
    return match.end() if match else 0


def _width(text: str) -> int:
    return len(text.expandtabs(_CODE_INDENT))


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence."""

    character: str
    length: int
    indent: int
    quotes: int

    def closed_by(self, head: str) -> bool:
        """Tell whether a line with this head closes the fence."""
        match = _FENCE_END.match(head)
        return (
            match is not None
            and match["run"][0] == self.character
            and len(match["run"]) >= self.length
            and match["containers"].count(">") == self.quotes
            and _width(match["containers"]) <= self.indent + _CODE_INDENT - 1
        )

    def left_by(self, head: str) -> bool:
        """Tell whether a line with this head lies outside the quotation that the fence is in."""
        return head[: content_start(head)].count(">") < self.quotes


def fence(text: Lookahead, head: str, start: int) -> Waits[Fence | None]:
    """Return the code fence that the line at ``start`` opens."""
    match = _FENCE.match(head)
    if match is None:
        return None
    containers, run = match["containers"], match["run"]
    if run[0] == "`":
        info = start + match.end()
        # With a backtick in the info string it is a code span; with no line end in reach it is neither.
        if (yield from has_backtick(text, info, info + _INFO_REACH)) is not False:
            return None
    return Fence(run[0], len(run), _width(containers), containers.count(">"))


def pass_fenced(text: Lookahead, opened: Fence) -> Waits[None]:
    """Move behind a fenced block, to the end of the text if nothing closes it."""
    yield from text.pass_line()
    while (yield from text.more_at(text.position)):
        head = yield from line_head(text, text.position)
        if opened.left_by(head):
            return
        yield from text.pass_line()
        if opened.closed_by(head):
            return


class IndentedCode:
    """Follows lines and tells which of them are code by indentation.

    Inside a list deep indentation is nesting, and models nest far more often than they indent code: there it never
    counts as code.
    """

    def __init__(self) -> None:
        self._after_blank = True
        self._in_code = False
        self._in_list = False

    def takes(self, head: str) -> bool:
        """Take the next line; True if it is code."""
        if _BLANK.match(head):
            self._after_blank = True
            return False
        indent = _width(head[: len(head) - len(head.lstrip(" \t"))])
        if _LIST_ITEM.match(head):
            self._in_list = True
        elif self._after_blank and indent <= 1:
            self._in_list = False
        self._in_code = indent >= _CODE_INDENT and not self._in_list and (self._after_blank or self._in_code)
        self._after_blank = False
        return self._in_code
