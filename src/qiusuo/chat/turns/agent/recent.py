"""What the agent has searched for lately in its conversation, and need not search for again."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from qiusuo.chat.sessions.searches import SessionCache
from qiusuo.config import Settings
from qiusuo.models import SearchResponse
from qiusuo.pipeline.pipeline import EMPTY_TTL


class RecentSearches:
    """The conversation's searches as the tool asks for them: only those that are fresh, each with its age.

    They are good for as long as the service keeps results of their type, without a cache for no time at all.
    """

    def __init__(
        self,
        cache: SessionCache,
        settings: Settings,
        clock: Callable[[], float],
        *,
        engine: str | None = None,
        scope: str = "",
    ) -> None:
        self._cache = cache
        self._settings = settings
        self._clock = clock
        self._apart = " ".join(filter(None, (engine, scope)))

    def get(self, query: str) -> SearchResponse | None:
        """Return the response to a query that was asked lately, with its age."""
        kept = self._cache.get(self._key(query))
        if kept is None:
            return None
        age = max(self._clock() - kept.at, 0.0)
        return replace(kept.response, age=int(age)) if age < self._lasts(kept.response) else None

    def put(self, query: str, response: SearchResponse) -> None:
        """Keep a response that was just found."""
        if self._lasts(response) > 0:
            self._cache.put(self._key(query), response, self._clock())

    def _lasts(self, response: SearchResponse) -> float:
        ttl = self._settings.ttl_for(response.type)
        return ttl if response.results else min(ttl, EMPTY_TTL)

    def _key(self, query: str) -> str:
        # Another engine, or one that searches elsewhere, may find something else.
        return f"{self._apart}\n{query}" if self._apart else query
