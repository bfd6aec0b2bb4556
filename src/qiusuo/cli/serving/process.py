"""One worker as its supervisor sees it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from qiusuo.cli.serving.orders import FORCE, RETIRE, TELL, Order, Report

_MODULE: Final = "qiusuo.cli.serving.worker"
_COUNTS: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Read by ``prometheus_client`` when it is imported: it then counts in files."""


class WorkerProcess:
    """A process that was ordered to serve."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        control: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._process = process
        self._reader, self._writer = control
        self._started = time.monotonic()
        self.report: Report | None = None
        self._reported = asyncio.create_task(self._hear())

    @classmethod
    async def start(cls, listener: socket.socket, order: Callable[[int, int], Order]) -> Self:
        """Start one; ``order`` is told the numbers of the listener and of its end of the control."""
        ours, theirs = socket.socketpair()
        with theirs:
            given = order(listener.fileno(), theirs.fileno())
            process = await asyncio.create_subprocess_exec(
                *_python(),
                given.to_text(),
                pass_fds=(listener.fileno(), theirs.fileno()),
                env={**os.environ, _COUNTS: given.folder},
            )
        return cls(process, await asyncio.open_connection(sock=ours))

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._started

    async def ready(self) -> bool:
        """Wait until it serves; False where it ended before, or refuses to."""
        self.report = await asyncio.shield(self._reported)
        return self.report is not None and not self.report.refused

    async def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        code = await self._process.wait()
        with suppress(OSError):
            self._writer.close()
        return code

    def stop(self) -> None:
        """Let it stop in good order; one that is still starting ends at once."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    def tell(self) -> None:
        """Let it tell people what is wrong with the server; only one that was ordered to does."""
        self._say(TELL)

    def retire(self) -> None:
        """Let it finish what it answers, and take nothing new."""
        self._say(RETIRE)

    def force(self) -> None:
        """Let it stop now."""
        self._say(FORCE)

    def kill(self) -> None:
        """End it."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def _say(self, word: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(word)

    async def _hear(self) -> Report | None:
        try:
            return Report.read(await self._reader.readline())
        except OSError:
            return None


def forget_gauges(process: int, folder: Path) -> None:
    """Let what a worker had under way go with it; what it has counted stays."""
    from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 - an extra, which a worker has loaded

    mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call] # it has no types


def _python() -> list[str]:
    """Return the command of a worker: this Python, which looks for modules where this process does."""
    warnings = [f"-W{option}" for option in sys.warnoptions]
    path = [] if str(Path.cwd()) in sys.path or "" in sys.path else ["-P"]
    return [sys.executable, *warnings, *path, "-m", _MODULE]
