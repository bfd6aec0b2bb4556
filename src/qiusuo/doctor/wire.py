"""Looking at an address from below: name, port, and the reply as it is, whatever its status."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from qiusuo.errors import EngineError, SearchError, SearchTimeout
from qiusuo.http import Endpoint, Reply
from qiusuo.http.faults import connection_code

CONNECT_TIMEOUT: Final = 1.0
RESOLVE_TIMEOUT: Final = 5.0
HELD_UP: Final = 1.1
_TRIES: Final = 3


class Reach(StrEnum):
    """How far one gets towards a port."""

    OPEN = "open"
    DNS = "dns"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


_REACHES: Final = {"http.dns": Reach.DNS, "http.refused": Reach.REFUSED}


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one request: a reply of any status, or the error where none came, and after how many seconds."""

    reply: Reply | None
    error: SearchError | None
    seconds: float

    @property
    def status(self) -> int:
        return self.reply.status if self.reply else 0

    @property
    def data(self) -> Any:
        return self.reply.data if self.reply else None

    @property
    def timed_out(self) -> bool:
        return isinstance(self.error, SearchTimeout)


async def reach(url: str) -> Reach:
    """Resolve the host of ``url`` and open its port, within about a second.

    In a thread: the system counts the second from when it asks the host, whatever holds the event loop meanwhile.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT):  # the system may look for a name much longer
            connection = await asyncio.to_thread(socket.create_connection, (host, port), CONNECT_TIMEOUT)
    except TimeoutError:
        return Reach.UNREACHABLE
    except OSError as error:
        return _REACHES.get(connection_code(error), Reach.UNREACHABLE)
    connection.close()
    return Reach.OPEN


async def ask(endpoint: Endpoint, path: str, params: dict[str, str] | None = None, *, timeout: float) -> Heard:
    """GET ``path`` and keep the reply, whatever its status.

    Whoever held the event loop meanwhile has used up the time: that is no silence of the host, which is asked again.
    """
    heard = await _ask(endpoint, path, params, timeout)
    for _ in range(_TRIES - 1):
        if not heard.timed_out or heard.seconds <= HELD_UP * timeout:
            break
        heard = await _ask(endpoint, path, params, timeout)
    return heard


async def _ask(endpoint: Endpoint, path: str, params: dict[str, str] | None, timeout: float) -> Heard:
    kept: list[Reply] = []

    def keep(reply: Reply, _detail: str) -> EngineError | None:
        kept.append(reply)
        return None

    loop = asyncio.get_running_loop()
    started = loop.time()
    error: SearchError | None = None
    try:
        door = replace(endpoint, classify=keep, timeout=timeout)
        kept.append(await door.request("GET", path, params=params))
    except SearchError as caught:
        error = caught
    seconds = loop.time() - started
    return Heard(kept[0], None, seconds) if kept else Heard(None, error, seconds)
