"""Parsing in a process of its own: takes chunks of records, gives what they say, until its input ends."""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress

from qiusuo.legal.building.importers import LAYOUTS
from qiusuo.legal.building.prepared import prepare


def main() -> None:
    """Parse records of the layout that the arguments name."""
    layout = next(layout for layout in LAYOUTS if layout.name == sys.argv[1])
    if hasattr(os, "nice"):
        os.nice(1)  # who writes goes first, or all of them wait
    with suppress(EOFError, BrokenPipeError):
        while True:
            chunk = pickle.load(sys.stdin.buffer)  # noqa: S301 - from who started us
            pickle.dump([prepare(layout.parse, raw) for raw in chunk], sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
            sys.stdout.buffer.flush()
