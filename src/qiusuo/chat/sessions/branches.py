"""Branches: an earlier question asked in other words goes on in a conversation of its own, and the old one stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from qiusuo.chat.sessions.session import SessionInfo


@dataclass(frozen=True, slots=True)
class Branch:
    """The other end of a branch: a conversation, and the question of the older one that was asked anew."""

    session: str
    title: str
    turn: str

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        return {"session": self.session, "title": self.title, "turn": self.turn}


@dataclass(frozen=True, slots=True)
class Kin:
    """Where a conversation went off from, if it did, and those that went off from it, the oldest first."""

    origin: Branch | None = None
    branches: Sequence[Branch] = field(default_factory=tuple)

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        return {
            "branchedFrom": self.origin.to_dict() if self.origin else None,
            "branches": [branch.to_dict() for branch in self.branches],
        }


class Branches(Protocol):
    """Keeps branches. Calls raise as those of ``SessionStore`` do."""

    async def begin(self, owner: str, session: str, turn: str) -> SessionInfo:
        """Copy a conversation up to the question ``turn``, without it, with its settings and files.

        It has no title: the next question gives it one. What makes room for it is never the conversation itself.

        Raises:
            InvalidQuery: there is no such turn.
            LimitReached: there is no room for one more conversation, or for its files once more.
        """

    async def of(self, owner: str, session: str) -> Kin:
        """Return what a conversation has to do with others."""
