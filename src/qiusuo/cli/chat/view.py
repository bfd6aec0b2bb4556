"""A turn on the screen: finished blocks are printed once, only the block that is being written is drawn again."""

from __future__ import annotations

import os
import time
from collections import deque
from types import TracebackType
from typing import Final, Self

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from qiusuo.chat.events.progress import StepState
from qiusuo.chat.events.turn import (
    Check,
    Delta,
    Done,
    Event,
    ModelTaken,
    Notice,
    Reading,
    Research,
    Retraction,
    Round,
    RoundState,
    Status,
    TurnStarted,
    TurnState,
    Usage,
)
from qiusuo.chat.models.port import called_in
from qiusuo.citations.linking.references import without_file_links
from qiusuo.cli.chat.lines import (
    check_lines,
    notice_lines,
    reading_line,
    round_line,
    safe,
    scope_line,
    status_line,
    step_line,
    usage_line,
    without_citation_links,
)
from qiusuo.cli.chat.words import ChatWords
from qiusuo.words import Language

REFRESHES: Final = 8
_ROUND_STYLES: Final = {RoundState.DONE: "green", RoundState.EMPTY: "yellow", RoundState.FAILED: "red"}
_STEP_STYLES: Final = {StepState.DONE: "green", StepState.EMPTY: "yellow", StepState.FAILED: "red"}
_NOTICE_STYLES: Final = {"error": "red", "warning": "yellow"}
# A block longer than this is shown as plain text while it is written: colouring it eight times a second costs too much.
_PLAIN_FROM: Final = 6000
_GROWTH: Final = 1.1
_UNLINKED_TERMINALS: Final = {"dumb", "linux", "unknown"}
_PARSER: Final = MarkdownIt().enable("strikethrough").enable("table")


def can_link() -> bool:
    """Tell whether the terminal takes links; those that do not know them ignore them, but for these."""
    return os.environ.get("TERM", "").lower() not in _UNLINKED_TERMINALS


def render(markdown: str, *, links: bool) -> Markdown:
    """Return Markdown for the screen; citations are ``[1]``, linked where the terminal can."""
    return Markdown(without_file_links(markdown) if links else without_citation_links(markdown), hyperlinks=links)


def finished_length(text: str) -> int:
    """Return how much of a Markdown text can no longer change, whatever is written behind it.

    That is all before its last block; a line that has no end yet is not looked at, since it may still become a part of
    the block before it (the next entry of a list, say).
    """
    whole = text[: text.rfind("\n") + 1]
    blocks = [token.map[0] for token in _PARSER.parse(whole) if token.level == 0 and token.map and token.nesting >= 0]
    if len(blocks) < 2:  # noqa: PLR2004 - the only block is the last
        return 0
    lines = whole.split("\n")[: blocks[-1]]
    return sum(len(line) + 1 for line in lines)


class ChatView:
    """Shows the events of one turn; a context manager around them.

    ``told`` is what earlier turns on this screen had to say: a notice that is among it is told by its title alone.
    """

    def __init__(
        self, console: Console, words: ChatWords, *, engine: str = "", told: deque[Notice] | None = None
    ) -> None:
        self._console = console
        self._words = words
        self._engine = engine
        self._told = deque[Notice]() if told is None else told
        self._asked = ""  # the engine that a search asks first, where it is not the usual one
        self._links = can_link()
        self._model = ""
        self._may_recall = False  # an agent that has not searched, and nothing else tells why
        self._status: Status | None = None
        self._since = time.monotonic()
        self._tail = ""
        self._look_again = 0.0
        self._printed = False
        self._pages = 0
        self._printed_chars = 0  # of the answer: thoughts that were printed and then taken back are no part of it
        self._research: Research | None = None
        self._check: Check | None = None
        self._usage: Usage | None = None
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(self, console=console, transient=True, refresh_per_second=REFRESHES, vertical_overflow="crop")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        self._print_tail()

    def show(self, event: Event) -> None:  # noqa: C901, PLR0912 - one case per kind of event
        """Show what happens."""
        if isinstance(event, Round | Notice):
            self._may_recall = False
        match event:
            case TurnStarted():
                self._may_recall = event.mode == "agent"
                self._model = _named(event, self._words.language)
                if event.scope:
                    self._line(scope_line(event, self._words), "dim")
            case ModelTaken():
                self._model = _named(event, self._words.language)
            case Status():
                self._status, self._since = event, time.monotonic()
            case Delta():
                self._take(event.text)
            case Retraction():
                self._take_back(event)
            case Research():
                self._research = event
            case Round() if self._research and event.state is not RoundState.FAILED:
                pass  # the list of sub-questions tells
            case Round() if event.state is RoundState.RUNNING:
                self._asked = self._words.engine(event.engine, event.engine_label) if event.engine_label else ""
            case Round():
                self._line(round_line(event, self._words), _ROUND_STYLES.get(event.state, ""))
            case Reading() if not event.done:
                self._pages = len(event.pages)
            case Reading():
                self._line(
                    reading_line(event, self._words),
                    "green" if any(page.fact is None for page in event.pages) else "red",
                )
            case Notice():
                known = event.level != "error" and event in self._told
                self._told.append(event)
                for line in notice_lines(event, self._words)[: 1 if known else None]:
                    self._line(line, "dim" if known else _NOTICE_STYLES.get(event.level, "dim"))
            case Check():
                self._check = event
            case Usage():
                self._usage = event
            case Done():
                self._end(event)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw what is being written, its last lines only, and the status line below."""
        room = max(options.size.height - 3, 1)
        tail = self._tail
        if tail.strip():
            if len(tail) > _PLAIN_FROM:
                block: Markdown | Text = Text("\n".join(tail.splitlines()[-room:])[-room * options.max_width :])
            else:
                block = render(tail, links=self._links)
            if self._printed:
                yield Segment.line()
            for line in console.render_lines(block, options.update(height=None), pad=False)[-room:]:
                yield from line
                yield Segment.line()
        for step in self._research.steps if self._research else ():
            yield Text(step_line(step, self._words), style=_STEP_STYLES.get(step.state, "dim"), no_wrap=True)
        seconds = int(time.monotonic() - self._since)
        words = status_line(self._status, self._asked or self._engine, self._words, self._pages)
        self._spinner.update(text=Text(f"{words} · {self._words('seconds', seconds=seconds)}", style="dim"))
        yield self._spinner

    def _take(self, text: str) -> None:
        self._tail += safe(text)
        if "\n" not in text or len(self._tail) < self._look_again:
            return
        finished = finished_length(self._tail)
        if finished:
            block, self._tail = self._tail[:finished], self._tail[finished:]
            self._print(block)
            self._look_again = 0.0
        else:
            # A block that grows long is parsed ever more seldom, so that all of its parsing stays cheap.
            self._look_again = len(self._tail) * _GROWTH

    def _take_back(self, event: Retraction) -> None:
        """Leave the thought out; what is printed of it already can only be called what it was."""
        kept = safe(event.answer)
        self._tail, self._look_again = kept[self._printed_chars :], 0.0
        if self._printed_chars > len(kept):
            self._printed_chars = len(kept)
            self._line(self._words("thought_above"))

    def _print(self, block: str) -> None:
        self._printed_chars += len(block)
        if not block.strip():
            return
        if self._printed:
            self._console.print()
        self._printed = True
        self._console.print(render(block, links=self._links))

    def _print_tail(self) -> None:
        tail, self._tail = self._tail, ""
        self._print(tail)

    def _line(self, line: str, style: str = "dim") -> None:
        if self._tail:
            self._print_tail()
        self._console.print(Text(line, style=style))

    def _end(self, event: Done) -> None:
        self._live.stop()
        self._print_tail()
        for step in self._research.steps if self._research else ():
            self._line(step_line(step, self._words), _STEP_STYLES.get(step.state, "dim"))
        if event.references:
            self._console.print()
            self._console.print(render(safe(event.references), links=self._links))
        if event.state is TurnState.STOPPED:
            self._line(self._words("stopped"), "yellow")
        if self._check:
            for line in check_lines(self._check, self._words):
                self._line(line, "yellow")
        if self._may_recall and event.state is TurnState.DONE and not event.references:
            self._line(self._words("from_memory"))
        if self._usage:
            self._line(usage_line(self._usage, self._model, self._words))


def _named(event: TurnStarted | ModelTaken, language: Language) -> str:
    """Return the model as it is shown: with the name by which it was chosen."""
    return " · ".join(filter(None, (event.called, called_in(language, event.model))))
