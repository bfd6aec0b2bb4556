"""The searches that a conversation remembers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final, NamedTuple

from qiusuo.models import SearchResponse
from qiusuo.plugins import read_details

CACHE_ENTRIES: Final = 20


class KeptSearch(NamedTuple):
    """A response and when it was searched for, in seconds since the epoch."""

    response: SearchResponse
    at: float


class SessionCache:
    """The agent's searches of one conversation by their query, the 20 used last. Threads may share it.

    How long one is good is not decided here (``chat/turns/agent/recent.py``).
    """

    def __init__(self, entries: dict[str, KeptSearch] | None = None) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, KeptSearch] = OrderedDict(entries or {})

    def get(self, query: str) -> KeptSearch | None:
        """Return what is kept of a query that was asked before in this conversation, however old."""
        with self._lock:
            kept = self._entries.get(query)
            if kept is not None:
                self._entries.move_to_end(query)
            return kept

    def put(self, query: str, response: SearchResponse, at: float) -> None:
        """Keep a response; the one used longest ago makes room."""
        with self._lock:
            self._entries[query] = KeptSearch(response, at)
            self._entries.move_to_end(query)
            while len(self._entries) > CACHE_ENTRIES:
                self._entries.popitem(last=False)

    def __len__(self) -> int:
        return len(self._entries)

    def to_dict(self) -> list[Any]:
        """Return the entries in their JSON shape, the one used last at the end."""
        with self._lock:
            return [[query, kept.response.to_dict(), kept.at] for query, kept in self._entries.items()]

    @classmethod
    def from_dict(cls, data: list[Any]) -> SessionCache:
        """Rebuild a cache from ``to_dict``; an entry of before times were kept may be of any age and is left out."""
        timed = [entry for entry in data if len(entry) == 3]  # noqa: PLR2004 - query, response, time
        found = {query: SearchResponse.from_dict(response, read_details) for query, response, _ in timed}
        return cls({query: KeptSearch(found[query], at) for query, _, at in timed})
