"""What readers think of answers: kept with the conversation, for who runs the server, and sent nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

MAX_TEXT: Final = 1000
MOST_LISTED: Final = 10_000


class Verdict(StrEnum):
    """Good or bad."""

    GOOD = "good"
    BAD = "bad"


class Reason(StrEnum):
    """Why an answer is bad, where the reader says so."""

    WRONG = "wrong"
    INCOMPLETE = "incomplete"
    SOURCES = "sources"
    OUTDATED = "outdated"
    UNCLEAR = "unclear"
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a reader thinks of an answer."""

    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        return {
            "verdict": self.verdict.value,
            "reasons": [reason.value for reason in self.reasons],
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Told:
    """A feedback as who runs the server sees it: of what kind the answer was, neither whose nor to which question."""

    at: str
    feedback: Feedback
    mode: str
    model: str
    engines: tuple[str, ...] = ()


class FeedbackStore(Protocol):
    """Keeps feedback; it is deleted with its turn. Calls raise as those of ``SessionStore`` do."""

    async def put(self, owner: str, session: str, turn: str, given: Feedback | None) -> None:
        """Keep what a reader thinks of an answer, in the place of what was kept before; None: nothing any more."""

    async def of(self, owner: str, session: str) -> Mapping[str, Feedback]:
        """Return what is kept of a conversation, by turn."""

    async def all(self) -> Sequence[Told]:
        """Return what was given on this server, the newest first."""
