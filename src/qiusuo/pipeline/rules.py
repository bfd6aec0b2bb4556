"""What is set for single users: their limit per minute, their month's budget, the engines and models they may use.

A service knows users by their names alone; who has rules for them puts an object of its own in the place of ``Rules``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qiusuo.errors import NotAllowed
from qiusuo.words import Fact


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for a user; None: what the settings say for everybody."""

    per_minute: int | None = None
    engines: frozenset[str] | None = None
    models: frozenset[str] | None = None

    def check_engine(self, name: str) -> None:
        """Refuse an engine that was chosen.

        Raises:
            NotAllowed: it is not one of this user's.
        """
        if self.engines is not None and name not in self.engines:
            raise NotAllowed(Fact("people.engine_not_allowed", name=name[:60], allowed=sorted(self.engines)))


EVERYTHING: Final = Terms()


class Rules:
    """The rules of a service; this one has none. The methods are called in the middle of searches: they are quick."""

    def terms(self, user: str | None) -> Terms:  # noqa: ARG002 - for those who have some
        """Return what holds for a user."""
        return EVERYTHING

    def check_searches(self, user: str | None) -> None:
        """Look whether another search is within the budget.

        Raises:
            BudgetUsedUp: it is not.
        """

    def check_tokens(self, user: str | None) -> None:
        """Look whether another answer of a model is within the budget.

        Raises:
            BudgetUsedUp: it is not.
        """

    def searched(self, user: str | None) -> None:
        """Count a search for which engines are asked."""

    def counts(self, user: str | None) -> bool:  # noqa: ARG002 - as above
        """Tell whether searches of a user are counted."""
        return False

    def warnings(self, user: str | None) -> Sequence[Fact]:  # noqa: ARG002 - as above
        """Return what a user should know of the budget: that little is left of it."""
        return ()
