"""From a provider's error reply to our error: its status, and the sentence in its body."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from qiusuo.http.api import Reply

_STATUS_TEXT: Final = {
    400: "refused the request",
    401: "did not accept the key",
    402: "says the plan's credits are used up",
    403: "denied access",
    404: "does not know this address",
    408: "gave up waiting",
    422: "refused the request",
    429: "asks us to slow down",
}


def error_for_status(reply: Reply, detail: str, engine: str, host: str) -> EngineError:
    """Translate an HTTP status by the rules that hold for most providers."""
    status = reply.status
    said = f": {detail}" if detail else "."
    message = f"{host} {_STATUS_TEXT.get(status, 'failed')} (HTTP {status}){said}"
    common: dict[str, Any] = {"engine": engine, "status": status}
    if status in {401, 403}:
        return AuthFailed(message, fix=f"Check the key of {engine}.", **common)
    if status == 402:  # noqa: PLR2004
        return QuotaExceeded(
            message, fix=f"Top up the {engine} plan or wait for its reset.", retry_after=reply.retry_after, **common
        )
    if status == 429:  # noqa: PLR2004
        return RateLimited(message, fix="Wait a moment or lower the pace.", retry_after=reply.retry_after, **common)
    if status == 408 or status >= 500:  # noqa: PLR2004
        return Unavailable(
            message, retry_after=reply.retry_after, fix="The provider has a problem; try again later.", **common
        )
    if 300 <= status < 400:  # noqa: PLR2004
        return BadResponse(
            f"{host} answered with a redirect (HTTP {status}), which is not followed.",
            fix="Set the base URL to the final address.",
            **common,
        )
    if status in {404, 405, 410}:
        return BadResponse(message, fix=f"Check the base URL of {engine}.", **common)
    return RequestRejected(message, **common)


def error_detail(data: Any, depth: int = 5) -> str:
    """Find the human sentence in a provider's error body, whatever shape it has; not deeper than ``depth``."""
    if depth and isinstance(data, dict):
        for key in ("detail", "error", "errors", "message", "userMessage", "msg"):
            found = error_detail(data.get(key), depth - 1)
            if found:
                return found
    if depth and isinstance(data, list) and data:
        return error_detail(data[0], depth - 1)
    return data if isinstance(data, str) else ""
