"""Sessions of ``/mcp`` that several servers behind a balancer share, in Redis: whose they are, and their numbers.

Each server answers for a session that another has opened, since the tools need nothing else of it. Without Redis, or
while it is away, a session is known to the server alone that has opened it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, Final, TypeVar

from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone

T = TypeVar("T")

_OWNER: Final = "owner"
_NUMBERS: Final = "numbers"
_MOST_BYTES: Final = 1024 * 1024


class SharedSessions:
    """The sessions in Redis; without one it knows none."""

    def __init__(self, shared: SharedState | None, seconds: float) -> None:
        self._shared = shared
        self._seconds = max(round(seconds), 1)

    async def note(self, name: str, owner: str) -> None:
        """Make a session known to the other servers."""
        await self._write(name, _OWNER, _hashed(owner))

    async def is_known(self, name: str, owner: str) -> bool:
        """Tell whether some server has opened a session for this owner."""
        return await self._read(name, _OWNER) == _hashed(owner).encode()

    async def numbers(self, name: str) -> CitationRegistry | None:
        """Return the numbers that were given in a session, where they are known."""
        kept = await self._read(name, _NUMBERS)
        try:
            return CitationRegistry.from_dict(json.loads(kept)) if kept else None
        except (ValueError, KeyError, TypeError):
            return None

    async def keep(self, name: str, numbers: CitationRegistry) -> None:
        """Keep the numbers that were given, for whoever answers next."""
        data = json.dumps(numbers.to_dict(), ensure_ascii=False)
        if len(data) <= _MOST_BYTES:
            await self._write(name, _NUMBERS, data)

    async def forget(self, name: str) -> None:
        """End a session for all servers."""
        await self._run(lambda redis: redis.delete(_key(name)))

    async def _read(self, name: str, field: str) -> bytes | None:
        value: bytes | None = await self._run(lambda redis: redis.hget(_key(name), field))
        return value

    async def _write(self, name: str, field: str, value: str) -> None:
        await self._run(lambda redis: redis.hset(_key(name), field, value))
        await self._run(lambda redis: redis.expire(_key(name), self._seconds))

    async def _run(self, operation: Callable[[Any], Awaitable[T]]) -> T | None:
        if self._shared is None:
            return None
        try:
            return await self._shared.run(operation)
        except SharedStateGone:
            return None


def _key(name: str) -> str:
    return f"{PREFIX}mcp:{_hashed(name)}"


def _hashed(text: str) -> str:
    # Neither the name of a session nor a token lies in Redis.
    return sha256(text.encode("utf-8", "replace")).hexdigest()
