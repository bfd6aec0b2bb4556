"""Looking at an address from below: name, port, and the reply as it is, whatever its status."""

from __future__ import annotations

import asyncio
import errno
import re
import socket
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from qiusuo.errors import EngineError, SearchError, SearchTimeout
from qiusuo.http import Endpoint, Reply
from qiusuo.text import clean

CONNECT_TIMEOUT: Final = 1.0
_ERRNO: Final = re.compile(r"\[(?:Errno|WinError) (\d+)\]")
_REFUSED: Final = frozenset({errno.ECONNREFUSED, 1225, 10061})  # the last two are Windows' own
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class Reach(StrEnum):
    """How far one gets towards a port."""

    OPEN = "open"
    DNS = "dns"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


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
    """Resolve the host of ``url`` and open its port, within about a second."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return Reach.UNREACHABLE
    except socket.gaierror:
        return Reach.DNS
    except ConnectionRefusedError:
        return Reach.REFUSED
    except OSError as error:
        # Several addresses (IPv4 and IPv6) failed: asyncio has only their texts joined.
        codes = {int(code) for code in _ERRNO.findall(str(error))}
        return Reach.REFUSED if codes & _REFUSED else Reach.UNREACHABLE
    writer.close()
    return Reach.OPEN


async def ask(endpoint: Endpoint, path: str, params: dict[str, str] | None = None, *, timeout: float) -> Heard:
    """GET ``path`` and keep the reply, whatever its status."""
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


def describe(reply: Reply) -> str:
    """Say in a few words what has answered: its title, its server, its status."""
    title = _TITLE.search(reply.text[:20_000])
    parts = (
        f"“{clean(title[1], 60)}”" if title and clean(title[1]) else "",
        clean(reply.headers.get("Server", ""), 40),
        f"HTTP {reply.status}",
    )
    return ", ".join(part for part in parts if part)


def shown(url: str) -> str:
    """Return an address without login, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
