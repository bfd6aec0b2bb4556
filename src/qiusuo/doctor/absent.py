"""Why there is no SearXNG at its address: another port, a file it cannot start with, Docker, or simply not started."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from qiusuo.doctor.context import Context
from qiusuo.doctor.findings import Finding, Level
from qiusuo.doctor.wire import CONNECT_TIMEOUT, Reach, ask, shown
from qiusuo.engines.searxng import is_config
from qiusuo.http import Endpoint
from qiusuo.kit.docker import Engine, container_of, engine_state
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError
from qiusuo.server_settings import is_loopback
from qiusuo.words import Fact

# Where SearXNG listens by default: in its container, and without one.
USUAL_PORTS: Final = (8080, 8888)
_LOOK_TIMEOUT: Final = 0.7


async def why_absent(context: Context, endpoint: Endpoint, reached: Reach | None, *, seen: Fact | str = "") -> Finding:
    """Return the cause; ``reached`` is None where something answered that is not SearXNG (``seen`` says what)."""
    address = shown(endpoint.base_url)
    if reached is Reach.DNS:
        host = urlsplit(address).hostname
        commands = (f"export SEARXNG_URL=http://localhost:{urlsplit(address).port or USUAL_PORTS[0]}",)
        return Finding("searxng.dns", Level.PROBLEM, {"host": host}, commands)
    if reached is Reach.UNREACHABLE:
        values = {"address": address, "seconds": f"{CONNECT_TIMEOUT:g}"}
        return Finding("searxng.unreachable", Level.PROBLEM, values, (f"curl -sS -m 5 {address}/healthz",))
    elsewhere = await _elsewhere(context, endpoint)
    if elsewhere:
        values = {"address": address, "found": elsewhere}
        return Finding("searxng.wrong_port", Level.PROBLEM, values, (f"export SEARXNG_URL={elsewhere}",))
    if reached is None:
        what = {"address": address, "seen": seen}
        return Finding("searxng.other_service", Level.PROBLEM, what, (f"curl -sS {address}/config", "docker ps"))
    return (
        await _docker_cause(context)
        or _file_cause(context)
        or Finding("searxng.refused", Level.PROBLEM, {"address": address}, context.start_commands)
    )


async def _elsewhere(context: Context, endpoint: Endpoint) -> str | None:
    """Return the address of a SearXNG on another port of this machine."""
    parts = urlsplit(endpoint.base_url)
    if not is_loopback(parts.hostname or ""):
        return None
    ports = dict.fromkeys((*_port_in_file(context), *USUAL_PORTS))
    ports.pop(parts.port or 80, None)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    candidates = [urlunsplit(("http", f"{host}:{port}", "", "", "")) for port in ports]
    # Without the headers of the endpoint: its login is not for whatever else runs on this machine.
    heard = await asyncio.gather(
        *(ask(replace(endpoint, base_url=url, headers={}), "/config", timeout=_LOOK_TIMEOUT) for url in candidates)
    )
    return next((url for url, one in zip(candidates, heard, strict=True) if is_config(one.data)), None)


def _port_in_file(context: Context) -> tuple[int, ...]:
    file = context.known_settings_file
    if file is None:
        return ()
    try:
        return (SettingsFile.read(file).port,)
    except SettingsFileError:
        return ()


async def _docker_cause(context: Context) -> Finding | None:
    # Docker is asked only where a compose file says that it runs SearXNG.
    if not context.kit.compose.is_file() or context.without_docker:
        return None
    start = context.start_commands
    if await engine_state() is Engine.OFF:
        commands = ("sudo systemctl start docker", *start, f"{start[-1]} --no-docker")
        return Finding("searxng.docker_off", Level.PROBLEM, {}, commands)
    container = await container_of(context.kit.path)
    if container is None or container.runs:
        return None
    values = {"container": container.name, "state": container.status}
    return Finding("searxng.container_stopped", Level.PROBLEM, values, (context.logs_command, *start))


def _file_cause(context: Context) -> Finding | None:
    path = context.known_settings_file
    if path is None:
        return None
    try:
        file = SettingsFile.read(path)
    except SettingsFileError as error:
        return Finding("searxng.settings_file", Level.PROBLEM, {"file": path, "reason": error.fact})
    if not file.uses_defaults:
        return Finding("searxng.no_defaults", Level.PROBLEM, {"file": path}, context.start_commands)
    if file.has_default_secret and context.kit.secret is None:
        commands = (context.fix_command, *context.start_commands)
        return Finding("searxng.secret", Level.PROBLEM, {"file": path}, commands)
    return None
