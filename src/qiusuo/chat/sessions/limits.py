"""How much is kept of one owner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """How much is kept of one owner. With ``oldest_make_room`` new ones are not refused, the oldest are deleted.

    ``files`` are those of one conversation, ``file_chars`` the characters in all files of the owner.
    """

    sessions: int = 2000
    turns: int = 500
    files: int = 20
    file_chars: int = 50_000_000
    oldest_make_room: bool = False
