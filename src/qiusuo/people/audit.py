"""Who did what, when and from where: noted as codes with values, never with a secret. Lines are only ever added.

await backend.audit.note("alice", "audit.token_added", {"name": "bob"}, address="203.0.113.7")
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from qiusuo.errors import SearchError
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

DAY: Final = 86_400
TIDY_SECONDS: Final = 3600.0
MOST_UNWRITTEN: Final = 1000
NOBODY: Final = "-"
"""Did what the server does by itself."""
TERMINAL: Final = "terminal"
"""Did what is done by the command line, on the server itself."""


@dataclass(frozen=True, slots=True)
class Noted:
    """One line: ``at`` is seconds since 1970; later lines have larger ``id``s."""

    at: int
    who: str
    address: str
    fact: Fact
    id: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the line in its JSON shape."""
        return {"id": self.id, "at": self.at, "who": self.who, "address": self.address, **self.fact.to_dict()}


class AuditStore(Protocol):
    """Keeps the lines."""

    async def add(self, lines: Sequence[Noted]) -> None:
        """Write lines.

        Raises:
            SearchError: the database cannot be used.
        """

    async def tidy(self, before: int) -> None:
        """Delete what is older than a moment.

        Raises:
            SearchError: the database cannot be used.
        """


class Audit:
    """Takes notes. What cannot be written stays in memory and is written with the next note; nothing fails for it."""

    def __init__(
        self,
        store: AuditStore | None = None,
        days: Callable[[], int] = lambda: 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.days = days
        """For how many days lines are kept at the moment; 0: nothing is noted."""
        self._clock = clock
        self._unwritten: deque[Noted] = deque(maxlen=MOST_UNWRITTEN)
        self._tidied = 0.0

    async def note(self, who: str, code: str, values: Mapping[str, Any] | None = None, *, address: str = "") -> None:
        """Note that somebody did something; ``code`` is one of the catalogue, ``values`` are those of its sentence."""
        if self.store is None or not self.days():
            return
        self._unwritten.append(Noted(int(self._clock()), who, address, Fact(code, **(values or {}))))
        await self.flush()

    async def flush(self) -> None:
        """Write what is not written yet, and now and then delete what is too old."""
        if self.store is None:
            return
        lines = tuple(self._unwritten)
        try:
            if lines:
                self._unwritten.clear()
                await self.store.add(lines)
                lines = ()
            if self._clock() - self._tidied >= TIDY_SECONDS:
                self._tidied = self._clock()
                await self.store.tidy(int(self._clock()) - self.days() * DAY)
        except SearchError as error:
            self._unwritten.extendleft(reversed(lines[: MOST_UNWRITTEN - len(self._unwritten)]))
            logger.warning("the audit log is not written for now: %s", error)
