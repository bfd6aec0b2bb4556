"""How one of several workers takes connections from the socket that they share: as many as the others."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from qiusuo.web.entrance.tally import Tally

logger = logging.getLogger(__name__)

# As asyncio does where no file can be opened any more.
_AGAIN_SECONDS: Final = 1.0
# So long a worker that has more than the others leaves a connection to them; then it takes it.
_AFTER_OTHERS_SECONDS: Final = 0.01
_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class OneByOne:
    """Takes one connection, then looks after everything else, then the next; who has more lets the others go first.

    The servers of asyncio and libuv take all that wait at once: of many that come together the worker which wakes first
    has nearly all, and keeps them while the others have nothing to do. Closed as a server of asyncio is.
    """

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        tls: ssl.SSLContext | None,
        *,
        tally: Tally,
        count: Callable[[], int],
    ) -> None:
        self._listener = listener
        self._make_protocol = make_protocol
        self._tls = tls
        self._tally = tally
        self._count = count
        self._waited = False
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._again: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        tally.note(os.getpid(), count())
        self._begin()

    def close(self) -> None:
        """Take no more; those that are taken stay."""
        if self._listener.fileno() < 0:  # it was closed before, and so was the socket
            return
        self._loop.remove_reader(self._listener)
        if self._again is not None:
            self._again.cancel()
        self._tally.forget(os.getpid())

    async def wait_closed(self) -> None:
        """Wait for those that are being opened."""
        if self._opening:
            await asyncio.wait(self._opening)

    def _begin(self) -> None:
        self._again = None
        self._loop.add_reader(self._listener, self._take)

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._again = self._loop.call_later(seconds, self._begin)

    def _take(self) -> None:
        connections = self._count() + len(self._opening)
        self._tally.note(os.getpid(), connections)
        if not self._waited and self._tally.is_ahead(connections):
            self._waited = True
            self._pause(_AFTER_OTHERS_SECONDS)
            return
        self._waited = False
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):  # another worker has it, or nobody wants it
            return
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            logger.warning("no connection can be taken for %d s: %s", _AGAIN_SECONDS, error)
            self._pause(_AGAIN_SECONDS)
            return
        connection.setblocking(False)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._open(connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket) -> None:
        # Who does not finish the handshake is gone; TLS has its own time limit for it.
        with suppress(OSError):
            await self._loop.connect_accepted_socket(self._make_protocol, connection, ssl=self._tls)
            return
        connection.close()
