"""For those who watch answers, as :mod:`qiusuo.pipeline.observe` is for searches."""

from __future__ import annotations

from dataclasses import dataclass

from qiusuo.chat.events.turn import TurnRecord


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that has come to its end: ``outcome`` is the state of its turn; tokens are what the model tells."""

    model: str
    outcome: str
    user: str | None
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def of(cls, record: TurnRecord, user: str | None) -> Answered:
        """Return what is to be told of a turn that has ended."""
        used = record.usage or {}
        tokens = (used.get("inputTokens") or 0, used.get("outputTokens") or 0)
        return cls(record.model, record.state.value, user, (used.get("totalMs") or 0) / 1000, *tokens)


class AnswerObserver:
    """Told of every answer of a chat. The method is called at the end of turns: it must be quick and must not raise."""

    def answer_ended(self, answer: Answered) -> None:
        """An answer is whole, was stopped, or has failed."""
