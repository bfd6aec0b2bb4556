"""Programs that are started for a run, and ended with it, however it ends."""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

PORTS: Final = (18_000, 32_000)
_PR_SET_PDEATHSIG: Final = 1


class NotThere(Exception):
    """A program that is needed is not installed."""


class DidNotStart(Exception):
    """A program was started and did not come up."""


def program(name: str, package: str) -> str:
    """Return where a program is.

    Raises:
        NotThere: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise NotThere(f"{name} is not installed (Debian: apt-get install {package})")
    return found


def free_port() -> int:
    """Return a port that nobody uses, and that the system gives to no connection: it is taken again after a kill."""
    for _ in range(1000):
        port = random.randrange(*PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise DidNotStart("no port is free")


def listens(port: int) -> bool:
    """Tell whether somebody takes connections on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def wait_until(ready: Callable[[], bool] | Callable[[], Awaitable[bool]], seconds: float, what: str) -> None:
    """Wait for something to become true.

    Raises:
        DidNotStart: it did not within ``seconds``.
    """
    end = time.monotonic() + seconds
    while True:
        answer = ready()
        if answer is True or (not isinstance(answer, bool) and await answer):
            return
        if time.monotonic() > end:
            raise DidNotStart(f"{what}: not within {seconds:g} s")
        await asyncio.sleep(0.05)


class Program:
    """A program in a process group of its own, so that a kill reaches all that it has started."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        user: tuple[int, int] | None = None,
    ) -> None:
        self.name = Path(command[0]).name
        self.log = log
        self._command = list(command)
        self._env = None if env is None else dict(env)
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise DidNotStart(f"{self.name} does not run")
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it; called in the main thread, with which it dies."""
        parent, user = os.getpid(), self._user

        def prepare() -> None:
            if user is not None:
                os.setgroups([])
                os.setgid(user[1])
                os.setuid(user[0])
            # Even where this run is killed, nothing of it goes on (Linux alone has that).
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != parent:
                    os._exit(1)

        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._env,
                cwd=self.log.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=prepare,  # noqa: PLW1509 - short, and nothing else can make it die with this run
            )

    def send(self, number: signal.Signals, *, everyone: bool = False) -> None:
        """Send a signal to it, or to it and all that it has started."""
        with suppress(ProcessLookupError):
            if everyone:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    async def ended(self, seconds: float) -> bool:
        """Wait for its end; tell whether it came."""
        with suppress(DidNotStart):
            await wait_until(lambda: not self.runs, seconds, self.name)
        return not self.runs

    def kill(self) -> None:
        """Kill it with all that it has started."""
        if self._process is None:
            return
        started = family(self._process.pid)
        self.send(signal.SIGCONT, everyone=True)
        self.send(signal.SIGKILL, everyone=True)
        for pid in started[1:]:  # one that has made a group of its own
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)

    def last_words(self, count: int = 2000) -> str:
        """Return the end of what it has said."""
        with suppress(OSError):
            return self.log.read_bytes()[-count:].decode("utf-8", "replace")
        return ""


def family(pid: int) -> list[int]:
    """Return a process with all that it has started, itself first (Linux)."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def accepts(pid: int, port: int) -> bool:
    """Tell whether a process waits for connections on a port: of those that share its socket, some may not yet."""
    wanted = f":{port:04X}"
    inodes = {
        f"socket:[{fields[9]}]"
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if (fields := line.split())[3] == "0A" and fields[1].endswith(wanted)
    }
    place = Path(f"/proc/{pid}")
    with suppress(OSError):
        links = {entry.name: str(entry.readlink()) for entry in (place / "fd").iterdir()}
        listening = {f"tfd: {name.rjust(8)}" for name, link in links.items() if link in inodes}
        waiting = [name for name, link in links.items() if link == "anon_inode:[eventpoll]"]
        watched = [line[:13] for name in waiting for line in (place / "fdinfo" / name).read_text().splitlines()]
        return not listening.isdisjoint(watched)
    return False


def memory(pids: Sequence[int]) -> float:
    """Return the resident memory of processes in MB."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1])
    return total / 1024


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return the processor time that processes have taken so far."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
