"""What Docker can tell and do: is its engine running, in which state is a container, and the compose commands."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from dataclasses import dataclass
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
