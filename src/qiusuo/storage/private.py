"""A Redis or Valkey that belongs to one server: its workers share it, and nobody else can open it.

It listens on a Unix socket in a folder of this user alone, writes nothing to the disk, and ends with the process that
has started it.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

PROGRAMS: Final = ("valkey-server", "redis-server")
PACKAGES: Final = {
    "apt-get": "apt-get install redis-server",
    "dnf": "dnf install valkey",
    "apk": "apk add valkey",
    "pacman": "pacman -S valkey",
    "brew": "brew install valkey",
}
"""By the program that installs it, the command that does."""
MEMORY: Final = "256mb"
START_SECONDS: Final = 5.0
STOP_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.02
_AGAIN_SECONDS: Final = 1.0
_UNIX: Final = "unix://"
_SOCKET: Final = "store.sock"
# The kernel ends a program that asked for it when its parent ends, however that ends; this survives the exec.
_WITH_PARENT: Final = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


def find_program() -> str | None:
    """Return the path of a Redis or Valkey that can be started here."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def client_is_installed() -> bool:
    """Tell whether the package is there by which we speak to it."""
    return find_spec("redis") is not None


class PrivateStore:
    """The running program; ``watch`` starts another one if it ends."""

    def __init__(self, program: str, folder: Path, process: int) -> None:
        self._program = program
        self._folder = folder
        self._parent = process
        self._running: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        """Where the workers find it."""
        return f"{_UNIX}{self._folder / _SOCKET}"

    @property
    def pid(self) -> int | None:
        """The process that runs."""
        return self._running.pid if self._running is not None else None

    async def start(self) -> bool:
        """Start it; return whether it can be spoken to."""
        path = self._folder / _SOCKET
        path.unlink(missing_ok=True)
        options = {
            "--port": "0",
            "--unixsocket": str(path),
            "--unixsocketperm": "600",
            "--dir": str(self._folder),
            "--save": "",
            "--appendonly": "no",
            "--maxmemory": MEMORY,
            # Old results go first: what counts limits and quotas is used with every search.
            "--maxmemory-policy": "allkeys-lru",
            "--daemonize": "no",
        }
        command = [self._program, *(part for option in options.items() for part in option)]
        if sys.platform == "linux":
            command = [sys.executable, "-I", "-c", _WITH_PARENT, str(self._parent), *command]
        quiet = asyncio.subprocess.DEVNULL
        self._running = await asyncio.create_subprocess_exec(*command, stdin=quiet, stdout=quiet, stderr=quiet)
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while self._running.returncode is None:
                    if _answers(path):
                        return True
                    await asyncio.sleep(_LOOK_SECONDS)
        await self.aclose()
        return False

    async def watch(self) -> None:
        """Start another one whenever it ends; what was kept in it is lost, and counted anew."""
        while True:
            if self._running is not None:
                code = await self._running.wait()
                logger.warning("the store that the workers share has ended (%s): another one is started", code)
            if not await self.start():
                self._running = None
                await asyncio.sleep(_AGAIN_SECONDS)

    async def aclose(self) -> None:
        """End it."""
        if self._running is None or self._running.returncode is not None:
            return
        with suppress(ProcessLookupError):
            self._running.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self._running.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._running.kill()
            await self._running.wait()


def end_orphan(address: str) -> None:
    """End a store whose server was killed; where the kernel has not done it already."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(STOP_SECONDS)
        connection.connect(address.removeprefix(_UNIX))
        connection.sendall(b"SHUTDOWN NOSAVE\r\n")
        connection.recv(1)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
