"""Why there is no SearXNG at its address: another port, a file it cannot start with, Docker, or simply not started."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from qiusuo.config.server import is_loopback
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding
from qiusuo.doctor.wire import CONNECT_TIMEOUT, Reach, ask
from qiusuo.engines.searxng import is_config
from qiusuo.engines.searxng_faults import shown
from qiusuo.http import Endpoint
from qiusuo.kit.docker import Engine, container_of, engine_state
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError
from qiusuo.words import Fact, Value

# Where SearXNG listens by default: in its container, and without one.
USUAL_PORTS: Final = (8080, 8888)
_LOOK_TIMEOUT: Final = 0.7


async def why_absent(context: Examination, endpoint: Endpoint, reached: Reach | None, *, seen: Value = "") -> Finding:
    """Return the cause; ``reached`` is None where something answered that is not SearXNG (``seen`` says what)."""
    address = shown(endpoint.base_url)
    if reached is Reach.DNS:
        return context.fault(Fact("searxng.dns", host=urlsplit(address).hostname or "", address=address))
    if reached is Reach.UNREACHABLE:
        return context.fault(Fact("searxng.unreachable", address=address, seconds=CONNECT_TIMEOUT))
    elsewhere = await _elsewhere(context, endpoint)
    if elsewhere:
        return context.fault(Fact("searxng.wrong_port", address=address, found=elsewhere))
    if reached is None:
        return context.fault(Fact("searxng.other_service", address=address, seen=seen))
    cause = await _docker_cause(context) or _file_cause(context) or Fact("searxng.refused", address=address)
    return context.fault(cause)


async def _elsewhere(context: Examination, endpoint: Endpoint) -> str | None:
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


def _port_in_file(context: Examination) -> tuple[int, ...]:
    file = context.known_settings_file
    if file is None:
        return ()
    try:
        return (SettingsFile.read(file).port,)
    except SettingsFileError:
        return ()


async def _docker_cause(context: Examination) -> Fact | None:
    # Docker is asked only where a compose file says that it runs SearXNG.
    if not context.kit.compose.is_file() or context.commands.without_docker:
        return None
    if await engine_state() is Engine.OFF:
        return Fact("searxng.docker_off")
    container = await container_of(context.kit.path)
    if container is None or container.runs:
        return None
    return Fact("searxng.container_stopped", container=container.name, state=container.status)


def _file_cause(context: Examination) -> Fact | None:
    path = context.known_settings_file
    if path is None:
        return None
    try:
        file = SettingsFile.read(path)
    except SettingsFileError as error:
        return Fact("searxng.settings_file", file=str(path), message=error.fact)
    if not file.uses_defaults:
        return Fact("searxng.no_defaults", file=str(path))
    if file.has_default_secret and context.kit.secret is None:
        return Fact("searxng.secret", file=str(path))
    return None
