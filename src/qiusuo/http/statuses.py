"""From a provider's error reply to our error: its status, and the sentence in its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from qiusuo.errors import (
    AuthFailed,
    BadResponse,
    EngineError,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    Unavailable,
)
from qiusuo.http.faults import told
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.http.api import Reply

_CODES: Final = {
    400: "http.request_refused",
    401: "http.key_refused",
    402: "http.credits_used_up",
    403: "http.denied",
    404: "http.unknown_address",
    405: "http.unknown_address",
    408: "http.gave_up",
    410: "http.unknown_address",
    422: "http.request_refused",
    429: "http.slow_down",
}
_KINDS: Final[dict[str, type[EngineError]]] = {
    "http.key_refused": AuthFailed,
    "http.denied": AuthFailed,
    "http.credits_used_up": QuotaExceeded,
    "http.slow_down": RateLimited,
    "http.gave_up": Unavailable,
    "http.failed": Unavailable,
    "http.redirect": BadResponse,
    "http.unknown_address": BadResponse,
}
_WAITS: Final = (QuotaExceeded, RateLimited, Unavailable)


def error_for_status(reply: Reply, detail: str, engine: str, host: str) -> EngineError:
    """Translate an HTTP status by the rules that hold for most providers."""
    status = reply.status
    code = _CODES.get(status) or _code_of_range(status)
    kind = _KINDS.get(code, RequestRejected)
    fact = Fact(code, host=host, status=status, engine=engine, said=told(detail))
    return kind(fact, engine=engine, status=status, retry_after=reply.retry_after if kind in _WAITS else None)


def _code_of_range(status: int) -> str:
    if status >= 500:  # noqa: PLR2004 - HTTP
        return "http.failed"
    return "http.redirect" if 300 <= status < 400 else "http.odd_status"  # noqa: PLR2004 - HTTP


def error_detail(data: Any, own: Sequence[str] = (), depth: int = 5) -> str:
    """Find the human sentence in a provider's error body, whatever shape it has; not deeper than ``depth``.

    It stands under one of the provider's ``own`` keys, or of those that are usual.
    """
    if depth and isinstance(data, dict):
        for key in (*own, "detail", "error", "errors", "message", "userMessage", "msg"):
            found = error_detail(data.get(key), own, depth - 1)
            if found:
                return found
    if depth and isinstance(data, list) and data:
        return error_detail(data[0], own, depth - 1)
    return data if isinstance(data, str) else ""
