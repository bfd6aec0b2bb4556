"""Bodies that come packed (``Content-Encoding``): unpacked as far as the limit goes, before anybody reads them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.types import Message, Receive, Scope

from qiusuo.web.errors import Refusal
from qiusuo.words import Fact

ACCEPTED: Final = "gzip, deflate"
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_WITH_HEADER: Final = 32 + zlib.MAX_WBITS
"""zlib finds out whether it is gzip's header or its own."""
_LEFT_OUT: Final = frozenset({b"content-encoding", b"content-length"})


def coding_of(header: bytes | None) -> str | None:
    """Return how a body is packed; None where it is not.

    Raises:
        Refusal: in a way that is not unpacked here.
    """
    coding = (header or b"").decode("latin-1").strip().lower()
    if coding in {"", "identity"}:
        return None
    if coding not in _GZIP and coding != "deflate":
        raise Refusal(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            Fact("web.body_coding", known=ACCEPTED),
            headers={"Accept-Encoding": ACCEPTED, "Connection": "close"},
        )
    return coding


def unpacked(scope: Scope, receive: Receive, limit: int, too_large: Callable[[int], Refusal]) -> tuple[Scope, Receive]:
    """Return a request whose body is plain; reading it raises a Refusal where it is too large or no such thing."""
    engine = zlib.decompressobj(_WITH_HEADER)
    taken = 0

    async def receive_unpacked() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] != "http.request":
            return message
        more = bool(message.get("more_body"))
        try:
            plain = engine.decompress(message.get("body", b""), limit + 1 - taken)
        except zlib.error:
            raise _broken() from None
        taken += len(plain)
        if taken > limit or engine.unconsumed_tail:
            raise too_large(limit)
        if not more and not engine.eof:
            raise _broken()
        return {**message, "body": plain}

    headers = [(name, value) for name, value in scope["headers"] if name not in _LEFT_OUT]
    return {**scope, "headers": headers}, receive_unpacked


def _broken() -> Refusal:
    return Refusal(HTTPStatus.BAD_REQUEST, Fact("web.body_not_packed"), headers={"Connection": "close"})
