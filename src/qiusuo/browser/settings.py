"""How the browser is to be run."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qiusuo.browser.locate import Lookup, find_chrome
from qiusuo.commands import install_command
from qiusuo.config.files import config_folder
from qiusuo.errors import EngineNotConfigured
from qiusuo.words import Fact

PAGES_VARIABLE: Final = "QIUSUO_CHROME_PAGES"
USUAL_PAGES: Final = 3
MOST_PAGES: Final = 50
_PACKAGES: Final = ("playwright", "selectolax")


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Facts and limits. ``cookies_file`` is what ``qiusuo google solve`` has kept, if it was ever used."""

    executable: Path
    cookies_file: Path | None = None
    sandbox: bool = True
    max_pages: int = USUAL_PAGES
    """Pages at a time; further searches wait for one of them."""
    recycle_after: int = 200
    """A fresh browser after so many pages: what leaks in it must not grow without end."""
    idle_seconds: float = 120.0
    """Closed when nobody has searched for so long; the next search starts it again."""
    memory_limit_mb: int = 1500
    extra_args: tuple[str, ...] = ()

    @classmethod
    def from_lookup(cls, lookup: Lookup) -> BrowserSettings:
        """Find out what is there; ``lookup`` reads the environment.

        Raises:
            EngineNotConfigured: the browser or a package is missing, or a setting cannot be used.
        """
        missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
        if missing:
            absent = Fact("browser.packages", packages=missing)
            raise EngineNotConfigured(absent, commands=(install_command("qiusuo[browser]"),))
        folders = {name: value for name in ("XDG_CONFIG_HOME", "APPDATA") if (value := lookup(name))}
        return cls(
            find_chrome(lookup),
            cookies_file=config_folder(folders) / "browser-cookies.json",
            # Chrome refuses to start its sandbox for root; elsewhere only a person may switch it off.
            max_pages=_pages(lookup(PAGES_VARIABLE) or ""),
            sandbox=not _is_root() and (lookup("QIUSUO_CHROME_SANDBOX") or "on").lower() not in {"0", "off", "false"},
        )


def _pages(given: str) -> int:
    if not given.strip():
        return USUAL_PAGES
    if given.strip().isdecimal() and 1 <= int(given) <= MOST_PAGES:
        return int(given)
    raise EngineNotConfigured(Fact("browser.odd_pages", variable=PAGES_VARIABLE, given=repr(given), most=MOST_PAGES))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
