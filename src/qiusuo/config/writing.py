"""Writing of the configuration file: whole or not at all, by one writer at a time, and for nobody else's eyes."""

from __future__ import annotations

import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from qiusuo.config.editing import Changes, edited
from qiusuo.config.files import (
    KINDS_OF_FILES,
    MAX_FILE_BYTES,
    config_folder,
    find_config_file,
    parsed,
    read_config_file,
)
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PATIENCE: Final = 5.0
"""Seconds for which a writer waits for another one."""
FILE_NAME: Final = "config.toml"
_LOOK_AGAIN: Final = 0.02
_SALT_BYTES: Final = 32
_LOCKED_BYTE: Final = 4096
_OURS_ALONE: Final = 0o600
_GROUP: Final = 0o070
_EMPTY: Final[Mapping[str, str]] = {".json": "{}\n"}

Plan = Callable[[Mapping[str, Any]], Changes]
"""Gets what stands in the file at this moment and says what is to be changed; may refuse by raising."""
Check = Callable[[Mapping[str, Any]], None]
"""Gets what would stand in the file, parsed anew from its text; refuses by raising."""


class Mark(NamedTuple):
    """By what a changed file is told from the one that was read, without reading it."""

    path: Path | None
    inode: int = 0
    changed: int = 0
    size: int = 0


class ConfigFile:
    """A configuration file that is read and changed, by several processes too. A link is followed, not replaced."""

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self.path = path
        self._target = Path(os.path.realpath(path))
        self._patience = patience
        self._own_salt = secrets.token_bytes(_SALT_BYTES)

    @classmethod
    def of_user(cls, named: Path | str | None = None) -> ConfigFile:
        """Return the file that is named or found, else the one that will be made in the configuration folder."""
        path = Path(named).expanduser() if named else find_config_file()
        return cls(path or config_folder() / FILE_NAME)

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return self._target.is_file()

    @property
    def writable(self) -> bool:
        """Whether a new file can be put in its place."""
        folder = self._target.parent
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)

    @property
    def mark(self) -> Mark:
        """What changes with every change of the file."""
        try:
            state = self._target.stat()
        except OSError:
            return Mark(self.path)
        return Mark(self.path, state.st_ino, state.st_mtime_ns, state.st_size)

    def read(self) -> dict[str, Any]:
        """Return what the file holds; nothing where there is none.

        Raises:
            ConfigurationError: it cannot be read or parsed.
        """
        return read_config_file(self._target) if self.exists else {}

    @property
    def salt(self) -> bytes:
        """A secret of this file that all its writers know: marks of values made with it tell nobody the values."""
        if not self.exists:
            return self._own_salt
        with suppress(OSError, ConfigurationError):
            if not self._lock_file.is_file():
                with self._locked():
                    pass
            return self._lock_file.read_bytes()
        return self._own_salt  # nothing can be written there anyway

    def change(self, plan: Plan, check: Check) -> dict[str, Any]:
        """Change the file as it stands, in one step, and return what it holds then.

        Raises:
            ConfigurationError: it is broken, cannot be edited or cannot be written; it is then as it was.
        """
        with self._locked():
            text = self._text()
            changes = plan(parsed(self._target, text))
            new = edited(self._target, text, changes)
            values = parsed(self._target, new)
            check(values)
            if new != text:
                self._replace(new)
            return values

    @property
    def _lock_file(self) -> Path:
        return self._target.with_name(f".{self._target.name}.lock")

    def _text(self) -> str:
        if self._target.suffix.lower() not in KINDS_OF_FILES:
            raise ConfigurationError(Fact("settings.file_kind", file=str(self.path)))
        if not self.exists:
            return _EMPTY.get(self._target.suffix.lower(), "")
        self.read()  # says what is wrong with it
        with self._told():
            return self._target.read_bytes().decode()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._told():
            self._target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _OURS_ALONE)
        try:
            deadline = time.monotonic() + self._patience
            while not _try_lock(lock):
                if time.monotonic() > deadline:
                    raise ConfigurationError(Fact("settings.file_busy", file=str(self.path)))
                time.sleep(_LOOK_AGAIN)
            if os.fstat(lock).st_size != _SALT_BYTES:
                os.ftruncate(lock, 0)
                os.lseek(lock, 0, os.SEEK_SET)
                os.write(lock, secrets.token_bytes(_SALT_BYTES))
            yield
        finally:
            os.close(lock)

    def _replace(self, text: str) -> None:
        data = text.encode()
        if len(data) > MAX_FILE_BYTES:
            raise ConfigurationError(Fact("settings.file_too_large", file=str(self.path)))
        with self._told():
            # Of a writer that was killed: nobody else writes now, and keys stand in it.
            for left in self._target.parent.glob(f".{self._target.name}.*.new"):
                left.unlink(missing_ok=True)
            new = self._target.with_name(f".{self._target.name}.{secrets.token_hex(8)}.new")
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _OURS_ALONE)
            try:
                with os.fdopen(file, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    self._keep_mode(stream.fileno())
                    os.fsync(stream.fileno())
                new.replace(self._target)
            except BaseException:
                new.unlink(missing_ok=True)
                raise
            _sync_folder(self._target.parent)

    def _keep_mode(self, file: int) -> None:
        """Give a new file the owner and the mode of the old one; the mode's part for a group only with that group."""
        if sys.platform == "win32":
            return
        try:
            old = self._target.stat()
        except FileNotFoundError:
            return
        mode = stat.S_IMODE(old.st_mode)
        with suppress(PermissionError):
            os.fchown(file, old.st_uid, old.st_gid)
        if os.fstat(file).st_gid != old.st_gid:
            mode &= ~_GROUP
        os.fchmod(file, mode)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            words = error.strerror or type(error).__name__
            raise ConfigurationError(Fact("settings.file_unwritable", file=str(self.path), words=words)) from None


def _try_lock(file: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)  # behind what is read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """See to it that the new name outlives a power failure; not every system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
