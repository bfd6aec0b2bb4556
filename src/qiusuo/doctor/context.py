"""What the checks look at."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qiusuo.config import Settings
from qiusuo.kit.environment import is_installed
from qiusuo.kit.files import KitFolder, default_folder, environment_folder
from qiusuo.roster import Roster


@dataclass(frozen=True, slots=True)
class Context:
    """The set-up under examination. ``quick`` leaves out what makes an engine search.

    ``settings_file`` is SearXNG's own, where its place is known; it tells causes that cannot be seen from outside.
    """

    settings: Settings
    roster: Roster
    quick: bool = False
    settings_file: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

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
    def start_commands(self) -> tuple[str, ...]:
        """The commands that bring a SearXNG up."""
        up = self._command("up") + (" --no-docker" if self.without_docker else "")
        return (up,) if self.kit.exists else (self._command("init"), up)

    @property
    def restart_command(self) -> str:
        """The command that makes SearXNG read its settings again."""
        if not self.kit.compose.is_file():
            return "docker restart searxng"
        return self.start_commands[-1] if self.without_docker else self._command("restart")

    @property
    def logs_command(self) -> str:
        """The command that shows SearXNG's log."""
        return self._command("logs") if self.kit.compose.is_file() else "docker logs --tail 100 searxng"

    @property
    def fix_command(self) -> str:
        """The command that repairs SearXNG's settings file."""
        file = self.known_settings_file
        return f"qiusuo doctor --fix --settings-file {shlex.quote(str(file)) if file else '/path/to/settings.yml'}"

    def _command(self, action: str) -> str:
        folder = self.kit.path
        where = "" if folder == default_folder(self.environ).path else f" {shlex.quote(str(folder))}"
        return f"qiusuo searxng {action}{where}"
