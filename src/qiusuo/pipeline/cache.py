"""The shared result cache: entries are fresh for a time by type, and stale for a while longer."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import orjson

from qiusuo.engines.base import Storing
from qiusuo.models import SearchResponse
from qiusuo.pipeline.stored import MAX_ENTRY_BYTES, read_entry
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone

# Between machines that share a Redis, in seconds.
_CLOCKS_DIFFER = 300.0


class CacheEntry(NamedTuple):
    """A response and the moments (seconds since the epoch) until which it is fresh and may be kept."""

    response: SearchResponse
    fresh_until: float
    keep_until: float


class ResponseCache:
    """Entries in this process, and in Redis where there is one. Failures are never stored.

    An entry of Redis that would be fresh for more than ``longest`` seconds is none of ours.
    """

    def __init__(
        self,
        *,
        size: int,
        stale: float,
        longest: float,
        shared: SharedState | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._stale = stale
        self._longest = longest
        self._shared = shared
        self._clock = clock
        self._lock = threading.Lock()
        self._size = size
        # The least recently used comes first.
        self._entries: OrderedDict[str, CacheEntry] = OrderedDict()

    def limit(self, *, size: int, stale: float, longest: float) -> None:
        """Take over other limits; entries that are there stay for the time that they were given."""
        with self._lock:
            self._size, self._stale, self._longest = size, stale, longest
            while len(self._entries) > size:
                self._entries.popitem(last=False)

    def fresh(self, key: str) -> SearchResponse | None:
        """Return the response if this process has it and its time is not over."""
        entry = self._recall(key)
        return entry.response if entry is not None and entry.fresh_until > self._clock() else None

    async def shared_fresh(self, key: str) -> SearchResponse | None:
        """Return the response if another process has stored it, and remember it here."""
        if self._shared is None:
            return None
        entry = await self._load(key)
        if entry is None or entry.fresh_until <= self._clock():
            return None
        self._remember(key, entry)
        return entry.response

    async def stale(self, key: str) -> SearchResponse | None:
        """Return the response even if it is past its time, for when no engine can answer."""
        entry = self._recall(key)
        if entry is None and self._shared is not None:
            entry = await self._load(key)
        return entry.response if entry is not None and entry.keep_until > self._clock() else None

    async def store(self, key: str, response: SearchResponse, ttl: float, storing: Storing) -> None:
        """Keep a response for ``ttl`` seconds in this process and in Redis, as far as its provider allows it."""
        if ttl <= 0 or storing is Storing.NEVER:
            return
        until = self._clock() + ttl
        # What may only be kept in passing is not kept past its time either.
        entry = CacheEntry(response, until, until + self._stale if storing is Storing.SHARED else until)
        self._remember(key, entry)
        if self._shared is not None and storing is Storing.SHARED:
            lasts = int((ttl + self._stale) * 1000)
            data = orjson.dumps({"until": entry.fresh_until, "keep": entry.keep_until, "response": response.to_dict()})
            try:
                await self._shared.ask("SET", _shared_key(key), data, "PX", lasts)
            except SharedStateGone:
                return

    def _recall(self, key: str) -> CacheEntry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def _remember(self, key: str, entry: CacheEntry) -> None:
        with self._lock:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    async def _load(self, key: str) -> CacheEntry | None:
        assert self._shared is not None  # noqa: S101 - both callers have looked
        try:
            # Not more than an entry may have, however much is there.
            data = await self._shared.ask("GETRANGE", _shared_key(key), 0, MAX_ENTRY_BYTES)
        except SharedStateGone:
            return None
        if not data:
            return None
        found = read_entry(data)
        now = self._clock()
        if found is None or found[1] > now + self._longest + _CLOCKS_DIFFER:
            # Written by another version, or not by us at all: as good as absent.
            self._shared.odd("an entry of the shared cache")
            return None
        response, until, keep = found
        return CacheEntry(response, until, min(keep, now + self._longest + self._stale))


def _shared_key(key: str) -> str:
    return f"{PREFIX}cache:{hashlib.sha256(key.encode()).hexdigest()}"
