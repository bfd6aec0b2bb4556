"""Commands that are printed as advice: they must work where they are printed."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_SYSTEMD: Final = Path("/run/systemd/system")
_VARIABLE: Final = "QIUSUO_COMMAND"


def at_hand(*commands: str) -> tuple[str, ...]:
    """Return those commands whose program this machine has."""
    return tuple(command for command in commands if shutil.which(command.partition(" ")[0]))


def for_systemd(command: str) -> tuple[str, ...]:
    """Return a command that changes the system, as its user must type it; none where no systemd runs."""
    if not _SYSTEMD.is_dir() or not at_hand(command):
        return ()
    return (command,) if os.geteuid() == 0 else at_hand(f"sudo {command}")


def install_command(*wanted: str) -> str:
    """Return the command that installs packages for the Python which runs this, whatever ``pip`` is on the PATH."""
    packages = " ".join(map(shlex.quote, wanted))
    python, pip = shlex.quote(sys.executable), shutil.which("pip")
    if pip and Path(pip).parent == Path(sys.executable).parent:
        return f"pip install {packages}"
    if find_spec("pip") is not None:
        return f"{python} -m pip install {packages}"
    if shutil.which("uv"):
        return f"uv pip install --python {python} {packages}"
    return f"{python} -m ensurepip && {python} -m pip install {packages}"


def install_program(commands: Mapping[str, str]) -> tuple[str, ...]:
    """Return that one of the commands which this machine has a program for, as its user must type it."""
    found = next((command for program, command in commands.items() if shutil.which(program)), None)
    if found is None:
        return ()
    own = os.geteuid() == 0 or found.startswith("brew ") or not shutil.which("sudo")
    return (found if own else f"sudo {found}",)


def typed(command: str) -> str:
    """Return a command of ours as it must be typed here: by its path, where ``qiusuo`` is not on the PATH.

    Who runs it in another way (as another user, in a container) says how in ``QIUSUO_COMMAND``.
    """
    name, blank, rest = command.partition(" ")
    if name != "qiusuo":
        return command
    if said := os.environ.get(_VARIABLE):
        return said + blank + rest
    if shutil.which(name):
        return command
    beside = Path(sys.executable).parent / name
    here = shlex.quote(str(beside)) if beside.is_file() else f"{shlex.quote(sys.executable)} -m {name}"
    return here + blank + rest
