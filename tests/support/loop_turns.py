"""How long a server's event loop is kept busy at a stretch: in that time nobody else is served."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from qiusuo.web.backend import Backend, Extension


class LoopTurns:
    """An extension that beats in the server's loop and notes the longest time between two beats.

    It counts processor time of the loop's own thread, so what else the machine does makes no difference.
    """

    def __init__(self) -> None:
        self.longest = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure anew; the garbage of all the tests before is not the server's to look through."""
        self.longest = 0.0
        gc.disable()
        try:
            yield
        finally:
            gc.enable()

    def __call__(self, _backend: Backend) -> Extension:
        return Extension((), self._beating)

    @asynccontextmanager
    async def _beating(self) -> AsyncIterator[None]:
        beat = asyncio.create_task(self._beat())
        yield
        beat.cancel()

    async def _beat(self) -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.002)  # due again in the turn after a long one
            now = time.thread_time()
            self.longest = max(self.longest, now - last)
            last = now
