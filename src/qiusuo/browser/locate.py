"""Where Chrome, Chromium or Edge is on this machine, and what to do where there is none."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from qiusuo.errors import EngineNotConfigured

Lookup = Callable[[str], str | None]

VARIABLE: Final = "QIUSUO_CHROME"

_PROGRAMS: Final = (
    "google-chrome",
    "google-chrome-stable",
    "chromium",
    "chromium-browser",
    "microsoft-edge",
    "microsoft-edge-stable",
    "chrome",
    "msedge",
)
_MAC_APPS: Final = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_WINDOWS_FOLDERS: Final = ("ProgramFiles", "ProgramFiles(x86)", "LocalAppData")
_WINDOWS_PROGRAMS: Final = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)
_INSTALL: Final = {
    "Linux": "Install one (Debian, Ubuntu: sudo apt install chromium; Fedora: sudo dnf install chromium; Arch: sudo "
    "pacman -S chromium)",
    "Darwin": "Install one (brew install --cask google-chrome, or https://www.google.com/chrome/)",
    "Windows": "Install one (winget install Google.Chrome, or https://www.google.com/chrome/)",
}
_OTHERS: Final = "Install Google Chrome, Chromium or Microsoft Edge"


def find_chrome(lookup: Lookup = lambda _name: None, *, system: str | None = None) -> Path:
    """Return the browser's program: the one that ``QIUSUO_CHROME`` names, else the first that is found.

    Args:
        lookup: looks a variable up in the environment.
        system: the operating system, as :func:`platform.system` names it.

    Raises:
        EngineNotConfigured: there is none; its ``fix`` says how to get one on this system.
    """
    system = system or platform.system()
    named = lookup(VARIABLE)
    if named:
        # What was named is never replaced by another one.
        found = shutil.which(Path(named).expanduser(), path=lookup("PATH"))
        if found:
            return Path(found)
        raise EngineNotConfigured(
            f"{VARIABLE} names {named!r}, which is not a program on this machine.",
            fix=f"Set {VARIABLE} to the browser's program, or unset it. {install_advice(system)}",
        )
    for place in _places(lookup, system):
        return place
    raise EngineNotConfigured("no Chrome, Chromium or Edge was found on this machine.", fix=install_advice(system))


def install_advice(system: str | None = None) -> str:
    """Say how to get a browser on this system."""
    how = _INSTALL.get(system or platform.system(), _OTHERS)
    return f"{how}, or set {VARIABLE} to the program of one that is there."


def _places(lookup: Lookup, system: str) -> Iterator[Path]:
    for name in _PROGRAMS:
        found = shutil.which(name, path=lookup("PATH"))
        if found:
            yield Path(found)
    for path in _usual_files(lookup, system):
        if path.is_file():
            yield path


def _usual_files(lookup: Lookup, system: str) -> Iterator[Path]:
    """Yield the places outside PATH where installers put the browsers."""
    if system == "Darwin":
        home = lookup("HOME")
        for folder in (Path("/Applications"), *((Path(home) / "Applications",) if home else ())):
            yield from (folder / app for app in _MAC_APPS)
    elif system == "Windows":
        for program in _WINDOWS_PROGRAMS:
            for variable in _WINDOWS_FOLDERS:
                folder = lookup(variable)
                if folder:
                    yield Path(folder) / program
