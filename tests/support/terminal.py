"""A program in a real terminal: a pseudo-terminal that can be typed into and whose screen text can be waited for."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Self

from tests.support.own_program import LAUNCH_IN_TERMINAL

WAIT_SECONDS = 60
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>78]|[\r\x07\b]"
)


class PseudoTerminal:
    """Runs a program in a terminal of 100 columns and 30 lines."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", LAUNCH_IN_TERMINAL, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"TERM": "xterm-256color", **env},
            start_new_session=True,
        )
        os.close(slave)
        self._bytes = b""
        self._seen = 0
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def raw(self) -> str:
        """All that was written, with its escape sequences."""
        with self._news:
            return self._bytes.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """All that was written, without escape sequences; what was drawn over is there too."""
        return _ESCAPES.sub("", self.raw)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def enter(self, text: str) -> None:
        """Write a line and send it."""
        self.type(text + "\r")

    def wait_for(self, *expected: str) -> str:
        """Wait until texts appear, in their order, behind what was waited for last; return what came until then."""
        start = self._seen
        for each in expected:
            with self._news:
                self._news.wait_for(partial(self._has, each), WAIT_SECONDS)
            at = self._find(each)
            assert at >= 0, f"{each!r} never came; the screen had: {self.text[start:]}"
            self._seen = at + len(each)
        return self.text[start : self._seen]

    def _has(self, text: str) -> bool:
        return self._ended or self._find(text) >= 0

    def _find(self, text: str) -> int:
        return _ESCAPES.sub("", self._bytes.decode("utf-8", "replace")).find(text, self._seen)

    def wait(self) -> int:
        """Wait for the program to end; return its exit code."""
        code = self.process.wait(WAIT_SECONDS)
        self._thread.join(WAIT_SECONDS)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT_SECONDS)
        self._thread.join(WAIT_SECONDS)
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._master, 65536)
            except OSError:  # Linux says EIO when the last program has left the terminal
                piece = b""
            for _ in range(piece.count(b"\x1b[6n")):  # where is the cursor? Terminals answer that
                os.write(self._master, b"\x1b[1;1R")
            with self._news:
                self._bytes += piece
                self._ended = not piece
                self._news.notify_all()
            if not piece:
                return
