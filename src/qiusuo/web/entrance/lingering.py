"""A refusal reaches who is still sending: what is on its way is taken off the wire for a moment, and dropped.

A connection that is closed with bytes unread is reset, and the client's system may drop the answer with it. nginx calls
the same a lingering close.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.types import Message, Receive, Send

LINGER_SECONDS: Final = 5.0
LINGER_BYTES: Final = 64 * 1024 * 1024


def lingering(headers: Mapping[bytes, bytes], receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Return the two sides of a request; an answer that closes the connection waits for the rest of the body."""
    if b"transfer-encoding" not in headers and headers.get(b"content-length", b"0") == b"0":
        return receive, send
    unread, closes = True, False

    async def receive_noted() -> Message:
        nonlocal unread
        message = await receive()
        unread = bool(message.get("more_body"))
        return message

    async def drop_the_rest() -> None:
        dropped = 0
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while unread and dropped < LINGER_BYTES:
                    dropped += len((await receive_noted()).get("body", b""))
        except TimeoutError:
            pass

    async def send_lingering(message: Message) -> None:
        nonlocal closes
        if message["type"] == "http.response.start":
            closes = any(
                name.lower() == b"connection" and value.lower() == b"close" for name, value in message["headers"]
            )
        elif unread and closes and not message.get("more_body"):
            await send({**message, "more_body": True})
            await drop_the_rest()
            message = {"type": "http.response.body"}
        await send(message)

    return receive_noted, send_lingering
