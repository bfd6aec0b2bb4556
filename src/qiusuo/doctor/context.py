"""What the checks look at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qiusuo.config import Settings
from qiusuo.doctor.findings import Finding, Level
from qiusuo.kit.commands import KitCommands
from qiusuo.kit.files import KitFolder
from qiusuo.roster import Roster
from qiusuo.service import SearchService
from qiusuo.words import Fact


@dataclass(frozen=True, slots=True)
class Examination:
    """The set-up under examination. ``quick`` leaves out what makes an engine search.

    ``settings_file`` is SearXNG's own, where its place is known; it tells causes that cannot be seen from outside.
    """

    settings: Settings
    roster: Roster
    quick: bool = False
    settings_file: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    service: SearchService | None = None
    """That of the engines, for what is made with one: the tools of plug-ins."""

    @property
    def commands(self) -> KitCommands:
        """The commands for the SearXNG of this machine."""
        return KitCommands(self.settings_file, self.environ)

    @property
    def kit(self) -> KitFolder:
        """The folder of SearXNG's files: beside the named file, else the default one."""
        return self.commands.kit

    @property
    def known_settings_file(self) -> Path | None:
        """The file that was named, else the one in the default folder if it is there."""
        return self.commands.known_settings_file

    def fault(self, fact: Fact, level: Level = Level.PROBLEM) -> Finding:
        """Return a fault of SearXNG as a finding, with the commands that belong to it."""
        return Finding(fact.code, level, fact.values, self.commands.for_fault(fact))
