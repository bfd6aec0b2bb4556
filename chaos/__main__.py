"""Strike real servers with faults while answers stream, and tell what it has cost.

    python -m chaos                         every fault, with 200 answers each; writes docs/scaling-measured.md
    python -m chaos postgres --streams 20   one of them, with fewer

Exit codes: 0 nothing was lost or doubled (missed goals of time are told), 1 something was, or a fault could not be run,
2 wrong usage.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections import Counter
from typing import Final

from rich.console import Console
from rich.table import Table

from chaos.faults import FAULTS
from chaos.page import keep, machine
from chaos.processes import DidNotStart, NotThere
from chaos.run import Size, Told, run

TOLD_GOAL: Final = 15.0
NORMAL_GOAL: Final = 30.0
FULL: Final = 200
FAULT_SECONDS: Final = 420.0
HEADS: Final = (
    "fault", "answers", "whole", "broken off", "lost", "doubled", "told within", "fate known within",
    "text lost", "fresh questions meanwhile", "normal after", "5xx",
)  # fmt: skip


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(FAULTS))
    parser.add_argument("--streams", type=int, default=FULL, help=f"answers that stream meanwhile ({FULL})")
    parser.add_argument("--workers", type=int, default=2, help="processes of each server (2)")
    wanted = parser.parse_args()
    unknown = [name for name in wanted.faults if name not in FAULTS]
    if unknown or wanted.streams < 1 or wanted.workers < 1:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(FAULTS)}" if unknown else "at least 1")
    size = Size(streams=wanted.streams, workers=wanted.workers)
    try:
        results = asyncio.run(_run_all(wanted.faults or list(FAULTS), size))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped; everything that was started is ended", flush=True)
        return 130
    _show(results)
    if not wanted.faults and wanted.streams == FULL:
        keep("faults", _markdown(results))
    return int(any(_failed(told) for told in results))


async def _run_all(names: list[str], size: Size) -> list[Told]:
    main_task = asyncio.current_task()
    assert main_task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main_task.cancel)
    results = []
    for name in names:
        told = Told(FAULTS[name], size.streams)
        try:
            async with asyncio.timeout(FAULT_SECONDS):
                told = await run(FAULTS[name], size)
        except TimeoutError:
            told.problem = f"not over after {FAULT_SECONDS:.0f} s"
        except (NotThere, DidNotStart, RuntimeError) as error:
            told.problem = str(error)
        results.append(told)
        for line in _trouble(told):
            print(f"    {line}", flush=True)
    return results


def _failed(told: Told) -> bool:
    verdict = told.verdict
    return bool(told.problem or verdict.lost or verdict.doubled or verdict.unheard or told.normal_after is None)


def _trouble(told: Told) -> list[str]:
    verdict = told.verdict
    found = [f"NOT RUN: {told.problem}"] if told.problem else []
    found += [f"LOST {line}" for line in verdict.lost[:10]]
    found += [f"DOUBLED {line}" for line in verdict.doubled[:10]]
    found += [f"NEVER TOLD {line}" for line in verdict.unheard[:10]]
    for kind, lines in (("unanswered", told.unanswered), ("5xx", told.server_errors)):
        found += [f"{kind} {count} x {line}" for line, count in Counter(lines).most_common(5)]
    return found


def _row(told: Told) -> list[str]:
    verdict = told.verdict
    if told.problem:
        return [told.fault.about, f"not run: {told.problem.splitlines()[0]}", *[""] * (len(HEADS) - 2)]
    normal = "never ✗" if told.normal_after is None else _against(told.normal_after, NORMAL_GOAL)
    heard = f" ({len(verdict.unheard)} never ✗)" if verdict.unheard else ""
    return [
        told.fault.about,
        str(verdict.asked),
        str(verdict.whole),
        str(verdict.broken_off) + (f", {verdict.unsent} not taken" if verdict.unsent else ""),
        _none(len(verdict.lost)),
        _none(len(verdict.doubled)),
        _against(verdict.silence, TOLD_GOAL) + heard,
        f"{verdict.doubt:.1f} s",
        f"{verdict.text_lost:.1f} s" + (f" ({verdict.unsaved} ends, told as not saved)" if verdict.unsaved else ""),
        f"{told.answered_meanwhile} of {told.asked_meanwhile}",
        normal,
        str(len(told.server_errors)),
    ]


def _none(count: int) -> str:
    return "0 ✓" if not count else f"{count} ✗"


def _against(seconds: float, goal: float) -> str:
    return f"{seconds:.1f} s {'✓' if seconds <= goal else '✗'}"


def _show(results: list[Told]) -> None:
    table = Table(show_edge=False, pad_edge=False)
    for head in HEADS:
        table.add_column(head, overflow="fold")
    for told in results:
        table.add_row(*_row(told))
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    print(_goals(), flush=True)


def _goals() -> str:
    return f"Goals: lost 0, doubled 0, told within {TOLD_GOAL:.0f} s, normal after {NORMAL_GOAL:.0f} s."


def _markdown(results: list[Told]) -> str:
    lines = [
        f"Measured {machine()}. {_goals()} ✗ is a miss.",
        "",
        "| " + " | ".join(HEADS) + " |",
        "|" + "---|" * len(HEADS),
    ]
    lines += ["| " + " | ".join(_row(told)) + " |" for told in results]
    found = [
        f"- {told.fault.name}: {line.splitlines()[0]}"
        for told in results
        for line in _trouble(told)
        if not line.startswith(("5xx", "unanswered"))
    ]
    return "\n".join([*lines, "", *found])


if __name__ == "__main__":
    sys.exit(main())
