"""What a research knows: its sub-questions, what was found for each, the sections that are written, what it has used.

All of it goes into the turn's record as the work goes on, so that the research can go on after it broke off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qiusuo.chat.events.progress import Amounts, Research, ResearchStage, StepProgress, StepState
from qiusuo.config.model import ModelSettings

SETTLED = frozenset({StepState.DONE, StepState.EMPTY})
"""The states of sub-questions that are not looked into again."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of a source."""

    number: int
    title: str
    heading: str
    text: str


@dataclass(slots=True)
class Step:
    """A sub-question. ``section`` is what is written of it, with plain markers."""

    number: int
    question: str
    state: StepState = StepState.WAITING
    results: int = 0
    pages: int = 0
    ms: int = 0
    passages: list[Found] = field(default_factory=list)
    section: str = ""

    @property
    def settled(self) -> bool:
        """Whether nothing more has to be done for it."""
        return self.state in SETTLED

    @property
    def progress(self) -> StepProgress:
        """What readers see of it."""
        return StepProgress(self.number, self.question, self.state, self.results, self.pages, self.ms)

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        passages = [[each.number, each.title, each.heading, each.text] for each in self.passages]
        return {**self.progress.to_dict(), "passages": passages, "section": self.section}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Step:
        """Rebuild a sub-question; one that was in the middle of something begins there again."""
        passages = [Found(*each) for each in data["passages"]]
        state = StepState(data["state"])
        if state not in SETTLED:
            state = StepState.FOUND if passages else StepState.WAITING
        counts = {name: data[name] for name in ("results", "pages", "ms")}
        return cls(data["number"], data["question"], state, passages=passages, section=data["section"], **counts)


@dataclass(slots=True)
class State:
    """A research. ``used`` counts over all its goes."""

    question: str
    limits: Amounts
    stage: ResearchStage = ResearchStage.PLANNING
    steps: list[Step] = field(default_factory=list)
    by_rule: bool = False
    digest: bool = False
    searches: int = 0
    pages: int = 0
    tokens: int = 0
    ms: int = 0

    def progress(self) -> Research:
        """Return what readers are told."""
        return Research(
            self.stage,
            tuple(step.progress for step in self.steps),
            self.limits,
            Amounts(self.searches, self.pages, self.tokens, self.ms // 1000),
            self.by_rule,
            self.digest,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is needed to go on, in its JSON shape."""
        return {
            "question": self.question,
            "steps": [step.to_dict() for step in self.steps],
            "byRule": self.by_rule,
            "searches": self.searches,
            "pages": self.pages,
            "tokens": self.tokens,
            "ms": self.ms,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], limits: Amounts) -> State:
        """Rebuild a research."""
        steps = [Step.from_dict(each) for each in data["steps"]]
        counts = {name: data[name] for name in ("searches", "pages", "tokens", "ms")}
        return cls(data["question"], limits, steps=steps, by_rule=data["byRule"], **counts)


def limits_of(settings: ModelSettings) -> Amounts:
    """Return how much a research may take, as the settings say."""
    return Amounts(
        settings.research_searches, settings.research_pages, settings.research_tokens, settings.research_seconds
    )
