"""The exact commands for the SearXNG of this machine, and which of them belong to which fault.

The engine, when a search fails, and the doctor, when it looks for the cause, ask here: so both advise the same.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from qiusuo.kit.environment import is_installed
from qiusuo.kit.files import DEFAULT_PORT, KitFolder, default_folder, environment_folder
from qiusuo.words import Fact


@dataclass(frozen=True, slots=True)
class KitCommands:
    """Commands for a SearXNG; ``settings_file`` is its own, where somebody has named it."""

    settings_file: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)

    @property
    def kit(self) -> KitFolder:
        """The folder of SearXNG's files: beside the named file, else the default one."""
        return KitFolder(self.settings_file.resolve().parent) if self.settings_file else default_folder(self.environ)

    @property
    def known_settings_file(self) -> Path | None:
        """The file that was named, else the one in the default folder if it is there."""
        if self.settings_file is not None:
            return self.settings_file
        return self.kit.settings if self.kit.exists else None

    @property
    def without_docker(self) -> bool:
        """Whether SearXNG runs here without Docker: it was installed for that, or there is no Docker."""
        return shutil.which("docker") is None or is_installed(environment_folder(self.environ))

    @property
    def start(self) -> tuple[str, ...]:
        """The commands that bring a SearXNG up."""
        up = self._command("up") + (" --no-docker" if self.without_docker else "")
        return (up,) if self.kit.exists else (self._command("init"), up)

    @property
    def restart(self) -> str:
        """The command that makes SearXNG read its settings again."""
        if not self.kit.compose.is_file():
            return "docker restart searxng"
        return self.start[-1] if self.without_docker else self._command("restart")

    @property
    def logs(self) -> str:
        """The command that shows SearXNG's log."""
        return self._command("logs") if self.kit.compose.is_file() else "docker logs --tail 100 searxng"

    @property
    def fix(self) -> str:
        """The command that repairs SearXNG's settings file; the one in the default folder need not be named."""
        if self.settings_file is None and self.kit.exists:
            return "qiusuo doctor --fix"
        file = shlex.quote(str(self.settings_file)) if self.settings_file else "/path/to/settings.yml"
        return f"qiusuo doctor --fix --settings-file {file}"

    def for_fault(self, fact: Fact) -> tuple[str, ...]:
        """Return the commands that belong to a fault of SearXNG; none where commands do not help."""
        commands = _FOR_FAULTS.get(fact.code)
        return commands(self, fact) if commands else ()

    def _command(self, action: str) -> str:
        folder = self.kit.path
        where = "" if folder == default_folder(self.environ).path else f" {shlex.quote(str(folder))}"
        return f"qiusuo searxng {action}{where}"


def _start(kit: KitCommands, _fact: Fact) -> tuple[str, ...]:
    return kit.start


def _restart(kit: KitCommands, _fact: Fact) -> tuple[str, ...]:
    return (kit.restart,)


def _local_address(_kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    port = urlsplit(str(fact.values.get("address", ""))).port or DEFAULT_PORT
    return (f"export SEARXNG_URL=http://localhost:{port}",)


def _final_address(_kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    target = str(fact.values.get("target", ""))
    return (f"export SEARXNG_URL={shlex.quote(target)}",) if target.startswith("http") else ()


_FOR_FAULTS: Final[Mapping[str, Callable[[KitCommands, Fact], tuple[str, ...]]]] = {
    "searxng.none": _start,
    "searxng.refused": _start,
    "searxng.no_defaults": _start,
    "searxng.dns": _local_address,
    "searxng.unreachable": lambda _kit, fact: (f"curl -sS -m 5 {fact.values['address']}/healthz",),
    "searxng.wrong_port": lambda _kit, fact: (f"export SEARXNG_URL={fact.values['found']}",),
    "searxng.other_service": lambda _kit, fact: (f"curl -sS {fact.values['address']}/config", "docker ps"),
    "searxng.redirect": _final_address,
    "searxng.broken": lambda kit, _fact: (kit.logs, kit.restart),
    "searxng.json_off": lambda kit, _fact: (kit.fix, kit.restart),
    "searxng.json_not_applied": _restart,
    "searxng.limiter": _restart,
    "searxng.limiter_on": _restart,
    "searxng.slow": _restart,
    "searxng.secret": lambda kit, _fact: (kit.fix, *kit.start),
    "searxng.docker_off": lambda kit, _fact: (
        "sudo systemctl start docker",
        *kit.start,
        f"{kit.start[-1]} --no-docker",
    ),
    "searxng.container_stopped": lambda kit, _fact: (kit.logs, *kit.start),
}
