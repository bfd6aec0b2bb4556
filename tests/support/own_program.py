"""``python -m qiusuo``, forked from a process that has loaded the packages already.

Loading them takes seconds of a core, which hundreds of starts would each pay anew. What comes out of the fork is a
process like any other: a child of the test, with its own input and output, environment, signals and exit code; it runs
the command from its beginning and ends as Python ends. All other programs are started as ever, and ours too where the
fork could make a difference: other options of Python, another user, a language that is not written in UTF-8.

``[*FORKED_CODE, text, …]`` runs the text of a program so; ``python -c`` starts from nothing.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

# Takes the terminal as its own, so that Ctrl-C reaches it as a signal, and becomes the program.
LAUNCH_IN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
# Python takes no notice of options of this kind that it does not know.
FORKED_CODE = [sys.executable, "-X", "forked", "-c"]
_QIUSUO = ["-m", "qiusuo"]
# How a command may begin, and what is meant by it.
_BEGINNINGS: Sequence[tuple[list[str], dict[str, bool]]] = (
    ([sys.executable, *_QIUSUO], {}),
    ([sys.executable, "-W", "error::ResourceWarning", *_QIUSUO], {"strict": True}),
    ([sys.executable, "-c", LAUNCH_IN_TERMINAL, sys.executable, *_QIUSUO], {"terminal": True}),
    (FORKED_CODE, {"code": True}),
)
# What decides how Python itself starts.
_STARTING = ("PYTHONPATH", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS", "LC_ALL", "LC_CTYPE")
_PR_SET_CHILD_SUBREAPER = 36  # of Linux
_ROOT = Path(__file__).parents[2]


class LoadedProcess:
    """A process that has loaded what our commands load, and forks when it is asked; started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ours, self._its = socket.socketpair()
        self._one_at_a_time = Lock()

    def fork(self, order: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Return the process that runs the command, as a child of this one."""
        with self._one_at_a_time:
            if self._process is None:
                self._start()
            _adopt(True)  # what the loaded process lets go of becomes ours
            try:
                words = json.dumps(order).encode()
                socket.send_fds(self._ours, [len(words).to_bytes(8, "big")], list(streams))
                self._ours.sendall(words)
                answer = self._ours.recv(8)
            finally:
                _adopt(False)
        if not answer:
            raise RuntimeError("the loaded process has ended")
        return int.from_bytes(answer, "big")

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self._process = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, "-m", "tests.support.loaded_process", str(self._its.fileno())],
            cwd=_ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            pass_fds=[self._its.fileno()],
        )
        self._its.close()

    def close(self) -> None:
        self._ours.close()  # which ends it
        self._its.close()
        if self._process is not None:
            self._process.wait(10)


@pytest.fixture(scope="session", autouse=True)
def _own_programs_are_forked() -> Iterator[None]:
    """Let ``Popen`` fork our own command; all else about it stays as it is."""
    kind: Any = subprocess.Popen
    start = kind._execute_child
    if not sys.platform.startswith("linux"):
        yield
        return
    loaded, shape = LoadedProcess(), inspect.signature(start)

    def start_or_fork(self: Any, *arguments: Any) -> None:
        wishes = shape.bind(self, *arguments).arguments
        order = _order(wishes)
        if order is None:
            start(self, *arguments)
            return
        ends = (wishes["p2cread"], wishes["c2pwrite"], wishes["errwrite"])
        try:
            self.pid = loaded.fork(order, [own if end == -1 else end for own, end in enumerate(ends)])
            self._child_created = True
        finally:
            self._close_pipe_fds(
                *(wishes[end] for end in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"))
            )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "_execute_child", start_or_fork)
        yield
    loaded.close()


def _order(wishes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how a command is to be run; None where it must be started from nothing."""
    words = wishes["args"]
    if isinstance(words, (str, bytes)) or wishes["shell"] or wishes["preexec_fn"] or wishes["pass_fds"]:
        return None
    words = list(words)
    found = [(len(start), meant) for start, meant in _BEGINNINGS if words[: len(start)] == start]
    other_user = any(wishes[name] is not None for name in ("uid", "gid", "gids")) or wishes["umask"] != -1
    if not found or other_user or wishes["process_group"] not in {None, -1}:
        return None
    environment = dict(os.environ if wishes["env"] is None else wishes["env"])
    language = environment.get("LANG", "C.UTF-8")
    if any(environment.get(name, "") != os.environ.get(name, "") for name in _STARTING) or "UTF-8" not in language:
        return None
    [(cut, meant)] = found
    return {
        "arguments": [os.fsdecode(word) for word in words[cut:]],
        "environment": environment,
        "folder": os.fspath(wishes["cwd"] or Path.cwd()),
        "session": bool(wishes["start_new_session"]),
        "terminal": False,
        "strict": False,
        "code": False,
        **meant,
    }


def _adopt(wanted: bool) -> None:
    """Make processes whose parent ends children of this one, as otherwise the first process of the system does."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
