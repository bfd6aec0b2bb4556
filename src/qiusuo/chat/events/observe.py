"""For those who watch answers, as :mod:`qiusuo.pipeline.observe` is for searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qiusuo.chat.events.turn import TurnRecord


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that has come to its end: ``outcome`` is the state of its turn; tokens are what the model tells.

    ``failures`` are the codes of what went wrong with the model; ``first_seconds`` is when the first word came, None
    where none did.
    """

    model: str
    outcome: str
    user: str | None
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0
    first_seconds: float | None = None
    failures: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: TurnRecord, user: str | None) -> Answered:
        """Return what is to be told of a turn that has ended."""
        used = record.usage or {}
        tokens = (used.get("inputTokens") or 0, used.get("outputTokens") or 0)
        first = used.get("firstTokenMs")
        return cls(
            record.model,
            record.state.value,
            user,
            (used.get("totalMs") or 0) / 1000,
            *tokens,
            first_seconds=None if first is None else first / 1000,
            failures=tuple(told["code"] for told in record.notices if _is_failure(told)),
        )


def _is_failure(told: Mapping[str, Any]) -> bool:
    return str(told["code"]).startswith("model_") and told["level"] != "info"


class AnswerObserver:
    """Told of every answer of a chat. Its methods are called in the midst of turns: they are quick and do not raise."""

    def answer_started(self) -> None:
        """An answer is begun; :meth:`answer_ended` follows whatever becomes of it."""

    def answer_ended(self, answer: Answered) -> None:
        """An answer is whole, was stopped, or has failed."""
