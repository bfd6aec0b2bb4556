"""The answer of a turn: from the model's pieces to linked text, then the check against the sources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Final

from langchain_core.messages import ToolCall

from qiusuo.chat.events import Check, Done, Stage, TurnState
from qiusuo.chat.journal import Journal
from qiusuo.chat.notices import notice
from qiusuo.chat.prompts import CHINESE
from qiusuo.chat.text_calls import CallFilter
from qiusuo.chat.thinking import ThinkFilter, WholeCharacters
from qiusuo.citations.additions import add_citations
from qiusuo.citations.processor import CitationProcessor
from qiusuo.citations.references import Reference
from qiusuo.citations.support import check_support
from qiusuo.errors import ModelBroken

MAX_MESSAGE: Final = 500_000
"""Characters of one message of the model, its thoughts included."""


class MessageText:
    """The text of one message of the model on its way to the reader.

    Thoughts and tool calls written as text are left out, citations become links. ``raw`` is what the model meant to
    say, with its plain markers. ``lead`` goes before it, if it says anything.
    """

    def __init__(
        self, journal: Journal, processor: CitationProcessor, tools: Collection[str] = (), *, lead: str = ""
    ) -> None:
        self._journal = journal
        self._lead = lead
        self._taken = 0
        self._characters = WholeCharacters()
        self._thoughts = ThinkFilter()
        self._calls = CallFilter(tools)
        self._links = processor.stream()
        self._raw: list[str] = []

    @property
    def raw(self) -> str:
        return "".join(self._raw)

    @property
    def full(self) -> bool:
        """Whether there is more than anybody reads: a model that finds no end must be stopped by somebody."""
        return self._taken >= MAX_MESSAGE

    def know(self, references: Mapping[int, Reference]) -> None:
        """Make more sources known from here on."""
        self._links.add(references)

    def feed(self, piece: str) -> None:
        """Take the next piece of the message."""
        self._taken += len(piece)
        text = self._calls.feed(self._thoughts.feed(self._characters.feed(piece)))
        if text:
            self._give(text)
        elif self._thoughts.thinking:
            self._journal.status(Stage.THINKING)

    def finish(self) -> list[ToolCall]:
        """End the message; return the tool calls that it has as text."""
        late = self._calls.feed(self._thoughts.feed(self._characters.finish()) + self._thoughts.finish())
        rest, calls = self._calls.finish()
        self._give(late + rest)
        self._journal.text(self._links.finish())
        return calls

    def _give(self, text: str) -> None:
        if not text:
            return
        if not self._raw:
            self._journal.status(Stage.ANSWERING)
            self._journal.text(self._lead)
        self._raw.append(text)
        self._journal.text(self._links.feed(text))


async def conclude(
    journal: Journal,
    raw: str,
    processor: CitationProcessor,
    *,
    pages: Mapping[int, str],
    references: Callable[[str, str], str],
    finish: str,
) -> None:
    """Check the answer against its sources, and end the turn.

    ``references`` makes the list below the answer out of the answer and the list's heading.

    Raises:
        ModelBroken: the model has said nothing.
    """
    if not raw.strip():
        raise ModelBroken("The model gave an empty answer.", fix="Try again, or use another model.")
    answer = journal.record.answer
    cited = processor.analyse(raw).used
    added: tuple[dict[str, object], ...] = ()
    if processor.sources and not cited:
        better = await asyncio.to_thread(add_citations, raw, processor, pages)
        if better.added:
            raw, answer = better.text, better.markdown
            added = tuple(each.to_dict() for each in better.added)
            cited = processor.analyse(raw).used
            journal.notice(notice("citations_added", journal.language))
    if cited:
        # In a thread: a long answer takes milliseconds to judge, in which other conversations must not stand still.
        report = await asyncio.to_thread(check_support, raw, processor, pages)
        journal.emit(Check(report.to_dict(), added))
    heading = "参考文献" if journal.language == CHINESE else "References"
    listed = references(raw, heading) if cited else ""
    journal.finish(Done(TurnState.DONE, answer, listed, cited, finish))
