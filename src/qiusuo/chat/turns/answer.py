"""The answer of a turn: from the model's pieces to linked text, then the check against the sources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessageChunk, ToolCall

from qiusuo.chat.events.turn import Check, Done, Related, Stage, TurnState
from qiusuo.chat.turns.agent.client_tools import TOOL_CALLS
from qiusuo.chat.turns.agent.text_calls import CallFilter
from qiusuo.chat.turns.journal import Journal
from qiusuo.chat.turns.notices import notice
from qiusuo.chat.turns.related import RelatedFilter
from qiusuo.chat.turns.sources.numbered import TurnSources
from qiusuo.chat.turns.thinking import ThinkFilter, WholeCharacters, has_thought_apart
from qiusuo.citations.checking.additions import add_citations
from qiusuo.citations.checking.support import check_support
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.citations.linking.references import Reference
from qiusuo.errors import ModelBroken
from qiusuo.words import Fact

MAX_MESSAGE: Final = 500_000
"""Characters of one message of the model, its thoughts included."""
MAX_TEXT: Final = 200_000
"""Characters of it that a reader sees."""
_AT_ONCE: Final = 2000
"""Characters that are looked at in one go. The worst of them, full of brackets, take some 20 ms."""
_MOST_NAMED: Final = 5
CUT: Final = "length"
"""How a message has finished that was broken off because it found no end."""


class MessageText:
    """The text of one message of the model on its way to the reader.

    Thoughts and tool calls written as text are left out, citations become links. ``raw`` is what the model meant to
    say, with its plain markers. ``lead`` goes before it, if it says anything.
    """

    def __init__(
        self, journal: Journal, processor: CitationProcessor, tools: Collection[str] = (), *, lead: str = ""
    ) -> None:
        self._journal = journal
        self._processor = processor
        self._tools = tools
        self._lead = lead
        self._taken = 0
        self._shown = 0
        self._characters = WholeCharacters()
        self._thoughts = ThinkFilter()
        self._calls = CallFilter(tools)
        self._related = RelatedFilter() if journal.suggestions.wanted else None
        self._links = processor.stream()
        self._known: dict[int, Reference] = {}
        self._raw: list[str] = []
        self._before = journal.record.answer

    @property
    def raw(self) -> str:
        return "".join(self._raw)

    @property
    def full(self) -> bool:
        """Whether there is more than anybody reads: a model that finds no end must be stopped by somebody."""
        return self._taken >= MAX_MESSAGE or self._shown >= MAX_TEXT

    def know(self, references: Mapping[int, Reference]) -> None:
        """Make more sources known from here on."""
        self._known.update(references)
        self._links.add(references)

    async def take(self, chunk: AIMessageChunk) -> None:
        """Take the next chunk of the message."""
        self.look_for_thoughts(chunk)
        await self.feed(chunk.text)

    def look_for_thoughts(self, chunk: AIMessageChunk) -> None:
        """Note whether the server sends thoughts beside the text."""
        if has_thought_apart(chunk):
            self._thoughts.thoughts_come_apart()

    async def feed(self, piece: str) -> None:
        """Take the next piece of the message; while a long one is looked at, others do not stand still."""
        for start in range(0, len(piece), _AT_ONCE):
            if start:
                await asyncio.sleep(0)
            self._feed(piece[start : start + _AT_ONCE])

    def _feed(self, piece: str) -> None:
        self._taken += len(piece)
        text = self._without_calls(self._thoughts.feed(self._characters.feed(piece)))
        if text:
            self._give(text)
        elif self._thoughts.thinking:
            self._journal.status(Stage.THINKING)

    def finish(self) -> list[ToolCall]:
        """End the message; return the tool calls that it has as text."""
        self._give(self._without_calls(self._thoughts.feed(self._characters.finish())))
        self._give(self._without_calls(self._thoughts.finish()))
        rest, calls = self._calls.finish()
        self._give(rest)
        if self._related is not None:
            self._show(self._related.finish())
            self._journal.suggestions.said = self._related.questions
        self._journal.text(self._links.finish())
        return calls

    def _without_calls(self, meant: str) -> str:
        if self._thoughts.retracts:
            self._begin_again()
        return self._calls.feed(meant)

    def _begin_again(self) -> None:
        """Take back what was given out of this message: it was a thought."""
        self._calls = CallFilter(self._tools)
        self._related = RelatedFilter() if self._related is not None else None
        self._links = self._processor.stream()
        self._links.add(self._known)
        self._raw.clear()
        self._shown = 0
        self._journal.retract(self._before)

    def _give(self, text: str) -> None:
        self._show(text if self._related is None else self._related.feed(text))

    def _show(self, text: str) -> None:
        if not text:
            return
        if not self._raw:
            self._journal.status(Stage.ANSWERING)
            self._journal.text(self._lead)
        self._raw.append(text)
        self._shown += len(text)
        self._journal.text(self._links.feed(text))


async def conclude(
    journal: Journal,
    raw: str,
    sources: TurnSources,
    *,
    pages: Mapping[int, str],
    finish: str,
    by_round: bool = False,
    as_it_is: bool = False,
) -> None:
    """Check the answer against its sources, and end the turn.

    ``by_round``: the list below the answer has all that was found, search by search, not only what is cited.
    ``as_it_is``: the answer is no text for a reader, and nothing is added to it.

    Raises:
        ModelBroken: the model has said nothing.
    """
    if not raw.strip() and finish != TOOL_CALLS:
        raise ModelBroken(Fact("llm.empty"))
    if as_it_is or not raw.strip():
        journal.finish(Done(TurnState.DONE, journal.record.answer, finish=finish))
        return
    heading, language, record = Fact("turn.references").text(journal.language), journal.language, journal.record

    def listed(cited: Sequence[int]) -> str:
        if by_round:
            return sources.list_by_round(cited, heading, record.rounds, language)
        return sources.cited_list(cited, heading)

    # In a thread: a long answer takes many milliseconds, in which other conversations must not stand still.
    found = await asyncio.to_thread(_analysed, raw, record.answer, sources, pages, listed)
    # Numbers that the question has are those of a text that the reader gave.
    made_up = [number for number in found.unknown if f"[{number}]" not in record.question]
    if made_up:
        numbers = " ".join(f"[{number}]" for number in made_up[:_MOST_NAMED])
        journal.notice(notice(Fact("notice.citations_unknown", numbers=numbers), "warning"))
    if found.added:
        journal.notice(notice("citations_added"))
    if found.report is not None:
        journal.emit(Check(found.report, found.added))
    if finish != CUT and (questions := journal.suggestions.questions(pages.values())):
        journal.emit(Related(questions))
    journal.finish(Done(TurnState.DONE, found.answer, found.references, found.cited, finish))


@dataclass(frozen=True, slots=True)
class _Analysis:
    """What the sources make of an answer: the answer itself, perhaps with citations that were added."""

    answer: str
    cited: tuple[int, ...] = ()
    added: tuple[dict[str, Any], ...] = ()
    report: dict[str, Any] | None = None
    references: str = ""
    unknown: tuple[int, ...] = ()
    """Numbers that are cited and that no source has."""


def _analysed(
    raw: str,
    answer: str,
    sources: TurnSources,
    pages: Mapping[int, str],
    listed: Callable[[Sequence[int]], str],
) -> _Analysis:
    processor, found = sources.known, sources.found
    markers = processor.analyse(raw)
    cited, unknown = markers.used, tuple(sorted(markers.invalid))
    added: tuple[dict[str, Any], ...] = ()
    # Only of what this turn has found: an answer without a search rests on none, however much it resembles one.
    if found.sources and not cited:
        better = add_citations(raw, found, pages)
        if better.added:
            raw, answer = better.text, better.markdown
            added = tuple(each.to_dict() for each in better.added)
            cited = processor.analyse(raw).used
    if not cited:
        return _Analysis(answer, unknown=unknown)
    report = check_support(raw, processor, pages).to_dict()
    return _Analysis(answer, cited, added, report, listed(cited), unknown)
