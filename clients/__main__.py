"""Run every client against one server and print how it went; names choose some (``python -m clients mcp llm``)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from clients.catalogue import CLIENTS, Client
from clients.environments import PLACE, NotInstalled, node_environment, python_environment
from clients.world import World, running

PROGRAMS = Path(__file__).parent / "programs"
NODE = "npm:"


@dataclass(frozen=True)
class Outcome:
    """One row of the table."""

    client: Client
    version: str
    result: str
    seconds: float
    counts_as_failed: bool = False


def main(wanted: list[str]) -> int:
    """Run the clients that are named, or all; 1 where one fails by our fault."""
    chosen = [client for client in CLIENTS if not wanted or client.name in wanted]
    if not chosen:
        print(f"There is no such client. Known: {', '.join(client.name for client in CLIENTS)}")
        return 2
    console = Console()
    outcomes = []
    PLACE.mkdir(parents=True, exist_ok=True)
    with running(PLACE / "server.log") as world:
        for client in chosen:
            outcome = attempt(client, world)
            console.print(f"{client.name} {outcome.version}: {outcome.result} ({outcome.seconds:.1f} s)", markup=False)
            outcomes.append(outcome)
    show(console, outcomes)
    return int(any(outcome.counts_as_failed for outcome in outcomes))


def attempt(client: Client, world: World) -> Outcome:
    """Install a client where it is not yet, and run its program."""
    folder = client.name.replace("/", "-").replace(":", "-").replace("@", "")
    began = time.monotonic()
    try:
        if client.name.startswith(NODE):
            environment = node_environment(folder, client.packages)
            command = ["node", str(_beside(environment.folder, client.program))]
        elif client.packages:
            environment = python_environment(folder, client.packages)
            python = sys.executable if client.in_our_environment else str(environment.programs / "python")
            command = [python, str(PROGRAMS / client.program), str(environment.folder)]
        else:
            environment = None
            command = [sys.executable, str(PROGRAMS / client.program)]
    except NotInstalled as error:
        return Outcome(client, "", f"not installed: {error}", time.monotonic() - began, counts_as_failed=True)
    version = environment.version if environment else _own_version(client.name)
    began = time.monotonic()
    said, ok = _run(command, client, world)
    seconds = time.monotonic() - began
    (PLACE / f"{folder}.log").write_text(said, "utf-8")
    if ok:
        return Outcome(client, version, "ok", seconds)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = client.client_fault or (lines[-1] if lines else "no word")[:200]
    word = "client's own fault" if client.client_fault else "FAILED"
    return Outcome(client, version, f"{word}: {reason}", seconds, counts_as_failed=not client.client_fault)


def show(console: Console, outcomes: list[Outcome]) -> None:
    """Print the table."""
    table = Table(show_edge=False, pad_edge=False)
    for name in ("client", "version", "tried", "result", "s"):
        table.add_column(name, overflow="fold")
    for outcome in outcomes:
        client = outcome.client
        table.add_row(client.name, outcome.version, client.tried, outcome.result, f"{outcome.seconds:.1f}")
    console.print(table)
    failed = sum(outcome.result != "ok" for outcome in outcomes)
    console.print(f"{len(outcomes) - failed} passed, {failed} failed")


def _run(command: list[str], client: Client, world: World) -> tuple[str, bool]:
    environment = {**os.environ, **world.environment, "QIUSUO_COMMAND": f"{sys.executable} -m qiusuo"}
    environment.pop("OPENAI_API_KEY", None)
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=PLACE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=client.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        text = said.decode(errors="replace") if isinstance(said, bytes) else said
        return f"{text}\nno end within {client.seconds:.0f} s", False
    return done.stdout, done.returncode == 0


def _beside(folder: Path, program: str) -> Path:
    """Copy a program of Node's to its packages: it looks for them from where it stands."""
    for name in ("common.mjs", program):
        (folder / name).write_text((PROGRAMS / name).read_text("utf-8"), "utf-8")
    return folder / program


def _own_version(name: str) -> str:
    done = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.split()[1] if done.stdout else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
