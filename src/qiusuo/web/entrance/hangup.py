"""Work stops when the client that wanted it hangs up, so that no engine is asked for nobody."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Self

from starlette.types import Receive

# Most answers (all cached ones) are there before anybody could hang up; only longer work is worth a watcher.
PATIENCE: Final = 0.05


class ClientGone(Exception):
    """The client hung up; the work was cancelled."""


class HangUp:
    """A block that is cancelled when the client hangs up. The request's body must have been read before."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._gone = False
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        if not self._gone or self._task is None:
            return
        # As in asyncio.timeout: another reason to be cancelled (the server shuts down) goes first.
        if self._task.uncancel() == 0 and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise ClientGone from None

    def _start(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        if self._task is not None:
            self._task.cancel()
