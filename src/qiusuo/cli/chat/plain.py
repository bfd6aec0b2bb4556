"""A turn in a pipe: the answer to standard output and all else to standard error, or every event as a JSON line."""

from __future__ import annotations

import json
import sys
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

from qiusuo.chat.events.turn import (
    Check,
    Done,
    Event,
    Notice,
    Reading,
    Research,
    Round,
    RoundState,
    TurnStarted,
    TurnState,
)
from qiusuo.citations.linking.references import without_file_links
from qiusuo.cli.chat.lines import (
    STEP_MARKS,
    check_lines,
    notice_lines,
    reading_line,
    round_line,
    safe,
    scope_line,
    step_line,
)
from qiusuo.cli.chat.words import ChatWords
from qiusuo.words import Language


class Listener(Protocol):
    """Whoever shows the events of a turn."""

    def show(self, event: Event) -> None:
        """Show what happens."""


class PlainOutput:
    """Writes the answer once it is whole: citations may be added at its end, and nothing can be taken out of a pipe."""

    def __init__(self, err: Console, words: ChatWords) -> None:
        self._err = err
        self._words = words
        self._told: set[int] = set()

    def show(self, event: Event) -> None:  # noqa: C901 - one case per kind of event
        """Show what happens."""
        match event:
            case TurnStarted() if event.scope:
                self._say(scope_line(event, self._words))
            case Round() if event.state is not RoundState.RUNNING:
                self._say(round_line(event, self._words))
            case Research():
                self._steps(event)
            case Reading() if event.done:
                self._say(reading_line(event, self._words))
            case Notice():
                for line in notice_lines(event, self._words):
                    self._say(line)
            case Check():
                for line in check_lines(event, self._words):
                    self._say(line)
            case Done():
                parts = [
                    without_file_links(part.strip("\n")) for part in (event.answer, event.references) if part.strip()
                ]
                if parts:
                    sys.stdout.write(safe("\n\n".join(parts)) + "\n")
                    sys.stdout.flush()
                if event.state is TurnState.STOPPED:
                    self._say(self._words("stopped"))

    def _steps(self, event: Research) -> None:
        """Say of each sub-question once how it ended."""
        for step in event.steps:
            if step.state in STEP_MARKS and step.number not in self._told:
                self._told.add(step.number)
                self._say(step_line(step, self._words))

    def _say(self, line: str) -> None:
        self._err.print(Text(line))


class JsonOutput:
    """Writes every event as one line of JSON, as it happens."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def show(self, event: Event) -> None:
        """Show what happens."""
        write_json(event.to_dict(self._language))


def write_json(data: dict[str, Any]) -> None:
    """Write one line of JSON at once."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()
