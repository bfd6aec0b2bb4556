"""What it costs to import the package and to start the command."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from bench.table import Report

ROUNDS = 9
CONTESTANTS = {
    "pass": ["-c", "pass"],
    "aiohttp": ["-c", "import aiohttp"],
    "qiusuo": ["-c", "import qiusuo"],
    "service": ["-c", "from qiusuo import SearchService"],
    "help": ["-m", "qiusuo", "--help"],
}


def measure() -> Report:
    """Start each program in turns and report the medians."""
    taken: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    for round_ in range(ROUNDS + 1):
        for name, arguments in CONTESTANTS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            if round_:  # the first one fills the file caches
                taken[name].append(time.perf_counter() - started)
    median = {name: statistics.median(values) for name, values in taken.items()}
    report = Report("Start-up", "Whole processes, the interpreter's own start included.")
    report.add("python -c pass", _ms(median["pass"]))
    report.add("import aiohttp (the bare HTTP client)", _ms(median["aiohttp"]))
    ratio = median["qiusuo"] / median["aiohttp"]
    report.add(
        "import qiusuo", _ms(median["qiusuo"]), f"{ratio:.2f}x importing aiohttp", "at most 1.5x", met=ratio <= 1.5
    )
    ratio = median["service"] / median["aiohttp"]
    report.add("from qiusuo import SearchService", _ms(median["service"]), f"{ratio:.2f}x importing aiohttp")
    report.add("qiusuo --help", _ms(median["help"]), f"{median['help'] / median['pass']:.1f}x python -c pass")
    return report


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
