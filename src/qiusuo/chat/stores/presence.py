"""Which processes of this machine are alive: each locks a file of its own for as long as it runs.

The system lets go of the lock when a process ends, however it ends. So whoever can take the lock of a file knows that
its process is gone. Pids and host names prove nothing, since containers share them.
"""

from __future__ import annotations

import logging
import os
import platform
import secrets
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

logger = logging.getLogger(__name__)

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NEW: Final = "."
_DAY: Final = 86_400.0


class Presence:
    """This process among those that use one database.

    Without a folder, or where files cannot be locked, it is unseen: others learn of its end by the time that passes.
    """

    def __init__(self, folder: Path | None) -> None:
        self.id = secrets.token_urlsafe(12).replace("-", "_")
        self._folder = folder
        self._file: int | None = None

    def enter(self) -> list[str]:
        """Be seen from now on; return the ids of processes that are gone for sure."""
        if self._folder is None:
            return []
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._file is None:
                self._file = self._lock_own(self._folder / f"{_NEW}{self.id}", self._folder / self.id)
            return self._gone(self._folder) if self._file is not None else []
        except OSError as error:
            logger.info("no file tells that this process runs: %s", error.strerror)
            return []

    def is_gone(self, process: str) -> bool:
        """Tell whether a process is gone for sure: it was one of this machine, and its lock is free."""
        if self._folder is None or self._file is None:
            return False
        path = self._folder / process
        try:
            return _is_free(path) and path.read_text() == _boot()
        except OSError:
            return False

    def forget(self, processes: Iterable[str]) -> None:
        """Remove the files of processes that are gone."""
        for process in processes:
            if self._folder is not None:
                with suppress(OSError):
                    (self._folder / process).unlink()

    def leave(self) -> None:
        """Be seen no more."""
        if self._file is not None:
            self.forget([self.id])
            os.close(self._file)
            self._file = None

    def _lock_own(self, new: Path, path: Path) -> int | None:
        file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, _boot().encode())
            # Some file systems grant every lock; nobody could tell the living from the dead there.
            if _try_lock(file) and not _is_free(new):
                new.rename(path)  # locked before it has a name that others look at
                return file
        except OSError:
            pass
        os.close(file)
        new.unlink(missing_ok=True)
        return None

    def _gone(self, folder: Path) -> list[str]:
        gone = []
        for path in folder.iterdir():
            with suppress(OSError):
                if path.name == self.id or not _is_free(path):
                    continue
                # A lock on a network share proves nothing about processes of another machine.
                if not path.name.startswith(_NEW) and path.read_text() == _boot():
                    gone.append(path.name)
                elif time.time() - path.stat().st_mtime > _DAY:
                    path.unlink()
        return gone


def living(folder: Path) -> list[str]:
    """Return the ids of processes that use a database just now, as far as this machine can tell."""
    found = []
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            with suppress(OSError):
                if not path.name.startswith(_NEW) and not _is_free(path):
                    found.append(path.name)
    return found


def _boot() -> str:
    """Return what is the same for all processes on one kernel, and never again after its restart."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return platform.node()


def _is_free(path: Path) -> bool:
    file = os.open(path, os.O_RDWR)
    try:
        return _try_lock(file)
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
