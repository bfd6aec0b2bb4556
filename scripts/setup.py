"""Bring everything the project needs: uv, the locked packages, system packages where that is allowed.

Runs on any Python 3 with the standard library alone, and says what it does. Called by the Makefile:

    python3 scripts/setup.py            the packages of a user (all extras)
    python3 scripts/setup.py --check    those of a developer too
    python3 scripts/setup.py --test     and what the tests use of the system
    python3 scripts/setup.py --bench    those of a developer, and the rivals that are measured beside us
    python3 scripts/setup.py --chaos    those of a developer, and the programs that faults and load need

Exit codes: 0 ready (what is missing was said), 1 the packages cannot be installed, 2 Python is too old.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
UV_HOME = ROOT / ".cache" / "uv-env"
BIN = "Scripts" if os.name == "nt" else "bin"
OLDEST = (3, 11)

# System programs that tests use: program, Debian package, what is skipped without it.
PROGRAMS = (
    ("redis-server", "redis-server", "the tests with a real Redis (parts of tests/pipeline and tests/doctor)"),
    ("chromium", "chromium", "the tests with a real browser (tests/browser, tests/page, parts of tests/engines)"),
    ("chromium-headless-shell", "chromium-headless-shell", "no test; those of the page take a third longer without it"),
    ("npm", "npm", "the type check of the page, its rebuild and axe (parts of tests/project and tests/page)"),
    ("promtool", "prometheus", "the tests of the alerts and the dashboard (parts of tests/deploy)"),
    ("postgres", "postgresql", "the tests with a real PostgreSQL (parts of tests/chat_store and tests/doctor)"),
    ("nginx", "nginx", "the tests behind a real nginx (parts of tests/web/test_behind_nginx.py)"),
)
# The same for `make chaos` and `make load`.
CHAOS_PROGRAMS = (
    ("postgres", "postgresql", "everything but the faults of SQLite"),
    ("redis-server", "redis-server", "nearly everything"),
    ("nginx", "nginx", "every fault"),
    ("wrk", "wrk", "one worker against two (make load)"),
    ("cc", "gcc", "the faults of the clock (make chaos)"),
)
# Debian keeps PostgreSQL's programs out of the path.
PLACES = {"postgres": "usr/lib/postgresql/*/bin/postgres"}


def say(text: str) -> None:
    """Print one line at once, so that it stands before what the called programs print."""
    print(f"[setup] {text}", flush=True)


def loud(lines: "list[str]") -> None:
    """Print what could not be had in a way that nobody overlooks."""
    print("\n".join(["", "!" * 100, *(f"!! {line}" for line in lines), "!" * 100, ""]), flush=True)


def run(*command: "str | Path", **options: "object") -> bool:
    """Run a command, showing it; tell whether it succeeded."""
    say("$ " + " ".join(str(part) for part in command))
    return subprocess.run([str(part) for part in command], check=False, cwd=ROOT, **options).returncode == 0  # type: ignore[call-overload]


def find_python() -> "str | None":
    """Return an interpreter that is new enough: this one, or one under a versioned name."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in range(14, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    return None


def find_uv(python: str) -> "Path | None":
    """Return uv: the user's own, the one brought earlier, or a new one by pip in an environment of its own."""
    own = shutil.which("uv")
    if own:
        return Path(own)
    brought = UV_HOME / BIN / "uv"
    if brought.exists():
        return brought
    say("uv is not installed: bringing it by pip")
    if not run(python, "-m", "venv", UV_HOME):
        install_system(["python3-venv"])
        if not run(python, "-m", "venv", "--clear", UV_HOME):
            return None
    if not run(UV_HOME / BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"):
        return None
    return brought


def install_system(packages: "list[str]") -> bool:
    """Install Debian packages where this user may; tell whether it worked."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and not shutil.which("sudo"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL}
    run(*sudo, "apt-get", "update", "-qq", **quiet)
    return run(*sudo, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, **quiet)


def is_there(program: str) -> bool:
    """Tell whether a system program can be found."""
    return bool(shutil.which(program) or (program in PLACES and any(Path("/").glob(PLACES[program]))))


def bring_programs(programs: "tuple[tuple[str, str, str], ...]") -> "list[str]":
    """Install the system programs that are missing; return a line for each that could not be had."""
    missing = [entry for entry in programs if not is_there(entry[0])]
    if missing:
        install_system([package for _, package, _ in missing])
    return [
        f"{program} is not there and could not be installed (Debian: {package}). Skipped without it: {skipped}."
        for program, package, skipped in missing
        if not is_there(program)
    ]


def bring_for_tests(uv: str) -> "list[str]":
    """Bring what only the tests need; return what could not be had, and what is skipped without it."""
    problems = bring_programs(PROGRAMS)
    if not run(VENV / BIN / "python", ROOT / "scripts" / "searxng_env.py"):
        problems.append("SearXNG could not be installed. Skipped without it: parts of tests/engines and tests/doctor.")
    if not run(VENV / BIN / "python", ROOT / "scripts" / "smollm2.py", uv):
        problems.append(
            "The small language model could not be had. Skipped without it: parts of tests/chat_models and tests/chat."
        )
    if not run(VENV / BIN / "python", ROOT / "scripts" / "statutes.py", uv):
        problems.append("The statutes could not be had. Skipped without them: tests/legal/test_legal_real_data.py.")
    npm = shutil.which("npm")
    if npm and not run(npm, "ci", "--no-audit", "--no-fund", "--silent", "--prefix", ROOT / "scripts" / "vendor"):
        problems.append(
            "The page's tools could not be installed by npm. Skipped without them: parts of tests/project "
            "and tests/page/test_access.py."
        )
    return problems


def main() -> int:
    """Set everything up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="also the packages of a developer")
    parser.add_argument("--test", action="store_true", help="also what the tests need")
    parser.add_argument("--bench", action="store_true", help="also what the benchmarks compare with")
    parser.add_argument("--chaos", action="store_true", help="also what faults and load need")
    wanted = parser.parse_args()
    python = find_python()
    if python is None:
        loud(["Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ".", "Install it and try again."])
        return 2
    uv = find_uv(python)
    if uv is None:
        loud(["uv could not be installed by pip: check the network and the package index, then try again."])
        return 1
    groups = ["--group", "dev"] if wanted.check or wanted.test or wanted.bench or wanted.chaos else ["--no-dev"]
    if wanted.bench:
        groups += ["--group", "bench"]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_PROJECT_ENVIRONMENT": str(VENV)}
    # --inexact keeps what a developer has added by hand.
    if not run(
        uv, "sync", "--quiet", "--locked", "--inexact", "--all-extras", *groups, "--python", python, env=environment
    ):
        loud(["The packages could not be installed; the lines above say why."])
        return 1
    problems = bring_for_tests(uv) if wanted.test else []
    problems += bring_programs(CHAOS_PROGRAMS) if wanted.chaos else []
    if problems:
        loud(problems)
    say("ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
