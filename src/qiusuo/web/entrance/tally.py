"""How many connections each worker of a server has, in a file that they share."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Final

_FILE: Final = "connections"
_PLACES: Final = 256
_BYTES: Final = 4
_SPARE: Final = 4
"""So many more than the others have on average are no reason to wait for them."""


class Tally:
    """A place in the file for each worker, by the number of its process: one more than it has, nothing where none is.

    Two workers in one place would only be balanced less well.
    """

    def __init__(self, folder: Path) -> None:
        file = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(file, _PLACES * _BYTES)
            self._places = memoryview(mmap.mmap(file, _PLACES * _BYTES)).cast("I")
        finally:
            os.close(file)

    def note(self, process: int, connections: int) -> None:
        """Note how many a worker has."""
        self._places[process % _PLACES] = connections + 1

    def forget(self, process: int) -> None:
        """Let a worker that has ended, or takes no more, count no longer."""
        self._places[process % _PLACES] = 0

    def is_ahead(self, connections: int) -> bool:
        """Tell whether somebody with so many has clearly more than the others."""
        noted = [place for place in self._places if place]
        return connections > (sum(noted) - len(noted)) / max(len(noted), 1) + _SPARE
