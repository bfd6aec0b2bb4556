"""Why a SearXNG does not work: from the address over the port and the service behind it to the engines it asks."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final
from urllib.parse import urlsplit

from qiusuo.config import DEFAULT_SEARXNG_URL, Settings
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.doctor.searxng.absent import why_absent
from qiusuo.doctor.searxng.searches import json_refused, judge_searches, limiter_finding
from qiusuo.doctor.system import clock_findings
from qiusuo.doctor.wire import Heard, Reach, ask, reach
from qiusuo.engines.base import field_of
from qiusuo.engines.searxng import SearxngEngine, is_config
from qiusuo.engines.searxng_faults import describe, fault_of_reply, fault_of_wire, shown
from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.http import Endpoint
from qiusuo.http.api import proxy_for
from qiusuo.text import clean
from qiusuo.words import Fact

LOOK_TIMEOUT: Final = 2.0
# The whole examination must end within 8 s, and name, port and configuration are looked at before the searches.
MAX_SEARCH_TIMEOUT: Final = 4.5
QUERIES: Final = (("open source search engine", "en"), ("开源 搜索引擎", "zh-CN"))
OLD_AFTER_DAYS: Final = 365

# SearXNG's versions are dates: 2026.8.14+3c5b2a1.
_DATED: Final = re.compile(r"(20\d\d)\.(\d{1,2})\.(\d{1,2})")
_GONE: Final = {"searxng.dns", "searxng.refused", "searxng.unreachable", "searxng.other_service", "searxng.redirect"}


async def check_searxng(context: Examination) -> list[Finding]:
    """Examine the SearXNG of the settings; nothing where the service has no such engine."""
    place = context.roster.places.get(SearxngEngine.name)
    if place is None:
        return []
    found = address_findings(context.settings)
    engine = place.engine
    if not isinstance(engine, SearxngEngine):
        problem = place.problem
        return [*found, _bad_settings(problem)] if problem else found
    rest = await _examine(context, engine.endpoint)
    return [*found, *(rest if found or is_wanted(context) else _unasked(context, engine.endpoint, rest))]


def _unasked(context: Examination, endpoint: Endpoint, found: list[Finding]) -> list[Finding]:
    """Make of what is wrong with a SearXNG that nobody asked for what it is: none is there, or one elsewhere."""
    if any(finding.code in _GONE for finding in found):
        return [_none(context, endpoint)]
    return [
        replace(finding, level=Level.NOTE) if finding.code == "searxng.wrong_port" else finding for finding in found
    ]


def _none(context: Examination, endpoint: Endpoint) -> Finding:
    return context.fault(Fact("searxng.none", address=shown(endpoint.base_url)), Level.NOTE)


def address_findings(settings: Settings) -> list[Finding]:
    """Tell an address that was given and not taken."""
    variable = settings.variable_set("searxng_url")
    given = settings.env(variable) if variable else None
    if given is None or given == settings.searxng_url or settings.searxng_url != DEFAULT_SEARXNG_URL:
        return []
    host = given.rpartition("@")[2]  # whatever stands before an @ may be a password
    better = f"http://{host}" if re.fullmatch(r"[\w.-]+(:\d+)?(/\S*)?", host) else DEFAULT_SEARXNG_URL
    values = {"variable": variable, "given": repr(host), "used": DEFAULT_SEARXNG_URL}
    return [Finding("searxng.address", Level.PROBLEM, values, (f"export {variable}={better}",))]


def is_wanted(context: Examination) -> bool:
    """Tell whether somebody has asked for SearXNG, so that its absence is a problem."""
    settings = context.settings
    named = SearxngEngine.name in (settings.provider_priority or ())
    addressed = bool(settings.searxng_url or settings.engine(SearxngEngine.name).base_url)
    return named or addressed or context.settings_file is not None


def _bad_settings(error: SearchError) -> Finding:
    return Finding("searxng.settings", Level.PROBLEM, {"reason": error.told}, error.commands)


async def _examine(context: Examination, endpoint: Endpoint) -> list[Finding]:
    address = shown(endpoint.base_url)
    try:
        proxy = proxy_for(endpoint.base_url)
    except ConfigurationError as error:
        return [_bad_settings(error)]
    if proxy is None:
        reached = await reach(endpoint.base_url)
        if reached is not Reach.OPEN:
            return [await why_absent(context, endpoint, reached)]
    config, health = await asyncio.gather(
        ask(endpoint, "/config", timeout=LOOK_TIMEOUT), ask(endpoint, "/healthz", timeout=LOOK_TIMEOUT)
    )
    stranger = await _not_searxng(context, endpoint, config, health)
    if stranger is not None:
        if proxy is not None and await reach(endpoint.base_url) is Reach.OPEN:
            host = urlsplit(endpoint.base_url).hostname
            values = {"address": address, "proxy": shown(proxy)}
            return [Finding("searxng.proxy", Level.PROBLEM, values, (f'export NO_PROXY="$NO_PROXY,{host}"',))]
        return [stranger]
    version = clean(field_of(config.data, "version"), 40)
    limited = bool(field_of(config.data, "limiter", "enabled")) and await _limits_us(endpoint)
    update = context.commands.update(address)
    extra = [*(replace(one, commands=update) for one in _old(version)), *_clock(config, health)]
    if context.quick:
        return [*await _ready(context, endpoint, version, limited=limited), *extra]
    timeout = min(context.settings.timeout, MAX_SEARCH_TIMEOUT)
    # Each search uses up one of the few calls that a limiter allows.
    queries = QUERIES[:1] if limited else QUERIES
    searches = await asyncio.gather(
        *(
            ask(endpoint, "/search", {"q": text, "format": "json", "language": language}, timeout=timeout)
            for text, language in queries
        )
    )
    named = tuple(zip((language for _, language in queries), searches, strict=True))
    return [*judge_searches(context, address, version, named, limited=limited), *extra]


async def _ready(context: Examination, endpoint: Endpoint, version: str, *, limited: bool) -> list[Finding]:
    """Check the JSON API without a search: asked without a query it complains in JSON, or refuses JSON."""
    address = shown(endpoint.base_url)
    if limited:
        return [limiter_finding(context, address, refused=False)]
    heard = await ask(endpoint, "/search", {"format": "json"}, timeout=LOOK_TIMEOUT)
    if heard.timed_out:
        return [context.fault(Fact("searxng.timeout", address=address, seconds=LOOK_TIMEOUT))]
    refused = json_refused(context, address, heard)
    return [refused or Finding("searxng.ready", Level.OK, {"address": address, "version": version})]


async def _not_searxng(context: Examination, endpoint: Endpoint, config: Heard, health: Heard) -> Finding | None:
    """Return why what answers cannot be taken for SearXNG; None if it can."""
    address = shown(endpoint.base_url)
    healthy = health.status == 200 and health.reply is not None and health.reply.body.strip() == b"OK"  # noqa: PLR2004 - HTTP
    if is_config(config.data) or (healthy and await _complains_like_searxng(endpoint)):
        return None
    reply = config.reply
    if reply is None:
        return await _unheard(context, endpoint, config)
    fault = fault_of_reply(reply, address)
    if fault is None or fault[1].code == "searxng.other_service":
        # A search meets what is under /search: told by that, it has one name everywhere.
        met = await ask(endpoint, "/search", {"format": "json"}, timeout=LOOK_TIMEOUT)
        return await why_absent(context, endpoint, None, seen=describe(met.reply or reply))
    # Without its configuration nobody knows whether it is SearXNG that wants JSON to be allowed.
    off = fault[1].code == "searxng.json_off"
    return context.fault(Fact("searxng.login", address=address, status=reply.status) if off else fault[1])


async def _unheard(context: Examination, endpoint: Endpoint, heard: Heard) -> Finding:
    """Return why an open port gave no reply."""
    fact = heard.error.fact if heard.error else Fact("http.closed", host=endpoint.host)
    if heard.timed_out:
        if not is_wanted(context):
            return _none(context, endpoint)
        fact = Fact("searxng.timeout", address=shown(endpoint.base_url), seconds=LOOK_TIMEOUT)
    elif fact.code == "http.tls":
        fact = fault_of_wire(fact, shown(endpoint.base_url), LOOK_TIMEOUT)
    else:
        return await why_absent(context, endpoint, None, seen=fact)
    return context.fault(fact)


async def _limits_us(endpoint: Endpoint) -> bool:
    # Whoever is on its pass list may lack headers that its bot detection wants. That is looked at before the calls are
    # counted, so this uses up none of them.
    bare = {name: value for name, value in endpoint.headers.items() if name not in {"Accept", "Accept-Language"}}
    heard = await ask(replace(endpoint, headers=bare), "/search", {"format": "json"}, timeout=LOOK_TIMEOUT)
    return heard.status == 429  # noqa: PLR2004 - HTTP


async def _complains_like_searxng(endpoint: Endpoint) -> bool:
    # A proxy in front may hide /config; and other programs say OK under /healthz too.
    heard = await ask(endpoint, "/search", {"format": "json"}, timeout=LOOK_TIMEOUT)
    return heard.status == 400 and field_of(heard.data, "error") == "No query"  # noqa: PLR2004 - HTTP


def _old(version: str, today: date | None = None) -> list[Finding]:
    dated = _DATED.match(version)
    if dated is None:
        return []
    try:
        made = date(*(int(part) for part in dated.groups()))
    except ValueError:
        return []
    days = ((today or datetime.now(UTC).date()) - made).days
    if days <= OLD_AFTER_DAYS:
        return []
    # A note: an old one that works is no fault, and one that does not is named by its failing engines.
    return [Finding("searxng.old", Level.NOTE, {"version": version, "days": days})]


def _clock(*heard: Heard) -> list[Finding]:
    stamp = next((one.reply.headers.get("Date") for one in heard if one.reply and one.reply.headers.get("Date")), None)
    return clock_findings(stamp)
