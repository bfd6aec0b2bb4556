"""Earlier answers that clients send back: what the model said in them, and which sources their numbers mean."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.citations.linking.references import LINK
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.models import SearchResultItem
from qiusuo.words import Language
from qiusuo.words.catalogue import beginning

NOTICE_MARK: Final = "> ⚠️ "
THOUGHT_END: Final = "\n</think> \n\n"
"""Ends what was streamed as the answer and turned out to be a thought.

No model writes the blank behind the mark: so it is known again, and an answer that is about the mark stays whole.
"""

_MOST_SOURCES: Final = 1000
# What we ourselves have put below an answer. Sent back to the model, it would only learn to write such lists.
_HEADINGS: Final = tuple(f"## {beginning('citations.references', language)}" for language in Language)
_LISTED: Final = (
    "- [",
    *(f"### {beginning('citations.round', language)}" for language in Language),
    *(f"- {beginning('citations.listed_before', language)}" for language in Language),
)
_TITLED: Final = re.compile(rf"^- {LINK.pattern} (?P<title>[^\n]{{1,600}}?)(?: — [^\n]*)?$", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\(.)")
# A citation whose address the client has taken away; larger numbers in brackets are years and the like.
_BARE: Final = re.compile(r"(?<!\w)\[([1-9]\d?)\](?!\()")


class EarlierAnswers:
    """Reads the answers of a conversation in their order. ``registry`` has the sources they link to.

    A number that stands for two pages (conversations of before numbers ran on) keeps the first; the other page gets a
    number of its own, in the text that the model hears too.
    """

    def __init__(self) -> None:
        self.registry = CitationRegistry()

    def heard(self, content: str) -> str:
        """Return an answer as the model said it, links being plain markers again."""
        content = content.rpartition(THOUGHT_END)[2]
        body = _without_own_tail(content)
        tail = content[len(body) :]
        titles = {match[2]: _ESCAPE.sub(r"\1", match["title"]) for match in _TITLED.finditer(tail)}

        def marker(link: re.Match[str]) -> str:
            return f"[{self._number(int(link[1]), link[2], titles.get(link[2], ''))}]"

        text = LINK.sub(marker, body)
        for link in LINK.finditer(tail):
            marker(link)
        self.registry.begin_after(max((int(bare[1]) for bare in _BARE.finditer(text)), default=0))
        return text.strip()

    def _number(self, number: int, url: str, title: str) -> int:
        if not number or len(self.registry.sources) >= _MOST_SOURCES:
            return number
        page = url.replace("%28", "(").replace("%29", ")")  # as they were before they stood in a link
        return self.registry.known_as(number, SearchResultItem(title, page, ""))


def _without_own_tail(text: str) -> str:
    # Line by line from the end, not by a pattern: on an answer full of such lines it would take minutes.
    lines = text.split("\n")
    end = _without_last(lines, len(lines), (NOTICE_MARK,))
    heading = _without_last(lines, end, _LISTED) - 1
    if heading > 0 and lines[heading] in _HEADINGS and not lines[heading - 1]:
        end = heading
    return "\n".join(lines[:end])


def _without_last(lines: list[str], end: int, beginnings: tuple[str, ...]) -> int:
    """Return where the last lines begin that are empty or begin so."""
    while end and (not lines[end - 1] or lines[end - 1].startswith(beginnings)):
        end -= 1
    return end
