"""Deletes conversations in which nothing has happened for as long as the settings allow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from qiusuo.chat.sessions.session import SessionStore
from qiusuo.errors import SearchError

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 3600.0
_DAY: Final = 86_400.0


class Retention:
    """Looks every hour, beside what the server does; ``days`` tells how long is kept at that moment, None for good.

    Some owners may have their own time; where there are both, the shorter one holds.
    """

    def __init__(self, store: SessionStore, days: Callable[[], int | None], look_seconds: float = LOOK_SECONDS) -> None:
        self._store = store
        self._days = days
        self._look_seconds = look_seconds
        self.when_deleted: Callable[[int, int], Awaitable[None]] | None = None
        """Told how many were deleted, after how many days."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            try:
                days = self._days()
                if deleted := await self._store.delete_untouched(days * _DAY if days else None):
                    logger.info("%d conversations were deleted: nothing happened in them for too long", deleted)
                    if self.when_deleted is not None:
                        await self.when_deleted(deleted, days or 0)
            except SearchError as error:
                logger.warning("old conversations are not deleted yet: %s", error)
            except Exception:  # a fault here must not end the looking
                logger.exception("old conversations are not deleted yet")
            await asyncio.sleep(self._look_seconds)

    async def aclose(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
