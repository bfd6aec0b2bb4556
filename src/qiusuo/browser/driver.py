"""Playwright's driver: the process between us and the browser. Imports Playwright, so only ``chrome.py`` imports it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final, Self

from playwright.async_api import Error, Playwright, async_playwright

CLOSE_SECONDS: Final = 3.0
POLITE_SECONDS: Final = 0.2


class Driver:
    """A running driver and, where it could be learnt, its process."""

    def __init__(self, playwright: Playwright, process: asyncio.SubprocessTransport | None) -> None:
        self.playwright = playwright
        self._process = process

    @classmethod
    async def start(cls) -> Self:
        """Start a driver, and note its process, which Playwright keeps to itself."""
        loop = asyncio.get_running_loop()
        genuine = loop.subprocess_exec
        started: list[asyncio.SubprocessTransport] = []

        async def noting(*args: Any, **options: Any) -> Any:
            transport, protocol = await genuine(*args, **options)
            started.append(transport)
            return transport, protocol

        loop.subprocess_exec = noting  # type: ignore[method-assign]  # only for the moment of this start
        try:
            playwright = await async_playwright().start()
        except BaseException:  # one that nobody waits for any more must not stay
            for process in started:
                with suppress(ProcessLookupError):
                    process.kill()
            raise
        finally:
            loop.subprocess_exec = genuine  # type: ignore[method-assign]  # as it was
        return cls(playwright, started[0] if started else None)

    async def stop(self) -> None:
        """End the driver; a browser that it has ends with it."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.playwright.stop()

    async def give_up(self, launch: asyncio.Future[Any]) -> None:
        """End the driver and the browser that it was starting, however far that has come."""
        launch.add_done_callback(lambda task: task.cancelled() or task.exception())
        stop = asyncio.ensure_future(self.stop())
        await asyncio.wait({stop}, timeout=None if launch.done() else POLITE_SECONDS)
        if not stop.done() and self._process is not None:
            # Asked to end, it waits for its browser to answer. Told once more, it kills it.
            with suppress(ProcessLookupError):
                self._process.terminate()
        await stop
        launch.cancel()
