"""``qiusuo serve --workers``: the processes of one server, and connections to those that one chooses."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.server_process import ServerProcess

PATIENCE = 100
"""Seconds: a machine on which the tests run may have much else to do."""


def until(look: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.05)


def children(process: int) -> dict[int, str]:
    """Return the programs that a process has started, by their numbers."""
    found = {}
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        try:
            found[int(child)] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


class Workers(ServerProcess):
    """A server with several workers."""

    def __init__(self, process: subprocess.Popen[str], client: httpx.Client, log: Path) -> None:
        super().__init__(process, client)
        self.log = log

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8")

    @property
    def port(self) -> int:
        return self.client.base_url.port or 0

    @property
    def pids(self) -> set[int]:
        """The workers that answer or are about to."""
        return {pid for pid, command in children(self.process.pid).items() if "serving.worker" in command}

    @property
    def store(self) -> int | None:
        """The Redis or Valkey that they share."""
        found = children(self.process.pid).items()
        return next((pid for pid, command in found if "unixsocket" in command and "python" not in command), None)

    def wait_for(self, count: int = 2) -> set[int]:
        """Wait until there are so many workers, and all of them answer."""

        def answering() -> bool:
            pids = self.pids
            return len(pids) == count and all(f"worker {pid} serves" in self.said for pid in pids)

        until(answering)
        return self.pids

    @contextmanager
    def to(self, pid: int, source: str = "127.0.0.1") -> Iterator[http.client.HTTPConnection]:
        """Connect to one of the workers: the others cannot accept meanwhile."""
        others = self.pids - {pid}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(source, 0))
        for other in others:
            os.kill(other, signal.SIGSTOP)
        try:
            connection.request("GET", "/livez")
            connection.getresponse().read()
        finally:
            for other in others:
                os.kill(other, signal.SIGCONT)
        try:
            yield connection
        finally:
            connection.close()

    def is_alive(self) -> bool:
        """Ask over a new connection: one that is kept may lead to a worker that is gone."""
        return httpx.get(f"{self.client.base_url}/livez", trust_env=False, timeout=PATIENCE).status_code == 200

    def search(self, pid: int, query: str, source: str = "127.0.0.1") -> tuple[int, dict[str, Any]]:
        with self.to(pid, source) as connection:
            body = json.dumps({"query": query})
            connection.request("POST", "/api/search", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def metric(self, pid: int, name: str) -> float:
        """Return the sum of a metric over its labels."""
        with self.to(pid) as connection:
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if re.match(rf"{name}[ {{]", line))


@contextmanager
def workers(folder: Path, arguments: Sequence[str] = ("--workers", "2"), **environment: str) -> Iterator[Workers]:
    """Serve, with settings and data in a folder of its own; the log goes to a file there."""
    folder.mkdir(exist_ok=True)
    own = {
        "QIUSUO_LANG": "en",
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "QIUSUO_LEGAL_MEANING": "false",
        "TMPDIR": str(folder),
    }
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("QIUSUO_", "SEARCH_", "SEARXNG_"))
    }
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, "-m", "qiusuo", "--verbose", "serve", "--port", "0", *arguments],
            env={**kept, **own, **environment},
            stderr=file,
            text=True,
        )
    try:
        until(lambda: "listens on" in log.read_text("utf-8") or process.poll() is not None)
        found = re.search(r"listens on (http://[\d.:]+)", log.read_text("utf-8"))
        assert found, log.read_text("utf-8")
        with httpx.Client(base_url=found[1], trust_env=False, timeout=PATIENCE) as client:
            yield Workers(process, client, log)
    finally:
        process.kill()
        process.wait()
