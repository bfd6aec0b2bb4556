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

from qiusuo.commands import for_systemd
from qiusuo.config.server import is_loopback
from qiusuo.kit.docker import docker_may_run
from qiusuo.kit.environment import is_installed
from qiusuo.kit.files import DEFAULT_PORT, KitFolder, default_folder, environment_folder
from qiusuo.kit.process import port_is_free
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError
from qiusuo.words import Fact

_FIRST_FREE: Final = 1024
_OTHER_PORTS: Final = 8090
_MOST_PORTS: Final = 100


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
        return self.start_at("")

    def start_at(self, address: str) -> tuple[str, ...]:
        """Return the commands that bring a SearXNG up, and together with an address of this machine."""
        wanted = _port_of(address)
        if self.kit.exists:
            there, port = self._port() or wanted, ""
        else:
            there = wanted if wanted >= _FIRST_FREE else DEFAULT_PORT  # below it only root may listen
            port = "" if there == DEFAULT_PORT else f" --port {there}"
        init = () if self.kit.is_whole else (self._command("init") + port,)
        other = (f"export SEARXNG_URL=http://localhost:{there}",) if address and there != wanted else ()
        return (*init, self._up, *other)

    def start_beside(self, address: str) -> tuple[str, ...]:
        """Return the commands that bring a SearXNG up and make searches go there, where ``address`` is another's."""
        own, taken = self._port(), _port_of(address) if is_loopback(urlsplit(address).hostname or "") else None
        if own is not None and own != taken:
            init = () if self.kit.is_whole else (self._command("init"),)
            return (*init, self._up, f"export SEARXNG_URL=http://localhost:{own}")
        if self.settings_file is not None and not self.kit.compose.is_file():
            # A file of somebody's own is not written over.
            return KitCommands(environ=self.environ).start_beside(address)
        there = free_port(taken)
        port = "" if there == DEFAULT_PORT else f" --port {there}"
        force = " --force" if self.kit.exists else ""
        return (self._command("init") + port + force, self._up, f"export SEARXNG_URL=http://localhost:{there}")

    @property
    def restart(self) -> tuple[str, ...]:
        """The command that makes SearXNG read its settings again; none for one that somebody else has set up."""
        return (self._command("restart"),) if self.kit.compose.is_file() else ()

    @property
    def logs(self) -> tuple[str, ...]:
        """The command that shows SearXNG's log; none for one that somebody else has set up."""
        return (self._command("logs"),) if self.kit.compose.is_file() else ()

    def update(self, address: str) -> tuple[str, ...]:
        """Return the command that brings a newer SearXNG, where the one at ``address`` runs in our container."""
        near = is_loopback(urlsplit(address).hostname or "") and self.serves(address)
        if not near or self.without_docker or not self.kit.compose.is_file():
            return ()
        compose = f"docker compose -f {shlex.quote(str(self.kit.compose))}"
        return (f"{compose} pull && {compose} up --detach",)

    @property
    def fix(self) -> str:
        """The command that repairs SearXNG's settings file; it asks for a file of which nobody knows the place."""
        named = f" --settings-file {shlex.quote(str(self.settings_file))}" if self.settings_file else ""
        return f"qiusuo doctor --fix{named}"

    def for_fault(self, fact: Fact) -> tuple[str, ...]:
        """Return the commands that belong to a fault of SearXNG; none where commands do not help."""
        commands = _FOR_FAULTS.get(fact.code)
        # On another machine nothing can be started or changed from here.
        far = fact.code not in _ANYWHERE and not is_loopback(urlsplit(_address(fact)).hostname or "localhost")
        return commands(self, fact) if commands and not far else ()

    def serves(self, address: str) -> bool:
        """Whether these files can be those of the SearXNG at an address: somebody has said so, or it has their port."""
        return self.settings_file is not None or self._port() == _port_of(address)

    @property
    def _up(self) -> str:
        alone = self.without_docker or not docker_may_run(self.environ)
        return self._command("up") + (" --no-docker" if alone else "")

    def _port(self) -> int | None:
        try:
            return SettingsFile.read(self.kit.settings).port
        except SettingsFileError:
            return None

    def _command(self, action: str) -> str:
        folder = self.kit.path
        where = "" if folder == default_folder(self.environ).path else f" {shlex.quote(str(folder))}"
        return f"qiusuo searxng {action}{where}"


def free_port(taken: int | None = None) -> int:
    """Return a port for SearXNG: the usual one, or the next of its neighbours on which nothing listens."""
    ports = (DEFAULT_PORT, *range(_OTHER_PORTS, _OTHER_PORTS + _MOST_PORTS))
    return next((port for port in ports if port != taken and port_is_free(port)), _OTHER_PORTS)


def _port_of(address: str) -> int:
    parts = urlsplit(address or f"http://localhost:{DEFAULT_PORT}")
    return parts.port or (443 if parts.scheme == "https" else 80)


def _address(fact: Fact) -> str:
    return str(fact.values.get("address", ""))


def _start(kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    return kit.start_at(_address(fact))


def _restart(kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    return kit.restart if kit.serves(_address(fact)) else ()


def _logs(kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    return kit.logs if kit.serves(_address(fact)) else ()


def _local_address(_kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    port = urlsplit(_address(fact)).port or DEFAULT_PORT
    return (f"export SEARXNG_URL=http://localhost:{port}",)


def _final_address(_kit: KitCommands, fact: Fact) -> tuple[str, ...]:
    target = str(fact.values.get("target", ""))
    return (f"export SEARXNG_URL={shlex.quote(target)}",) if target.startswith("http") else ()


def _docker_off(kit: KitCommands, _fact: Fact) -> tuple[str, ...]:
    begin = for_systemd("systemctl start docker")
    up = kit.start[-1].removesuffix(" --no-docker")
    return (*begin, up) if begin else (f"{up} --no-docker",)


_ANYWHERE: Final = frozenset({"searxng.dns", "searxng.redirect", "searxng.other_service", "searxng.wrong_port"})
_FOR_FAULTS: Final[Mapping[str, Callable[[KitCommands, Fact], tuple[str, ...]]]] = {
    "searxng.none": _start,
    "searxng.refused": _start,
    "searxng.no_defaults": _start,
    "searxng.dns": _local_address,
    "searxng.wrong_port": lambda _kit, fact: (f"export SEARXNG_URL={fact.values['found']}",),
    "searxng.other_service": lambda kit, fact: kit.start_beside(_address(fact)),
    "searxng.redirect": _final_address,
    "searxng.broken": lambda kit, fact: (*_logs(kit, fact), *_restart(kit, fact)),
    "searxng.json_off": lambda kit, fact: (kit.fix, *_restart(kit, fact)),
    "searxng.json_not_applied": _restart,
    "searxng.limiter": _restart,
    "searxng.limiter_on": _restart,
    "searxng.slow": _restart,
    "searxng.timeout": _restart,
    "searxng.secret": lambda kit, _fact: (kit.fix, *kit.start),
    "searxng.docker_off": _docker_off,
    "searxng.container_stopped": lambda kit, _fact: (*kit.logs, *kit.start),
}
