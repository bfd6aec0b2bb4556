"""The server around the app: uvicorn with bounds on connections, and a stop in good order."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, Final, cast

import uvicorn

from qiusuo.web.app import QiusuoApp
from qiusuo.web.entrance.accepting import OneByOne
from qiusuo.web.entrance.connections import BoundedProtocol, OpenConnections, Refusals
from qiusuo.web.entrance.guard import KEEP_ALIVE_SECONDS
from qiusuo.web.entrance.proxies import TrustedProxies
from qiusuo.web.entrance.tally import Tally

logger = logging.getLogger(__name__)

_SHARED = "/share/"

# Searches end by themselves after SEARCH_TIMEOUT; longer than this nobody waits for a server to stop.
SHUTDOWN_SECONDS: Final = 10
# What is being answered may still become whole in this time; then it is stopped in good order.
ANSWER_SECONDS: Final = 3
# A worker whose place another has taken has more time: nobody waits for it.
RETIRE_SECONDS: Final = 600
# Requests of connections that were just accepted are on their way.
_ON_THE_WAY_SECONDS: Final = 0.5
_POLL_SECONDS: Final = 0.05
_LONGER_SECONDS: Final = 10
# Files that are no connections of clients: those to engines, models, databases, the index, the log.
_OWN_FILES: Final = 384


class Server(uvicorn.Server):
    """Serves the app until told to stop.

    One of several ``workers`` takes its share of the connections, by a ``tally`` of all, and hears no signals itself:
    its supervisor calls :meth:`stop`, :meth:`force` and :meth:`retire`.
    """

    def __init__(
        self,
        app: QiusuoApp,
        *,
        access_log: bool = False,
        tls: ssl.SSLContext | None = None,
        workers: int = 1,
        tally: Tally | None = None,
        hears_signals: bool = True,
        when_started: Callable[[], None] | None = None,
        when_stopped: Callable[[], None] | None = None,
        **options: Any,
    ) -> None:
        settings = app.backend.settings
        share = -(-settings.max_connections // workers)
        most = min(share, _room_for_connections())
        if most < share:
            logger.warning("only %d connections fit: raise the limit of open files (ulimit -n)", most)
        everybody = OpenConnections(
            most, settings.max_connections_per_address, Refusals(app.backend.metrics.connection_refused)
        )
        protocol = partial(
            BoundedProtocol,
            everybody=everybody,
            proxies=TrustedProxies(settings.trusted_proxies),
            prefix=settings.root_path.encode(),
        )
        config = uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", protocol),
            ws="none",
            log_config=None,  # as all of the program logs
            access_log=access_log,
            log_level="info" if access_log else "warning",
            server_header=False,
            proxy_headers=False,  # the guard reads them, from those alone whom the settings name
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            timeout_keep_alive=KEEP_ALIVE_SECONDS + _LONGER_SECONDS,
            **options,
        )
        if tls is not None:
            config.load()
            config.ssl = tls  # of files uvicorn would make a context of its own
        super().__init__(config)
        self.app = app
        self._hears_signals = hears_signals
        self._tally = tally
        self._when_started = when_started
        self._when_stopped = when_stopped
        self._retiring = False
        logging.getLogger("uvicorn.access").addFilter(_without_query)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Hear signals while it serves."""
        if not self._hears_signals:
            yield
            return
        with super().capture_signals():
            yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Hear a signal; from here on the server says that it is not ready any more."""
        self.app.stopping()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """Stop in good order, as on a first signal."""
        self.app.stopping()
        self._retiring = False
        self.should_exit = True

    def force(self) -> None:
        """Stop at once, as on a second signal."""
        self.stop()
        self.force_exit = True

    def retire(self) -> None:
        """Accept no connection any more, and stop when everything is answered: others serve on."""
        self._retiring = not self.should_exit
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        if self._tally is not None and sockets:
            await super().startup([])
            taking = [self._take_one_by_one(listener, self._tally) for listener in sockets]
            self.servers = cast("list[asyncio.base_events.Server]", taking)
        else:
            await super().startup(sockets)
        if self._when_started is not None:
            self._when_started()

    def _take_one_by_one(self, listener: socket.socket, tally: Tally) -> OneByOne:
        connections = self.server_state.connections
        return OneByOne(listener, self._make_protocol, self.config.ssl, tally=tally, count=lambda: len(connections))

    def _make_protocol(self) -> asyncio.Protocol:
        """Return the protocol of a new connection, as uvicorn makes it."""
        return self.config.http_protocol_class(  # type: ignore[call-arg]  # as in uvicorn
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop. The port stays open while answers become whole, so that whoever asks hears what goes on."""
        if self._retiring:
            await self._finish(sockets or [])
        self.app.stopping()
        loop = asyncio.get_running_loop()
        end = loop.time() + ANSWER_SECONDS
        if self.app.is_answering():
            logger.warning("told to stop: answers have %d s to become whole", ANSWER_SECONDS)
        # A signal may force the exit, which sets no event.
        while self.app.is_answering() and loop.time() < end and not self.force_exit:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        if self.app.is_answering():
            logger.warning("answers that are not whole are broken off; what they have said is kept")
        # Otherwise answers would be torn off: their readers would hear of no end, and containers are killed soon.
        self.app.stop_streams()
        if self.server_state.connections and not self.force_exit:
            await self._close_port(sockets or [])
        await super().shutdown(sockets)
        if self._when_stopped is not None:  # here: the signal that is passed on later may end the process
            self._when_stopped()

    async def _finish(self, sockets: list[socket.socket]) -> None:
        """Wait for what is being answered, unless told to stop meanwhile. Connections end with their answers."""
        await self._close_port(sockets)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        loop = asyncio.get_running_loop()
        end = loop.time() + RETIRE_SECONDS
        # What is being told to stop sets no event either.
        while self._retiring and loop.time() < end and self._is_busy():  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)

    async def _close_port(self, sockets: list[socket.socket]) -> None:
        """Let nobody in any more, and hear those out who have just come."""
        for server in self.servers:
            server.close()
        for listener in sockets:
            listener.close()
        await asyncio.sleep(_ON_THE_WAY_SECONDS)

    def _is_busy(self) -> bool:
        return bool(self.server_state.connections or self.server_state.tasks) or self.app.is_answering()


def _without_query(record: logging.LogRecord) -> bool:
    """Take out of a line of the access log what people search for, and what opens a shared conversation."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            _without_secret(each.partition("?")[0]) if isinstance(each, str) else each for each in record.args
        )
    return True


def _without_secret(path: str) -> str:
    before, shared, _ = path.partition(_SHARED)  # a proxy may show the server below a path
    return f"{before}{shared}…" if shared else path


def _room_for_connections() -> int:
    """Return how many connections the limit of open files leaves, which is raised as far as this user may."""
    if os.name != "posix":
        return 1 << 16
    import resource  # noqa: PLC0415 - POSIX has it

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (ValueError, OSError):  # macOS takes no unlimited one
            logger.debug("the limit of open files stays at %d", soft)
    if soft == resource.RLIM_INFINITY:
        return 1 << 20
    return max(soft - _OWN_FILES, soft // 2)
