"""Writes down what was counted, every few seconds and at the end. A database that fails never reaches a search."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Final

from qiusuo.config import Settings
from qiusuo.errors import SearchError
from qiusuo.usage.recorder import Batch, UsageRecorder
from qiusuo.usage.store import UsageStore

logger = logging.getLogger(__name__)

WRITE_SECONDS: Final = 5.0
TIDY_SECONDS: Final = 3600.0
LAST_SECONDS: Final = 3.0
"""So long a process that ends waits for its last counts to be written."""


class UsageKeeper:
    """Carries the counts of a recorder into the store."""

    def __init__(self, recorder: UsageRecorder, store: UsageStore, settings: Settings) -> None:
        self.recorder = recorder
        self.store = store
        self._settings = settings
        self._unwritten: Batch | None = None
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._failing = False
        store.database.before_close.append(self.aclose)

    @property
    def counts(self) -> bool:
        """Whether anything is kept."""
        return self._settings.usage_days > 0

    def start(self) -> None:
        """Begin to write in the background."""
        self._task = asyncio.create_task(self._run())

    async def flush(self) -> None:
        """Write what was counted so far.

        Raises:
            SearchError: the database cannot be used; it is tried again later.
        """
        async with self._writing:
            while self._unwritten or self.recorder:
                # One that failed is sent as it was: it may be in after all, which the store sees by its number.
                self._unwritten = self._unwritten or self.recorder.take()
                await self.store.add(self._unwritten)
                self._unwritten = None

    async def aclose(self) -> None:
        """Write the rest; to be called before the database is closed."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        if not self.counts:
            return
        try:
            async with asyncio.timeout(LAST_SECONDS):
                await self.flush()
        except (SearchError, TimeoutError) as error:
            logger.warning("the last counts of usage are lost: %s", str(error) or "the database does not answer")

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        tidied = -TIDY_SECONDS
        while True:
            try:
                if self.counts:
                    await self.flush()
                if loop.time() - tidied >= TIDY_SECONDS:
                    tidied = loop.time()
                    await self.store.tidy(self._settings.usage_days, keep_queries=self._settings.board_queries)
                self._failing = False
            except SearchError as error:
                if not self._failing:
                    logger.warning("usage is not written for now: %s", error)
                self._failing = True
            except Exception:  # a fault of ours must not end the counting
                logger.exception("usage is not written")
                self._failing = True
            await asyncio.sleep(WRITE_SECONDS)
