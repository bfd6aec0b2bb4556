"""Where Chrome, Chromium or Edge is on this machine, and what to do where there is none."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from qiusuo.errors import EngineNotConfigured
from qiusuo.words import Fact

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
    "Linux": "browser.install_linux",
    "Darwin": "browser.install_darwin",
    "Windows": "browser.install_windows",
}


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
        install = install_advice(system)
        raise EngineNotConfigured(Fact("browser.named_missing", variable=VARIABLE, given=repr(named), install=install))
    for place in _places(lookup, system):
        return place
    raise EngineNotConfigured(Fact("browser.none_found"), fix=install_advice(system))


def install_advice(system: str | None = None) -> Fact:
    """Say how to get a browser on this system."""
    return Fact(_INSTALL.get(system or platform.system(), "browser.install_other"), variable=VARIABLE)


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
