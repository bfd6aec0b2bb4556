"""Running the checks side by side."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from qiusuo import plugins
from qiusuo.config import Settings
from qiusuo.doctor.context import Examination
from qiusuo.doctor.database import check_database
from qiusuo.doctor.files import check_files
from qiusuo.doctor.findings import Finding, Level
from qiusuo.doctor.model import check_model
from qiusuo.doctor.providers import check_providers, check_search
from qiusuo.doctor.searxng.check import check_searxng
from qiusuo.doctor.sign_in import check_sign_in
from qiusuo.doctor.spelling import check_spelling
from qiusuo.doctor.system import check_chrome, check_clock, check_plugins, check_redis, check_settings
from qiusuo.doctor.traces import check_traces
from qiusuo.doctor.workers import check_workers
from qiusuo.logs import in_short
from qiusuo.service import SearchService
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

Check = Callable[[Examination], Awaitable[list[Finding]]]
Progress = Callable[[str], None]
"""Told the name of each check when it has ended."""

# A new check is one function and one line here, or comes with a plug-in.
CHECKS: Final[Mapping[str, Check]] = {
    "settings": check_settings,
    "spelling": check_spelling,
    "plugins": check_plugins,
    "files": check_files,
    "search": check_search,
    "searxng": check_searxng,
    "providers": check_providers,
    "model": check_model,
    "redis": check_redis,
    "workers": check_workers,
    "database": check_database,
    "signin": check_sign_in,
    "traces": check_traces,
    "chrome": check_chrome,
    "clock": check_clock,
}
ON_THIS_LOOP: Final = frozenset({"search", "searxng", "providers"})
"""They ask the engines, whose connections belong to the loop; all else may block."""
TIME_LIMIT: Final = 7.8


def all_checks() -> dict[str, Check]:
    """Return the checks: ours, then those of plug-ins, which cannot take the place of ours."""
    found: dict[str, Check] = dict(CHECKS)
    added = (
        (name, check)
        for plugin in plugins.installed()
        for name, part in plugin.checks.items()
        if (check := plugins.load(plugin, part)) is not None
    )
    for name, check in added:
        found.setdefault(name, check)
    return found


async def examine(
    settings: Settings,
    service: SearchService | None = None,
    *,
    quick: bool = False,
    settings_file: Path | None = None,
    progress: Progress | None = None,
    leave_out: Collection[str] = (),
) -> list[Finding]:
    """Examine the set-up and return what was found, in the order of the checks; never takes longer than 8 s.

    Args:
        settings: The configuration to examine.
        service: A running service, whose engines are then examined; otherwise they are built for this one time.
        quick: Only what takes about a second and asks nothing outside: no searches, no probes of providers.
        settings_file: SearXNG's ``settings.yml``, where it is at hand.
        progress: Told the name of each check when it has ended.
        leave_out: Names of checks that the caller makes itself.
    """
    if service is None:
        async with SearchService.from_settings(settings) as own:
            options: dict[str, Any] = {"settings_file": settings_file, "progress": progress, "leave_out": leave_out}
            return await examine(settings, own, quick=quick, **options)
    context = Examination(settings, service.roster, quick=quick, settings_file=settings_file, service=service)
    checks = {name: check for name, check in all_checks().items() if name not in leave_out}
    results = await asyncio.gather(*(_run(name, check, context, progress) for name, check in checks.items()))
    found = [finding for result in results for finding in result]
    # Two checks may see the same, such as a wrong clock.
    return list({finding.code + repr(sorted(finding.values.items())): finding for finding in found}.values())


async def startup_notices(
    settings: Settings, service: SearchService | None = None, *, leave_out: Collection[str] = ()
) -> list[Finding]:
    """Return what a user should hear at the start: warnings and problems, from the quick checks. Never raises."""
    try:
        found = await examine(settings, service, quick=True, leave_out=leave_out)
    except Exception:  # a fault of the examination must not keep the program from starting
        logger.exception("the set-up could not be examined")
        return []
    return [finding for finding in found if finding.level >= Level.WARNING]


async def _in_time(check: Check, context: Examination) -> list[Finding]:
    async with asyncio.timeout(TIME_LIMIT):
        found: object = await check(context)  # of a plug-in it may be anything
    if not (isinstance(found, Sequence) and all(isinstance(one, Finding) for one in found)):
        raise TypeError(f"no list of findings: {found!r}")
    return list(found)


async def _run(name: str, check: Check, context: Examination, progress: Progress | None) -> list[Finding]:
    try:
        if name in ON_THIS_LOOP:
            return await _in_time(check, context)
        # An import, an index or a slow disk holds up its own thread alone, not the others' clocks.
        return await asyncio.to_thread(asyncio.run, _in_time(check, context))
    except TimeoutError:
        late = Fact("check.late", seconds=TIME_LIMIT)
        return [Finding("check.failed", Level.WARNING, {"name": name, "reason": late})]
    except Exception as error:  # one broken check must not hide what the others found
        logger.exception("the check %s failed", name)
        return [Finding("check.failed", Level.WARNING, {"name": name, "reason": in_short(error, words=False)})]
    finally:
        if progress is not None:
            progress(name)
