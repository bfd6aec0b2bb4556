"""Conversations shared by a link: what is shown there, and who may end it.

A link shows what stood in the conversation when it was made, and nothing that came later: a copy is kept of the words
and the cited sources, without settings, ids, searches or names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from qiusuo.chat.events.turn import TurnRecord, TurnState
from qiusuo.citations.linking.references import LINK

MOST_SHARES: Final = 200
_SHOWN_OF_SOURCES: Final = ("number", "title", "url", "publishedAt")


@dataclass(frozen=True, slots=True)
class Share:
    """A link, for its owner. Times are seconds since 1970; ``ends_at`` None: when it is ended."""

    id: str
    session: str
    title: str
    created_at: float
    ends_at: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the link in its JSON shape."""
        return {
            "id": self.id,
            "session": self.session,
            "title": self.title,
            "createdAt": _moment(self.created_at),
            "endsAt": _moment(self.ends_at) if self.ends_at is not None else None,
        }


class Shares(Protocol):
    """Keeps what is shared."""

    async def begin(self, owner: str, session: str, title: str, snapshot: list[Any], *, days: int | None) -> Begun:
        """Share something; the secret of its link is told this once.

        Raises:
            SessionNotFound: the conversation is not the owner's.
            LimitReached: the owner has as many links as there may be.
        """

    async def of(self, owner: str) -> Sequence[Share]:
        """Return the owner's links that still open, the newest first."""

    async def end(self, owner: str, share: str) -> None:
        """End a link; one that is not there has ended."""

    async def opened(self, secret: str) -> Opened | None:
        """Return what a link shows; None where there is none, or it has ended."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A new link with its secret."""

    share: Share
    secret: str


@dataclass(frozen=True, slots=True)
class Opened:
    """What a link shows."""

    title: str
    turns: Sequence[TurnRecord]


def snapshot_of(turns: Sequence[TurnRecord]) -> list[dict[str, Any]]:
    """Return what is shown of turns; of one that is being answered nothing is."""
    return [_shown(turn) for turn in turns if turn.state is not TurnState.RUNNING]


def records_of(snapshot: Sequence[dict[str, Any]]) -> list[TurnRecord]:
    """Return the turns of a snapshot, as far as they are shown."""
    return [TurnRecord.from_dict({**turn, "id": ""}) for turn in snapshot]


def _shown(turn: TurnRecord) -> dict[str, Any]:
    cited = {int(number) for number, _ in LINK.findall(turn.answer)} | set(turn.cited)
    sources = [
        {name: source.get(name) for name in _SHOWN_OF_SOURCES} for source in turn.sources if source["number"] in cited
    ]
    return {
        "question": turn.question,
        "answer": turn.answer,
        "cited": list(turn.cited),
        "sources": sources,
        "createdAt": turn.created_at[:10],
        "state": turn.state.value,
        "language": turn.language,
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
