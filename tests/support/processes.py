"""What runs on this machine, as Linux tells it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc, which only Linux has")


def family(leader: int) -> set[int]:
    """Return the processes of a group. The browser leads one, and all that it starts belong to it."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def wait_until_gone(leader: int, seconds: float = 10) -> set[int]:
    """Wait for a group to end; return what is left of it."""
    end = time.monotonic() + seconds
    while (left := family(leader)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def is_renderer(process: int) -> bool:
    """Tell whether a process of the browser draws pages."""
    return b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes()


def parent_of(process: int) -> int:
    """Return who has started a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
