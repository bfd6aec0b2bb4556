"""The repairs that are safe to make without asking: small changes of SearXNG's settings file, with a backup."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qiusuo.doctor.findings import Finding
from qiusuo.kit.commands import KitCommands
from qiusuo.kit.settings_file import SettingsFile

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Repair:
    """Repairs that were made: of which findings, in which file, and what it was before."""

    codes: tuple[str, ...]
    file: Path
    backup: Path


def _add_json(file: SettingsFile) -> SettingsFile:
    return file if "json" in file.formats else file.with_value("search", "formats", [*file.formats, "json"])


def _new_secret(file: SettingsFile) -> SettingsFile:
    if not file.has_default_secret:
        return file
    return file.with_value("server", "secret_key", secrets.token_hex(_SECRET_BYTES))


# Not the limiter: it may protect an instance that strangers can reach.
FIXES: Final[Mapping[str, Callable[[SettingsFile], SettingsFile]]] = {
    "searxng.json_off": _add_json,
    "searxng.secret": _new_secret,
}


def file_to_mend(findings: Iterable[Finding]) -> Path | None:
    """Return the file in the default folder, where it can be that of the SearXNG to be mended."""
    kit = KitCommands()
    addresses = [str(one.values["address"]) for one in findings if one.code in FIXES and "address" in one.values]
    return kit.kit.settings if kit.kit.exists and all(map(kit.serves, addresses)) else None


def repair(findings: Iterable[Finding], settings_file: Path) -> Repair | None:
    """Repair what can be repaired in SearXNG's settings file; None where that is nothing. SearXNG must be restarted.

    Raises:
        SettingsFileError: the file cannot be read, changed or written; it is then as it was.
    """
    codes = tuple(dict.fromkeys(finding.code for finding in findings if finding.code in FIXES))
    if not codes:
        return None
    file = before = SettingsFile.read(settings_file)
    for code in codes:
        file = FIXES[code](file)
    return Repair(codes, settings_file, file.save()) if file.text != before.text else None
