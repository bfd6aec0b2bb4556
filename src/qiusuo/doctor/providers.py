"""Whether the engines that are set up can be used, each asked by its own cheapest probe."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.engines.base import Joins, Probe, SearchEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import AuthFailed, QuotaExceeded, SearchError, Unavailable
from qiusuo.models import SearchType
from qiusuo.roster import NATIVE
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

PROBE_TIMEOUT: Final = 5.0
NEARLY_USED_UP: Final = 0.9
_REFUSALS: Final[Mapping[type[SearchError], str]] = {AuthFailed: "provider.auth", QuotaExceeded: "provider.quota"}


async def check_search(context: Examination) -> list[Finding]:
    """Tell whether any engine takes part, and which names of the priority list are unknown."""
    roster, wanted = context.roster, context.settings.provider_priority or ()
    found = [
        Finding("search.unknown_engine", Level.WARNING, {"name": name, "known": list(roster.places)})
        for name in wanted
        if name not in roster.places and name != NATIVE
    ]
    names = [engine.name for engine in (await roster.available()).engines]
    if names:
        return [Finding("search.ok", Level.OK, {"engines": names}), *found]
    if NATIVE in wanted:  # the model's own search; the chat knows whether it has one
        return found
    if (await roster.available(SearchType.REGULATION)).engines:
        # Who has named nothing else wants it so.
        level = Level.NOTE if wanted else Level.WARNING
        return [Finding("search.laws_only", level, commands=context.commands.start), *found]
    off = roster.disabled()
    return [Finding("search.off", Level.PROBLEM, {"reason": off.told}, context.commands.start), *found]


async def check_providers(context: Examination) -> list[Finding]:
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
            # A fault of its code is told of any engine: nothing that is set could mend it.
            if problem is not None and (name in wanted or problem.fact.code == "engine.not_built"):
                values = {"label": place.kind.title or place.kind.label or name, "reason": problem.told}
                docs = place.kind.docs_url
                named = ("provider.not_set_up", Level.PROBLEM)
                code, level = named if name in wanted else ("provider.failed", Level.WARNING)
                found.append(Finding(code, level, values, problem.commands, docs_url=docs))
        elif name in taking_part or name in wanted or (engine.key_env and engine.joins is not Joins.NAMED):
            examined.append(engine)
    if context.quick:  # a probe goes outside, and some providers limit how often
        return found
    return [*found, *await asyncio.gather(*(_examine(engine) for engine in examined))]


async def _examine(engine: SearchEngine) -> Finding:
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            probe = await engine.probe()
    except TimeoutError:
        return _failed(engine, Unavailable(Fact("provider.late", seconds=PROBE_TIMEOUT)))
    except SearchError as error:
        return _failed(engine, error)
    except Exception as error:  # an engine may be anybody's plug-in
        logger.exception("the probe of %s failed", engine.name)
        return _failed(engine, Unavailable(Fact("search.engine_broke", fault=type(error).__name__)))
    return _working(engine, probe)


def _failed(engine: SearchEngine, error: SearchError) -> Finding:
    code = _REFUSALS.get(type(error))
    level = Level.PROBLEM if code else Level.WARNING
    values = {"label": engine.title or engine.label or engine.name, "reason": error.told}
    return Finding(code or "provider.failed", level, values, error.commands, docs_url=engine.docs_url)


def _working(engine: SearchEngine, probe: Probe | None) -> Finding:
    values: dict[str, object] = {"label": engine.title or engine.label or engine.name}
    if probe is None:
        if engine.key_env:
            return Finding("provider.not_probed", Level.NOTE, values)
        return Finding("provider.keyless", Level.NOTE, values, (f"qiusuo search --engine {engine.name} qiusuo",))
    if probe.used is None or not probe.limit:
        return Finding("provider.ok", Level.OK, values)
    values |= {"used": probe.used, "limit": probe.limit}
    if probe.used >= NEARLY_USED_UP * probe.limit:
        return Finding("provider.nearly_used_up", Level.WARNING, values, docs_url=engine.docs_url)
    return Finding("provider.usage", Level.OK, values)
