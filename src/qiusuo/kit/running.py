"""The SearXNG that runs without Docker: a note of who runs it and with which settings, so that it can be restarted.

The note is locked as long as its process lives. Where files cannot be locked (Windows), no note is taken as true.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

if sys.platform != "win32":
    import fcntl

_PATTERN: Final = "running-*.json"
_STOP_SECONDS: Final = 15.0
_LOOK_EVERY: Final = 0.05


@dataclass(frozen=True, slots=True)
class Running:
    """A SearXNG that somebody runs: the process of ``qiusuo searxng up``, its port and the settings it has read."""

    note: Path
    pid: int
    port: int
    settings: Path
    stamp: str

    @property
    def is_current(self) -> bool:
        """Whether the settings are as they were when it started."""
        return _stamp(self.settings) == self.stamp

    def stop(self) -> bool:
        """End it, and tell whether it has ended."""
        os.kill(self.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline:
            if not _is_held(self.note):
                return True
            time.sleep(_LOOK_EVERY)
        return False


def running_with(settings: Path, folder: Path) -> Running | None:
    """Return the SearXNG that runs with these settings, by the notes in ``folder``."""
    for note in sorted(folder.glob(_PATTERN)):
        found = _read(note)
        if found is not None and found.settings == settings.resolve() and _is_held(note):
            return found
    return None


@contextmanager
def noted(settings: Path, port: int, folder: Path) -> Iterator[None]:
    """Keep a note that this process runs a SearXNG."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"running-{port}.json"
    facts = {"pid": os.getpid(), "port": port, "settings": str(settings.resolve()), "stamp": _stamp(settings)}
    with path.open("a+", encoding="utf-8") as note:
        _lock(note)
        note.truncate(0)
        note.write(json.dumps(facts))
        note.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _read(note: Path) -> Running | None:
    try:
        facts = json.loads(note.read_text("utf-8"))
        return Running(note, int(facts["pid"]), int(facts["port"]), Path(facts["settings"]), str(facts["stamp"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _stamp(settings: Path) -> str:
    try:
        return hashlib.sha256(settings.read_bytes()).hexdigest()
    except OSError:
        return ""


def _lock(note: IO[str]) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_held(note: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        with note.open("r", encoding="utf-8") as file:
            return not _lock(file)
    except OSError:
        return False
