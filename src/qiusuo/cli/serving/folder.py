"""The folder of a server with several workers: nobody else can open it, and nothing is left of it."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

if sys.platform != "win32":  # where one process alone serves
    import fcntl

PREFIX: Final = "qiusuo-workers-"
_LOCK: Final = "lock"
_LONGEST: Final = 60
"""Characters: the path of a Unix socket has little more than a hundred."""


class OwnFolder:
    """A new folder. Those of servers that were killed with all their workers are taken away by the next server."""

    def __init__(self) -> None:
        usual = gettempdir()
        parent = Path(usual if len(usual) <= _LONGEST else "/tmp")  # noqa: S108 - a new folder in it
        for other in parent.glob(f"{PREFIX}*"):
            _remove_if_left(other)
        self.path = Path(mkdtemp(prefix=PREFIX, dir=parent))
        # The system lets go of it when this process ends, however it ends.
        self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        _try_lock(self._lock)

    def remove(self) -> None:
        """Take it away."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError):  # somebody else's, or one that is just being made
        lock = os.open(folder / _LOCK, os.O_RDWR)
        try:
            if _try_lock(lock):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
