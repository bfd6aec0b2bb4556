"""What search stands on: valid settings, plug-ins, Redis, Chrome, the clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter, ValidationError

from qiusuo import plugins
from qiusuo.browser.locate import find_chrome
from qiusuo.commands import at_hand, for_systemd
from qiusuo.config import Settings, variable_name
from qiusuo.config.files import read_config_file
from qiusuo.config.places import problem_with
from qiusuo.config.server import is_loopback
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.engines import left_out
from qiusuo.engines.searxng_faults import shown
from qiusuo.errors import ConfigurationError, EngineNotConfigured
from qiusuo.kit.process import port_is_free
from qiusuo.storage.redis import SharedState, SharedStateGone
from qiusuo.tools.specs import plugin_tools
from qiusuo.words import Fact
from qiusuo.words.catalogue import faults_of_plugins

GOOGLE: Final = "google"
# This version was not there earlier, so a clock that says so is wrong.
EARLIEST: Final = datetime(2026, 8, 1, tzinfo=UTC)
MAX_SKEW_SECONDS: Final = 300
REDIS_PORT: Final = 6379


async def check_settings(context: Examination) -> list[Finding]:
    """Tell the values that were not taken, from the environment or the file below it.

    An address of SearXNG in the environment has a check of its own.
    """
    found: list[Finding] = []
    in_file = file_values(context.settings)
    for name in Settings.SEED_FIELDS:
        older, variable = variable_name(name), context.settings.variable_set(name)
        values: dict[str, object] = {"used": getattr(context.settings, name)}
        if variable is not None:
            given = context.settings.env(variable)
            problem = _problem(name, given) if name not in {"provider_priority", "searxng_url"} else None
            if problem is not None:
                values |= {"variable": variable, "problem": problem}
                found.append(Finding("settings.invalid", Level.WARNING, values, (f"unset {variable}",)))
        elif name in in_file or older in in_file:
            problem = _problem(name, in_file.get(name, in_file.get(older)))
            if problem is not None:
                values |= {"name": name, "file": context.settings.config_file, "problem": problem}
                found.append(Finding("settings.invalid_in_file", Level.WARNING, values))
    return found


def file_values(settings: Settings) -> dict[str, Any]:
    """Return what the configuration file holds now; nothing where there is none."""
    try:
        return read_config_file(settings.config_file) if settings.config_file else {}
    except ConfigurationError:  # gone or broken since it was read
        return {}


def _problem(name: str, given: Any) -> Fact | None:
    """Return what is wrong with a value; a list may be written as a text with commas."""
    field = Settings.model_fields[name]
    if name == "provider_priority" and isinstance(given, str):
        return None
    bounded: Any = field.annotation
    for bound in field.metadata:
        bounded = Annotated[bounded, bound]
    try:
        TypeAdapter(bounded, config=ConfigDict(allow_inf_nan=False)).validate_python(given)
    except ValidationError as error:
        return problem_with(name, error.errors(include_input=False)[0])
    return None


async def check_redis(context: Examination) -> list[Finding]:
    """Ask the shared Redis, where one is set."""
    secret = context.settings.redis_url
    if secret is None:
        return []
    address = shown(secret.get_secret_value())
    try:
        shared = SharedState(secret.get_secret_value())
    except ConfigurationError as error:
        values = {"address": address, "reason": error.told}
        return [Finding("redis.failed", Level.WARNING, values, error.commands)]
    try:
        await shared.run(lambda redis: redis.ping())
    except SharedStateGone:
        values = {"address": address, "reason": Fact("redis.silent")}
        return [Finding("redis.failed", Level.WARNING, values, _start_redis(secret.get_secret_value()))]
    finally:
        await shared.aclose()
    return [Finding("redis.ok", Level.OK, {"address": address})]


def _start_redis(url: str) -> tuple[str, ...]:
    """Return the command that starts a Redis here, where the address is of this machine and nobody listens there."""
    parts = urlsplit(url)
    port = parts.port or REDIS_PORT
    if parts.scheme != "redis" or not is_loopback(parts.hostname or "localhost") or not port_is_free(port):
        return ()
    return at_hand(f"redis-server --port {port} --daemonize yes")


async def check_chrome(context: Examination) -> list[Finding]:
    """Look for the browser that the google engine drives."""
    if GOOGLE not in context.roster.places:
        return []
    try:
        path = find_chrome(context.settings.env)
    except EngineNotConfigured as missing:
        named = GOOGLE in (context.settings.provider_priority or ())
        level = Level.PROBLEM if named else Level.NOTE
        return [Finding("chrome.missing", level, {"reason": missing.told}, missing.commands)]
    return [Finding("chrome.ok", Level.OK, {"path": path})]


async def check_plugins(context: Examination) -> list[Finding]:
    """Tell what of the plug-ins cannot be loaded, which names several have, and what is wrong with their words."""
    if context.service is not None and not context.quick:
        await asyncio.to_thread(plugin_tools, context.service)
    faults = await asyncio.to_thread(plugins.broken, surfaces=not context.quick)
    facts = (*(one.fact for one in faults), *await asyncio.to_thread(left_out))
    found = [Finding(fact.code, Level.WARNING, dict(fact.values)) for fact in facts]
    found += [
        Finding("plugin.clash", Level.WARNING, {"name": name, "plugins": list(several)})
        for name, several in plugins.clashes()
    ]
    wrong = await asyncio.to_thread(lambda: list(faults_of_plugins()))
    return found + [Finding("plugin.words", Level.WARNING, {"file": file, "message": told}) for file, told in wrong]


async def check_clock(_context: Examination) -> list[Finding]:
    """Look at this machine's clock alone; the check of SearXNG compares it with SearXNG's."""
    return clock_findings(None)


def clock_findings(date_header: str | None, now: datetime | None = None) -> list[Finding]:
    """Compare the clock with the ``Date`` of somebody's reply, or without one with what cannot be."""
    now = now or datetime.now(UTC)
    wrong = now < EARLIEST
    if date_header:
        try:
            theirs = parsedate_to_datetime(date_header)
        except ValueError:
            theirs = now
        theirs = theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)
        wrong = abs((now - theirs).total_seconds()) > MAX_SKEW_SECONDS
    if not wrong:
        return []
    command = for_systemd("timedatectl set-ntp true")
    return [Finding("clock.wrong", Level.WARNING, {"now": f"{now:%Y-%m-%d %H:%M} UTC"}, command)]
