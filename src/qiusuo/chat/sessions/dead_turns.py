"""Turns whose process is gone."""

from __future__ import annotations

from typing import Protocol

from qiusuo.chat.events.turn import TurnRecord


class DeadTurns(Protocol):
    """Ends the turns that nobody answers any more."""

    async def bury(self, owner: str, session: str, turn: str, heard: TurnRecord | None = None) -> None:
        """Save a turn as broken off, with what was kept of it, or with what others have heard where that is more.

        Nothing is done where the turn has ended, or where its process lives.

        Raises:
            SearchError: there is no such conversation, or the database cannot be used.
        """
