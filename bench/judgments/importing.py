"""``qiusuo legal import`` as a process: its time, and the memory of it and of all that it starts."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.25


@dataclass(slots=True)
class Run:
    """What one import took. ``resident`` counts mapped files too, ``own`` only what is nobody else's (megabytes)."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    resident: int = 0
    own: int = 0
    ended: int | None = None


def run_import(index: Path, sources: list[Path], kill_after: float | None = None) -> Run:
    """Import, and kill it (-9) after so many seconds if asked to."""
    command = [sys.executable, "-m", "qiusuo", "legal", "import", *map(str, sources)]
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run()
    with subprocess.Popen(command, env={**os.environ, "QIUSUO_LEGAL_DIR": str(index)}) as process:
        while process.poll() is None:
            resident, own = _memory(process.pid)
            run.resident, run.own = max(run.resident, resident), max(run.own, own)
            if kill_after is not None and time.monotonic() - begun > kill_after:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(LOOK_SECONDS)
        run.ended = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run.seconds = time.monotonic() - begun
    run.cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return run


def _memory(leader: int) -> tuple[int, int]:
    """Return the megabytes of a process and its children: resident, and of these what is no mapped file."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except OSError:
            continue
    family, resident, own = [leader], 0, 0
    for process in family:
        family += parents.get(process, [])
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            continue
        known = {line.partition(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssAnon"))}
        resident += int(known.get("VmRSS", 0))
        own += int(known.get("RssAnon", 0))
    return resident >> 10, own >> 10
