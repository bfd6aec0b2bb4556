"""What Docker can tell and do: is its engine running, in which state is a container, and the compose commands."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from qiusuo.kit.files import KitFolder

ASK_TIMEOUT: Final = 2.0
# Arguments of compose for each of our commands.
ACTIONS: Final = {
    "up": ("up", "--detach"),
    "down": ("down",),
    "restart": ("restart",),
    "logs": ("logs", "--tail", "100"),
}


class Engine(StrEnum):
    """How Docker stands on this machine."""

    MISSING = "missing"  # there is no docker command
    OFF = "off"  # the command is there, the engine does not answer
    NO_COMPOSE = "no_compose"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Container:
    """A container as ``docker ps`` lists it."""

    name: str
    status: str

    @property
    def runs(self) -> bool:
        return self.status.startswith("Up")


def compose_command() -> tuple[str, ...] | None:
    """Return how compose is called here: the plug-in, or the older program; None where there is neither."""
    docker = shutil.which("docker")
    if docker and subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode == 0:  # noqa: S603 - docker
        return (docker, "compose")
    older = shutil.which("docker-compose")
    return (older,) if older else None


def shown_command(folder: KitFolder, action: str) -> str:
    """Return the command that a person would type."""
    return f"docker compose -f {folder.compose} {' '.join(ACTIONS[action])}"


def run_compose(folder: KitFolder, action: str, *, follow: bool = False) -> int:
    """Run compose with its output shown and return its exit code."""
    command = compose_command()
    if command is None:
        raise FileNotFoundError("docker compose")
    arguments = [*ACTIONS[action], *(["--follow"] if follow else [])]
    return subprocess.run([*command, "-f", str(folder.compose), *arguments], check=False).returncode  # noqa: S603 - compose


async def engine_state() -> Engine:
    """Tell how Docker stands, within two seconds."""
    if shutil.which("docker") is None:
        return Engine.MISSING
    return Engine.READY if await _ask("version", "--format", "{{.Server.Version}}") else Engine.OFF


async def container_of(folder: Path) -> Container | None:
    """Return the SearXNG container that the compose file in ``folder`` has made; None where there is none."""
    listing = await _ask(
        "ps",
        "--all",
        "--filter",
        f"label=com.docker.compose.project.working_dir={folder}",
        "--format",
        "{{.Image}}\t{{.Names}}\t{{.Status}}",
    )
    for line in (listing or "").splitlines():
        image, _, rest = line.partition("\t")
        name, _, status = rest.partition("\t")
        if "searxng" in image:
            return Container(name, status)
    return None


async def is_outdated(folder: KitFolder) -> bool:
    """Tell whether the container of ``folder`` was started before its settings were changed."""
    container = await container_of(folder.path)
    if container is None or not container.runs:
        return False
    started = await _ask("inspect", "--format", "{{.State.StartedAt}}", container.name)
    try:
        # Docker tells nanoseconds, in UTC.
        since = datetime.fromisoformat((started or "")[:19]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return False
    return any(path.stat().st_mtime > since + 1 for path in folder.paths if path.is_file())


def docker_may_run(environ: Mapping[str, str]) -> bool:
    """Tell whether Docker's engine can be running, by where it listens: cheap, and wrong only where it says yes."""
    home = Path(environ.get("HOME") or Path.home()) / ".docker"
    if os.name != "posix" or environ.get("DOCKER_HOST") or (home / "contexts").is_dir():
        return True
    usual = [Path("/var/run/docker.sock"), home / "run" / "docker.sock"]
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        usual.append(Path(runtime) / "docker.sock")
    return any(path.exists() for path in usual)


async def _ask(*arguments: str) -> str | None:
    """Return what a docker command says; None where it fails or takes too long."""
    process = await asyncio.create_subprocess_exec(
        shutil.which("docker") or "docker",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        stdin=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(ASK_TIMEOUT):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return output.decode(errors="replace").strip() if process.returncode == 0 else None
