"""A question that was not begun because the server stops: nginx is told to ask another server.

nginx can repeat a request by its status alone, and 503 is also said of questions for which a model was asked. So the
server itself says which may be repeated, to a proxy that has said that it can (docs/deployment.md#several-servers).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.types import Scope

_ASKED: Final = b"x-qiusuo-elsewhere"
"""Sent by the proxy, with the statuses of the servers that it has asked before."""
_STATUS: Final = b"503"
_MOST: Final = 4
"""So many servers are asked; if all of them stop, people are told."""
_NOT_BEGUN: Final = "not_begun"
_TO_ANOTHER: Final = (b"x-accel-redirect", b"@elsewhere")


def note_not_begun(scope: Scope) -> None:
    """Note that a request is refused before anything was done for it."""
    scope.setdefault("state", {})[_NOT_BEGUN] = True


def elsewhere_headers(scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[tuple[bytes, bytes], ...]:
    """Return the header that lets nginx ask another server; none where it cannot, or must not."""
    tried = headers.get(_ASKED)
    if tried is None or not scope.get("state", {}).get(_NOT_BEGUN) or tried.count(_STATUS) >= _MOST - 1:
        return ()
    return (_TO_ANOTHER,)
