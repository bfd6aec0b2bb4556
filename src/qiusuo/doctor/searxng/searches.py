"""What real searches tell about a SearXNG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.doctor.wire import Heard
from qiusuo.engines.base import field_of
from qiusuo.engines.searxng_faults import Silent, describe, fault_of_reply, listed_engines, silence, silent_engines
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError
from qiusuo.words import Fact

# A search that takes longer leaves no time for another engine within SEARCH_TIMEOUT.
SLOW_SECONDS: Final = 3.0
SLOW_SHARE: Final = 0.6
_LANGUAGES: Final = {"en": Fact("searxng.in_english"), "zh-CN": Fact("searxng.in_chinese")}


def judge_searches(
    context: Examination, address: str, version: str, searches: Sequence[tuple[str, Heard]], *, limited: bool
) -> list[Finding]:
    """Read one search in each language."""
    for _, heard in searches:
        refused = json_refused(context, address, heard)
        if refused is not None:
            return [refused]
    slowest = max(heard.seconds for _, heard in searches)
    found = [limiter_finding(context, address, refused=False)] if limited else []
    if any(heard.timed_out for _, heard in searches):
        return [*found, context.fault(Fact("searxng.timeout", address=address, seconds=round(slowest, 1)))]
    good = {language: contributing(heard) for language, heard in searches}
    silent: Silent = {}
    for _, heard in searches:
        silent |= silent_engines(field_of(heard.data, "unresponsive_engines"))
    answering = set().union(*good.values())
    if not answering:
        return [*found, context.fault(_nobody(address, silent))]
    if slowest > min(SLOW_SECONDS, SLOW_SHARE * context.settings.timeout):
        slow = Fact("searxng.slow", address=address, seconds=f"{slowest:.1f}", timeout=context.settings.timeout)
        found.append(context.fault(slow, Level.WARNING))
    found += _partial(address, good, silent)
    if not any(finding.level >= Level.WARNING for finding in found):
        values = {"address": address, "version": version, "engines": len(answering), "seconds": f"{slowest:.1f}"}
        found.insert(0, Finding("searxng.ok", Level.OK, values))
    return found


def json_refused(context: Examination, address: str, heard: Heard) -> Finding | None:
    """Return why a request for JSON got none; None if it got some, or timed out."""
    reply = heard.reply
    if reply is None:
        if heard.timed_out or heard.error is None:
            return None
        return context.fault(Fact("searxng.broken", address=address, message=heard.error.fact))
    if isinstance(reply.data, dict) and reply.status in {200, 400}:
        return None
    fault = fault_of_reply(reply, address)
    fact = fault[1] if fault else Fact("searxng.broken", address=address, message=describe(reply))
    return context.fault(_not_applied(context, fact) if fact.code == "searxng.json_off" else fact)


def limiter_finding(context: Examination, address: str, *, refused: bool) -> Finding:
    """Tell that the limiter is on, and whether it has refused us already."""
    code, level = ("searxng.limiter", Level.PROBLEM) if refused else ("searxng.limiter_on", Level.WARNING)
    return context.fault(Fact(code, address=address), level)


def contributing(heard: Heard) -> frozenset[str]:
    """Return the names of the engines whose results came."""
    rows = field_of(heard.data, "results")
    names: set[str] = set()
    for row in rows if isinstance(rows, list) else ():
        engines = field_of(row, "engines")
        names.update(
            str(name) for name in (engines if isinstance(engines, list) else [field_of(row, "engine")]) if name
        )
    return frozenset(names)


def _not_applied(context: Examination, off: Fact) -> Fact:
    """Look whether the settings file that is at hand allows JSON already."""
    path = context.known_settings_file
    if path is None:
        return off
    try:
        allowed = "json" in SettingsFile.read(path).formats
    except SettingsFileError:
        return off
    return Fact("searxng.json_not_applied", **off.values, file=str(path)) if allowed else off


def _nobody(address: str, silent: Silent) -> Fact:
    return silence(address, silent)[1] if silent else Fact("searxng.no_engines", address=address)


def _partial(address: str, good: dict[str, frozenset[str]], silent: Silent) -> list[Finding]:
    found: list[Finding] = []
    failing = listed_engines(silent) if silent else ""
    failed = Fact("searxng.or_failed", engines=failing) if silent else ""
    empty = [language for language, engines in good.items() if not engines]
    answering = set().union(*good.values())
    found += [
        Finding(
            "searxng.one_language",
            Level.WARNING,
            {"address": address, "language": _LANGUAGES[language], "failed": failed},
        )
        for language in empty
    ]
    if not silent:
        return found
    if len(answering) == 1 and len(silent) > 1:
        values = {"address": address, "good": next(iter(answering)), "engines": failing}
        return [*found, Finding("searxng.few_engines", Level.WARNING, values)]
    return [*found, Finding("searxng.some_silent", Level.NOTE, {"engines": failing})]
