"""What goes in and what comes out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """One earlier turn: what was asked and, if it is known, what was answered."""

    question: str
    answer: str = ""


@dataclass(frozen=True)
class Resolved:
    """The query that a question stands for.

    Attributes:
        query: what to search for; the question as it was typed where it stands alone.
        changed: whether the query is another than the question.
        carried: what was taken from the conversation.
        leans: whether the question cannot be understood without what was said before, be it resolved or not.
        asks: whether anything is asked; thanks and greetings ask nothing.
    """

    query: str
    changed: bool = False
    carried: tuple[str, ...] = ()
    leans: bool = False
    asks: bool = True
