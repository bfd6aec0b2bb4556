"""The index folder: immutable generations, one of which is current; a staging area for the one writer.

::

    current               names the generation in use; replaced in one step
    generations/<n>/      store.db, articles/, cases/: never changed once named; vectors may come later
    staging/              what an import is building; survives a kill and is continued
    incoming/             what is being taken from elsewhere; likewise
    writer.lock           held by the one writer
    vectors.lock          held by who makes vectors
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from qiusuo.errors import ConfigurationError
from qiusuo.folders import data_folder
from qiusuo.words import Fact

STORE = "store.db"


def legal_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the legal index: ``QIUSUO_LEGAL_DIR``, else the user's data folder."""
    named = environ.get("QIUSUO_LEGAL_DIR")
    if named and named.strip():
        return Path(named.strip()).expanduser()
    return data_folder(environ) / "legal"


@dataclass(frozen=True, slots=True)
class IndexFolder:
    """Paths of one index."""

    root: Path

    @property
    def staging(self) -> Path:
        return self.root / "staging"

    @property
    def downloads(self) -> Path:
        return self.root / "downloads"

    def current(self) -> Path | None:
        """Return the generation in use, None where nothing has been built."""
        try:
            name = (self.root / "current").read_text("utf-8").strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigurationError(Fact("legal.closed_folder", path=self.root, words=error.strerror)) from None
        path = self.root / "generations" / Path(name).name
        return path if (path / STORE).is_file() else None

    @property
    def incoming(self) -> Path:
        return self.root / "incoming"

    def publish(self, source: Path | None = None) -> Path:
        """Make what stands in staging, or in another folder of ours, the current generation, and remove old ones."""
        source = source or self.staging
        generations = self.root / "generations"
        generations.mkdir(exist_ok=True)
        numbers = [int(path.name) for path in generations.iterdir() if path.name.isdecimal()]
        target = generations / f"{max(numbers, default=0) + 1:06d}"
        _sync_tree(source)
        source.rename(target)
        _sync(generations)
        pending = self.root / "current.new"
        pending.write_text(target.name + "\n", "utf-8")
        _sync(pending)
        pending.replace(self.root / "current")
        _sync(self.root)
        self.discard_old()
        return target

    def generations(self) -> list[Path]:
        """Return the generations that are there, oldest first."""
        folder = self.root / "generations"
        return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def discard_old(self) -> None:
        """Remove generations before the last two: a reader may be opening the one that was current just now."""
        current = self.current()
        for path in self.generations()[:-2]:
            if path != current:
                shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer.

        Raises:
            ConfigurationError: another process is writing, or the folder cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = (self.root / "writer.lock").open("a")
        except OSError as error:
            raise ConfigurationError(Fact("legal.unwritable_folder", path=self.root, words=error.strerror)) from None
        with handle:
            if not _lock(handle.fileno()):
                raise ConfigurationError(Fact("legal.being_written", path=self.root))
            yield

    @contextlib.contextmanager
    def encoding(self) -> Iterator[bool]:
        """Try to be the one who makes vectors; yields whether that is so."""
        with (self.root / "vectors.lock").open("a") as handle:
            yield _lock(handle.fileno())


def _lock(descriptor: int) -> bool:
    """Take the lock; it goes with the process, however that ends."""
    try:
        if os.name == "nt":
            import msvcrt  # noqa: PLC0415 - Windows only

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl  # noqa: PLC0415 - not on Windows

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync(path: Path) -> None:
    """Bring a file or folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def index_folder(named: str | None = None, environ: Mapping[str, str] = os.environ) -> IndexFolder:
    """Return the index folder that the settings name (``legal_dir``), else the one of :func:`legal_folder`."""
    return IndexFolder(Path(named).expanduser() if named else legal_folder(environ))


def _sync_tree(root: Path) -> None:
    for folder, _, files in os.walk(root):
        for name in files:
            _sync(Path(folder) / name)
        _sync(Path(folder))
