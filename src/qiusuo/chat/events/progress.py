"""How far a research has come, as an event: its sub-questions one by one, its limits, and what is used of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from qiusuo.chat.events.base import Event


class StepState(StrEnum):
    """What a sub-question is busy with. ``found``: it waits to be written. ``empty``: nothing was found."""

    WAITING = "waiting"
    SEARCHING = "searching"
    READING = "reading"
    FOUND = "found"
    WRITING = "writing"
    DONE = "done"
    EMPTY = "empty"
    FAILED = "failed"


class ResearchStage(StrEnum):
    """What a research is busy with."""

    PLANNING = "planning"
    WORKING = "working"
    SUMMARY = "summary"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class StepProgress:
    """A sub-question: how many results and pages it has, and the milliseconds that it took so far."""

    number: int
    question: str
    state: StepState
    results: int = 0
    pages: int = 0
    ms: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        return {
            "number": self.number,
            "question": self.question,
            "state": self.state.value,
            "results": self.results,
            "pages": self.pages,
            "ms": self.ms,
        }


@dataclass(frozen=True, slots=True)
class Amounts:
    """Searches, pages, tokens and seconds: how much a research may take, or has taken."""

    searches: int = 0
    pages: int = 0
    tokens: int = 0
    seconds: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return them in their JSON shape."""
        return {"searches": self.searches, "pages": self.pages, "tokens": self.tokens, "seconds": self.seconds}


@dataclass(frozen=True, slots=True)
class Research(Event):
    """How far a research has come; the next one replaces it.

    ``by_rule``: the sub-questions were made without a model. ``digest``: there is no model, so that the report is one
    of passages.
    """

    type: ClassVar[str] = "research"
    stage: ResearchStage
    steps: tuple[StepProgress, ...] = ()
    limits: Amounts = Amounts()
    used: Amounts = Amounts()
    by_rule: bool = False
    digest: bool = False

    def to_dict(self, language: Any = None) -> dict[str, Any]:  # noqa: ARG002 - it has no words
        """Return the event in its JSON shape."""
        return {
            "type": self.type,
            "stage": self.stage.value,
            "steps": [step.to_dict() for step in self.steps],
            "limits": self.limits.to_dict(),
            "used": self.used.to_dict(),
            "byRule": self.by_rule,
            "digest": self.digest,
        }
