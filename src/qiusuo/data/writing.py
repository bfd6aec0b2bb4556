"""Files that are there whole or not at all, and for their owner alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.words import Fact


@contextmanager
def written(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a file to write to; at the end it gets its name in one step.

    Raises:
        InvalidQuery: there is such a file, and it is not to be replaced.
        ConfigurationError: it cannot be written.
    """
    target = target.expanduser()
    if target.exists() and not force:
        raise InvalidQuery(Fact("data.there_already"), place=str(target))
    try:
        # Its own folder, which nobody else can look into, on the disk of the target: so it can be moved in one step.
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            file = Path(folder) / "file"
            os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
            yield file
            _put(file, target, force=force)
    except OSError as error:
        raise ConfigurationError(Fact("data.cannot_write", why=error.strerror or ""), place=str(target)) from None


def sync_folder(folder: Path) -> None:
    """Let a name that was just given outlast a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _put(file: Path, target: Path, *, force: bool) -> None:
    if force:
        file.replace(target)
    else:
        try:
            os.link(file, target)  # in one step, and never over a file that came meanwhile
        except FileExistsError:
            raise InvalidQuery(Fact("data.there_already"), place=str(target)) from None
        except OSError:  # a file system without links
            file.rename(target)
    sync_folder(target.parent)
