"""Whether the engines that are set up can be used, each asked by its own cheapest probe."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from qiusuo.doctor.context import Context
from qiusuo.doctor.findings import Finding, Level
from qiusuo.engines.base import Joins, Probe, SearchEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import AuthFailed, QuotaExceeded, SearchError
from qiusuo.models import SearchType
from qiusuo.roster import NATIVE

PROBE_TIMEOUT: Final = 5.0
NEARLY_USED_UP: Final = 0.9
_REFUSALS: Final[Mapping[type[SearchError], str]] = {AuthFailed: "provider.auth", QuotaExceeded: "provider.quota"}


async def check_search(context: Context) -> list[Finding]:
    """Tell whether any engine takes part, and which names of the priority list are unknown."""
    roster, wanted = context.roster, context.settings.provider_priority or ()
    known = ", ".join(roster.places)
    found = [
        Finding("search.unknown_engine", Level.WARNING, {"name": name, "known": known})
        for name in wanted
        if name not in roster.places and name != NATIVE
    ]
    names = [engine.name for engine in (await roster.available()).engines]
    if names:
        return [Finding("search.ok", Level.OK, {"engines": ", ".join(names)}), *found]
    if NATIVE in wanted:  # the model's own search; the chat knows whether it has one
        return found
    if (await roster.available(SearchType.REGULATION)).engines:
        # Who has named nothing else wants it so.
        level = Level.NOTE if wanted else Level.WARNING
        return [Finding("search.laws_only", level, commands=context.commands.start), *found]
    off = roster.disabled()
    values = {"message": off.message, "fix": off.fix}
    return [Finding("search.off", Level.PROBLEM, values, context.commands.start), *found]


async def check_providers(context: Context) -> list[Finding]:
    """Examine every engine that is set up or named, but SearXNG, which has a check of its own."""
    roster, wanted = context.roster, context.settings.provider_priority or ()
    taking_part = {engine.name for engine in (await roster.available()).engines}
    found: list[Finding] = []
    examined: list[SearchEngine] = []
    for name, place in roster.places.items():
        engine, problem = place.engine, place.problem
        if name == SearxngEngine.name:
            continue
        if engine is None:
            if name in wanted and problem is not None:
                values = {"label": place.kind.label or name, "message": problem.message, "fix": problem.fix}
                found.append(Finding("provider.not_set_up", Level.PROBLEM, values, docs_url=place.kind.docs_url))
        elif name in taking_part or name in wanted or (engine.key_env and engine.joins is not Joins.NAMED):
            examined.append(engine)
    if context.quick:  # a probe goes outside, and some providers limit how often
        return found
    return [*found, *await asyncio.gather(*(_examine(engine) for engine in examined))]


async def _examine(engine: SearchEngine) -> Finding:
    label = engine.label or engine.name
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            probe = await engine.probe()
    except TimeoutError:
        return _failed(engine, f"no answer within {PROBE_TIMEOUT:g} s.", "Check the network and the proxy.")
    except SearchError as error:
        values = {"label": label, "message": error.message, "fix": error.fix}
        code = _REFUSALS.get(type(error))
        if code is None:
            return Finding("provider.failed", Level.WARNING, values, docs_url=engine.docs_url)
        return Finding(code, Level.PROBLEM, values, docs_url=engine.docs_url)
    except Exception as error:  # noqa: BLE001 - an engine may be anybody's plug-in
        return _failed(engine, type(error).__name__, "")
    return _working(engine, probe)


def _failed(engine: SearchEngine, message: str, fix: str) -> Finding:
    values = {"label": engine.label or engine.name, "message": message, "fix": fix}
    return Finding("provider.failed", Level.WARNING, values, docs_url=engine.docs_url)


def _working(engine: SearchEngine, probe: Probe | None) -> Finding:
    values: dict[str, object] = {"label": engine.label or engine.name}
    if probe is None:
        return Finding("provider.not_probed" if engine.key_env else "provider.keyless", Level.NOTE, values)
    if probe.used is None or not probe.limit:
        return Finding("provider.ok", Level.OK, values)
    values |= {"used": probe.used, "limit": probe.limit}
    if probe.used >= NEARLY_USED_UP * probe.limit:
        return Finding("provider.nearly_used_up", Level.WARNING, values, docs_url=engine.docs_url)
    return Finding("provider.usage", Level.OK, values)
