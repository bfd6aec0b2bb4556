"""Load real servers, and tell what it costs them.

    python -m chaos.load                    everything; writes docs/scaling-measured.md
    python -m chaos.load idle --scale 0.1   one measurement, with a tenth of it

Exit codes: 0 all was measured (missed goals are told), 1 something could not be, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import signal
import sys
from typing import Final

from rich.console import Console

from bench.table import Report
from chaos.page import keep, machine, renew
from chaos.processes import DidNotStart, NotThere
from chaos.wire import Refused, Unreachable

SECONDS: Final = {
    "streams": 240, "idle": 300, "slow": 180, "bodies": 180, "archive": 1800, "day": 2400, "workers": 400, "join": 600,
    "costs": 300,
}  # fmt: skip


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m chaos.load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SECONDS))
    parser.add_argument("--scale", type=float, default=1.0, help="which part of the full size (1)")
    wanted = parser.parse_args()
    unknown = [name for name in wanted.subjects if name not in SECONDS]
    if unknown or not 0 < wanted.scale <= 1:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(SECONDS)}" if unknown else "0 < scale <= 1")
    try:
        reports, problems = asyncio.run(_measure_all(wanted.subjects or list(SECONDS), wanted.scale))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped; everything that was started is ended", flush=True)
        return 130
    console = Console(width=None if sys.stdout.isatty() else 200)
    for report in reports:
        report.show(console)
    for line in problems:
        print(f"NOT MEASURED: {line}", flush=True)
    sections = [report.markdown().replace("## ", "### ", 1) for report in reports]
    if wanted.subjects and wanted.scale == 1:
        renew("load", sections)
    elif wanted.scale == 1:
        parts = [f"Measured {machine()}. ✗ is a miss.", *sections]
        parts += ["\n".join(f"- Not measured: {line.splitlines()[0]}" for line in problems)] if problems else []
        keep("load", "\n\n".join(parts))
    return int(bool(problems))


async def _measure_all(names: list[str], scale: float) -> tuple[list[Report], list[str]]:
    main_task = asyncio.current_task()
    assert main_task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main_task.cancel)
    reports: list[Report] = []
    problems: list[str] = []
    for name in names:
        try:
            async with asyncio.timeout(SECONDS[name]):
                reports.append(await importlib.import_module(f"chaos.load.{name}").measure(scale))
        except TimeoutError:
            problems.append(f"{name}: not over in time ({SECONDS[name]} s)")
        except (NotThere, DidNotStart, RuntimeError, Refused, Unreachable) as error:
            problems.append(f"{name}: {error}")
        except ExceptionGroup as group:
            problems.append(f"{name}: {group.exceptions[0]}")
    return reports, problems


if __name__ == "__main__":
    sys.exit(main())
