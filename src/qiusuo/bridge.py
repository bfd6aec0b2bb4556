"""The one bridge from synchronous code to the async core: an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

CLOSING_TIME = 1.0


class SyncBridge:
    """Runs coroutines on one background loop, so that connections are kept between calls.

    Works inside a running loop too (notebooks), where ``asyncio.run`` would refuse.
    """

    def __init__(self, name: str = "qiusuo-sync") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` to its end and return its result; an interrupt of the caller cancels it."""
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:  # whatever ends the waiting, an interrupt too, ends the work
            future.cancel()
            raise

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start ``work`` and return at once; cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(work, self._running_loop())

    @property
    def running(self) -> bool:
        """Whether there is a loop, that is whether anything was run since the last close."""
        return self._loop is not None

    @property
    def is_here(self) -> bool:
        """Whether the caller is on the bridge's own thread, where waiting for it would never end."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        """Stop the loop and its thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # A forked child (gunicorn, multiprocessing) has the loop, but not the thread that runs it.
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                loop = asyncio.new_event_loop()
                # A daemon: a program that forgets to close the service must still be able to end.
                self._thread = threading.Thread(target=_run_loop, args=(loop,), name=self._name, daemon=True)
                self._thread.start()
                self._loop = loop
            return self._loop


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_finish())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _finish() -> None:
    """Let what is under way (the closing of connections) end, and cancel what takes too long."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        _, slow = await asyncio.wait(tasks, timeout=CLOSING_TIME)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
