"""Files with keys or tokens that other users of this machine can read."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from qiusuo.commands import at_hand
from qiusuo.config.files import read_config_file
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.errors import ConfigurationError
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError

_SECRET_NAMES: Final = re.compile(
    r"tokens?|.*api_?key|.*(?:_key|secret|password)|(?:basic_)?auth|headers|cookies?", re.IGNORECASE
)
_LOGIN: Final = re.compile(r"//[^/\s@]*:[^/\s@]+@")


async def check_files(context: Examination) -> list[Finding]:
    """Look at who may read our configuration file and SearXNG's files, where a secret stands in them."""
    if os.name == "nt":
        return []
    found: list[Finding] = []
    for path, is_secret in _files(context):
        try:
            state = path.stat()
        except OSError:
            continue
        own = state.st_uid == os.geteuid()
        # What another user has set up, such as root for a service in its group, is open only where it is for all.
        if not state.st_mode & (0o044 if own else 0o004) or not is_secret:
            continue
        values = {"file": path, "mode": f"{stat.S_IMODE(state.st_mode):04o}"}
        found.append(Finding("files.readable", Level.WARNING, values, _command(context, path, own=own)))
    return found


def _files(context: Examination) -> Iterator[tuple[Path, bool]]:
    """Yield each file with whether a secret stands in it."""
    config = context.settings.config_file
    if config is not None:
        with suppress(ConfigurationError):  # gone or broken since it was read
            yield config, _has_secret(read_config_file(config))
    if context.kit.secret is not None:
        yield context.kit.secrets, True
    settings = context.known_settings_file
    if settings is not None and not _is_closed(settings.parent):
        with suppress(SettingsFileError):  # the check of SearXNG tells of it
            yield settings, not SettingsFile.read(settings).has_default_secret


def _command(context: Examination, path: Path, *, own: bool) -> tuple[str, ...]:
    rights = "" if own or os.geteuid() == 0 else "sudo "
    # SearXNG's container has a user of its own, who must read the file; but not the folder in which it lies.
    if path == context.known_settings_file:
        return at_hand(f"{rights}chmod 700 {shlex.quote(str(path.parent))}")
    return at_hand(f"{rights}chmod {'600' if own else 'o='} {shlex.quote(str(path))}")


def _is_closed(folder: Path) -> bool:
    try:
        return not folder.stat().st_mode & 0o011
    except OSError:
        return True


def _has_secret(value: Any, name: str = "") -> bool:
    if isinstance(value, dict):
        # Of headers and the like every value is one.
        inherited = name if _SECRET_NAMES.fullmatch(name) else ""
        return any(_has_secret(one, inherited or str(key)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return any(_has_secret(one, name) for one in value)
    if not isinstance(value, str) or not value.strip():
        return False
    return _SECRET_NAMES.fullmatch(name) is not None or _LOGIN.search(value) is not None
