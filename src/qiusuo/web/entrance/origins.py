"""Web pages of other origins, and programs made of them, that the operator lets call the server (CORS)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from starlette.responses import Response
from starlette.types import Scope

ANY: Final = "*"
_DAY: Final = "86400"
_METHODS: Final = "GET, HEAD, POST, PATCH, DELETE, OPTIONS"
_EXPOSED: Final = (
    b"x-request-id, retry-after, content-language, mcp-session-id, www-authenticate, x-qiusuo-budget-anew, "
    b"x-qiusuo-searches-used, x-qiusuo-searches-limit, x-qiusuo-model-tokens-used, x-qiusuo-model-tokens-limit"
)
_LONGEST: Final = 2000

Headers = Mapping[bytes, bytes]


class AllowedOrigins:
    """The origins that are named in the settings; with ``*`` all."""

    def __init__(self, origins: Iterable[str] | None) -> None:
        self._origins = frozenset(origins or ())

    def allowed(self, headers: Headers) -> bytes | None:
        """Return the origin of a request if it may call, else None."""
        origin = headers.get(b"origin")
        if origin is None or origin == b"null":  # any page can make itself one without a name
            return None
        known = ANY in self._origins or origin.decode("latin-1").lower() in self._origins
        return origin if known else None

    def preflight(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a browser that asks whether a page may call; None where it asks something else."""
        if scope["method"] != "OPTIONS" or b"access-control-request-method" not in headers:
            return None
        if self.allowed(headers) is None:
            return None
        asked = headers.get(b"access-control-request-headers", b"").decode("latin-1")[:_LONGEST]
        told = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Max-Age": _DAY}
        if asked:
            told["Access-Control-Allow-Headers"] = asked
        if headers.get(b"access-control-request-private-network") == b"true":
            told["Access-Control-Allow-Private-Network"] = "true"
        return Response(status_code=204, headers=told)


def cors_headers(origin: bytes) -> list[tuple[bytes, bytes]]:
    """Return what lets a page of an origin read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]
