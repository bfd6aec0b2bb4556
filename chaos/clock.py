"""A clock that can be stepped under a running process: a small library that is loaded before the C library.

libfaketime does the same and more, but Python's own ``time.sleep`` fails under that of Debian 12 (0.9.10) when
``CLOCK_MONOTONIC`` is left alone, as it is where a real clock is stepped.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Final

from chaos.processes import DidNotStart, program

VARIABLE: Final = "CHAOS_CLOCK"
_SOURCE: Final = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static int (*real)(clockid_t, struct timespec *);
static volatile long long *step;

__attribute__((constructor)) static void begin(void) {
    real = dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("CHAOS_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) return;
    void *found = mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) step = found;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    if (!real) begin();
    int code = real(id, now);
    if (!code && step && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *step;
    return code;
}

time_t time(time_t *where) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    int code = clock_gettime(CLOCK_REALTIME, &exact);
    (void)zone;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return code;
}
"""


def compiler() -> str:
    """Return the C compiler.

    Raises:
        NotThere: there is none.
    """
    return program("cc", "gcc")


def stepped_clock(folder: Path, file: Path) -> dict[str, str]:
    """Return the environment of a process whose clock goes by the step in ``file`` (see :func:`set_step`)."""
    library = folder / "clock.so"
    if not library.exists():
        source = folder / "clock.c"
        source.write_text(_SOURCE)
        command = [compiler(), "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise DidNotStart(f"the clock could not be compiled: {done.stderr}")
    return {"LD_PRELOAD": str(library), VARIABLE: str(file)}


def set_step(file: Path, seconds: int) -> None:
    """Step the clock of the processes that go by this file; at once, and for the file's first time too."""
    with file.open("r+b" if file.exists() else "wb", buffering=0) as opened:
        opened.write(struct.pack("=q", seconds))
