"""What can be wrong with a SearXNG, as facts: the engine meets them, and the doctor finds the same ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from qiusuo.errors import (
    ApiDisabled,
    AuthFailed,
    BadResponse,
    Blocked,
    EngineError,
    RateLimited,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http import Reply
from qiusuo.text import clean
from qiusuo.words import Fact

Silent = dict[str, str]
"""The engines of SearXNG that did not answer, with their messages."""

Fault = tuple[type[EngineError], Fact]

_MAX_NAMED_ENGINES: Final = 8
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_SILENCES: Final[Mapping[str, tuple[type[EngineError], str]]] = {
    "blocked": (Blocked, "searxng.engines_blocked"),
    "timeout": (SearchTimeout, "searxng.engines_timeout"),
    "offline": (Unavailable, "searxng.engines_offline"),
}


def fault_of_reply(reply: Reply, address: str) -> Fault | None:
    """Return what an error reply says of the SearXNG at ``address``; None where it is about the request alone."""
    status = reply.status
    if status == 429:  # noqa: PLR2004 - HTTP
        return RateLimited, Fact("searxng.limiter", address=address)
    if status == 403 and reply.is_html:  # noqa: PLR2004 - HTTP
        return ApiDisabled, Fact("searxng.json_off", address=address)
    if status in {401, 403, 407}:
        return AuthFailed, Fact("searxng.login", address=address, status=status)
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP
        return BadResponse, Fact("searxng.redirect", address=address, target=redirect_target(reply))
    if status >= 500:  # noqa: PLR2004 - HTTP
        return Unavailable, Fact("searxng.broken", address=address, message=describe(reply))
    if status in {404, 405, 410}:
        return BadResponse, Fact("searxng.other_service", address=address, seen=describe(reply))
    return None


def fault_of_wire(fact: Fact, address: str, patience: float) -> Fact:
    """Return what a failed connection says of the SearXNG at ``address``; other facts stay as they are."""
    match fact.code:
        case "http.refused":
            return Fact("searxng.refused", address=address)
        case "http.dns":
            return Fact("searxng.dns", host=urlsplit(address).hostname or "", address=address)
        case "http.timeout_connect" | "http.no_route":
            return Fact("searxng.unreachable", address=address, seconds=fact.values.get("seconds", patience))
        case "http.timeout_answer":
            return slow(address, fact.values.get("seconds", patience))
        case "http.tls":
            return Fact("searxng.tls", address=address, message=fact.values.get("words", ""))
        case "http.closed" | "http.connection_failed" | "http.broke_off":
            return Fact("searxng.broken", address=address, message=fact)
        case _:
            return fact


def slow(address: str, seconds: float) -> Fact:
    """Return that a search did not end within the time that it had."""
    return Fact("searxng.slow", address=address, seconds=f"> {seconds:.1f}", timeout=f"{round(seconds, 1):g}")


def silence(address: str, silent: Silent) -> Fault:
    """Return why nothing was found, where engines of SearXNG did not answer."""
    # "HTTP connection error" from everybody: it is not the sites that fail.
    kinds = {"offline" if "connection" in message.lower() else failure_kind(message) for message in silent.values()}
    other: tuple[type[EngineError], str] = (Unavailable, "searxng.engines_failing")
    kind, code = _SILENCES.get(kinds.pop(), other) if len(kinds) == 1 else other
    return kind, Fact(code, address=address, engines=listed_engines(silent))


def silent_engines(value: object) -> Silent:
    """Read ``unresponsive_engines``."""
    rows: Iterable[object] = value if isinstance(value, list) else ()
    return {str(row[0]): str(row[1]) for row in rows if isinstance(row, list) and len(row) > 1}


def failure_kind(message: str) -> str:
    """Tell a refusal (``blocked``) from a ``timeout`` and from anything ``other``."""
    # "Suspended: CAPTCHA" is a CAPTCHA of some minutes ago.
    text = message.lower()
    if any(word in text for word in ("captcha", "denied", "too many requests")):
        return "blocked"
    return "timeout" if "timeout" in text else "other"


def listed_engines(silent: Silent) -> Fact | tuple[str, ...]:
    """Name the engines that did not answer, with their messages; not more than a few."""
    named = tuple(f"{engine} ({message})" for engine, message in silent.items())
    more = len(named) - _MAX_NAMED_ENGINES
    return Fact("searxng.and_more", engines=named[:_MAX_NAMED_ENGINES], count=more) if more > 0 else named


def describe(reply: Reply) -> tuple[str, ...]:
    """Say in a few words what has answered: its title, its server, its status."""
    title = _TITLE.search(reply.text[:20_000])
    parts = (
        f"“{clean(title[1], 60)}”" if title and clean(title[1]) else "",
        clean(reply.headers.get("Server", ""), 40),
        f"HTTP {reply.status}",
    )
    return tuple(part for part in parts if part)


def redirect_target(reply: Reply) -> str:
    """Return the address of the SearXNG to which a reply leads."""
    return shown(clean(reply.headers.get("Location", ""), 200)).removesuffix("/config").removesuffix("/search")


def shown(url: str) -> str:
    """Return an address without login, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
