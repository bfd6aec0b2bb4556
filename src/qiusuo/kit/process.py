"""SearXNG as a child process, for machines without Docker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from qiusuo.kit.files import SECRET_VARIABLE
from qiusuo.words import Fact

HOST: Final = "127.0.0.1"
START_TIMEOUT: Final = 90.0
STOP_TIMEOUT: Final = 5.0
_LOG_TAIL: Final = 2000


class StartFailed(Exception):
    """SearXNG did not come up; ``fact`` has the end of its log."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(fact)
        self.fact = fact


def port_is_free(port: int) -> bool:
    """Tell whether nothing listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0


@contextmanager
def running(
    python: Path, settings: Path, port: int, log: Path, *, secret: str | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run SearXNG until the block ends. It listens on this machine only; its output goes to ``log``.

    Without a ``secret`` it takes the one in its settings.
    """
    # A proxy variable stays: SearXNG may need it to reach the search sites.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEARXNG_")} | {
        "SEARXNG_SETTINGS_PATH": str(settings),
        "SEARXNG_BIND_ADDRESS": HOST,
        "SEARXNG_PORT": str(port),
        # There is no Valkey beside it, and only this machine can reach it.
        "SEARXNG_LIMITER": "false",
        "PYTHONUNBUFFERED": "1",
    }
    if secret:
        environment[SECRET_VARIABLE] = secret
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the interpreter that we have made
            [python, "-m", "searx.webapp"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A group of its own: Ctrl-C reaches us alone, and we end it with all it has started.
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _stop(process)


def wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until SearXNG says that it is up.

    Raises:
        StartFailed: it ended, or took too long.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise StartFailed(Fact("kit.ended", code=process.returncode, log=_tail(log)))
        try:
            with opener.open(f"http://{HOST}:{port}/healthz", timeout=2) as reply:
                if reply.read(10) == b"OK":
                    return
        except (OSError, urllib.error.URLError):
            pass
        time.sleep(0.2)
    raise StartFailed(Fact("kit.silent", seconds=START_TIMEOUT, log=_tail(log)))


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Make SIGTERM what Ctrl-C is, so that it too ends what runs in the block in order."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before: Callable[..., object] | int | None = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    _signal(process, gently=True)
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        _signal(process, gently=False)
        process.wait()


def _signal(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGTERM if gently else signal.SIGKILL)
    elif gently:
        process.terminate()
    else:
        process.kill()


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-_LOG_TAIL:].strip()
