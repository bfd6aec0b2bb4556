"""The shared result cache: entries are fresh for a time by type, and stale for a while longer."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import orjson
from cachetools import LRUCache

from qiusuo.engines.base import Storing
from qiusuo.models import SearchResponse
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A response and the moments (seconds since the epoch) until which it is fresh and may be kept."""

    response: SearchResponse
    fresh_until: float
    keep_until: float


class ResponseCache:
    """Entries in this process, and in Redis where there is one. Failures are never stored."""

    def __init__(
        self,
        *,
        size: int,
        stale: float,
        shared: SharedState | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._stale = stale
        self._shared = shared
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: LRUCache[str, CacheEntry] = LRUCache(size)

    def fresh(self, key: str) -> SearchResponse | None:
        """Return the response if this process has it and its time is not over."""
        with self._lock:
            entry = self._entries.get(key)
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
        with self._lock:
            entry = self._entries.get(key)
        if entry is None and self._shared is not None:
            entry = await self._load(key)
        return entry.response if entry is not None and entry.keep_until > self._clock() else None

    async def store(self, key: str, response: SearchResponse, ttl: float, storing: Storing) -> None:
        """Keep a response for ``ttl`` seconds, where its provider allows it."""
        if ttl <= 0 or storing is Storing.NEVER:
            return
        now = self._clock()
        # What may only be kept in passing is not kept past its time either.
        stale = self._stale if storing is Storing.SHARED else 0.0
        entry = CacheEntry(response, now + ttl, now + ttl + stale)
        self._remember(key, entry)
        if self._shared is not None and storing is Storing.SHARED:
            data = orjson.dumps({"until": entry.fresh_until, "keep": entry.keep_until, "response": response.to_dict()})
            try:
                await self._shared.run(lambda redis: redis.set(_shared_key(key), data, px=int((ttl + stale) * 1000)))
            except SharedStateGone:
                return

    def _remember(self, key: str, entry: CacheEntry) -> None:
        with self._lock:
            self._entries[key] = entry

    async def _load(self, key: str) -> CacheEntry | None:
        assert self._shared is not None  # noqa: S101 - both callers have looked
        try:
            data = await self._shared.run(lambda redis: redis.get(_shared_key(key)))
        except SharedStateGone:
            return None
        if not data:
            return None
        try:
            raw = orjson.loads(data)
            return CacheEntry(SearchResponse.from_dict(raw["response"]), raw["until"], raw["keep"])
        except (ValueError, KeyError, TypeError):
            # Written by another version, or not by us at all: as good as absent.
            logger.warning("an entry of the shared cache cannot be read and is ignored")
            return None


def _shared_key(key: str) -> str:
    return f"{PREFIX}cache:{hashlib.sha256(key.encode()).hexdigest()}"
