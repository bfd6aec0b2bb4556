"""The events of a turn as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import orjson
from starlette.responses import StreamingResponse

from qiusuo.chat.live.conversations import LiveTurn
from qiusuo.chat.live.elsewhere import RemoteTurn
from qiusuo.chat.live.running import Numbered
from qiusuo.web.language import language_headers
from qiusuo.words import Language

PING_SECONDS: Final = 10.0
EVENT_STREAM: Final = "text/event-stream"
_STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def event_stream(live: LiveTurn | RemoteTurn, wished: Language | None, after: int = -1) -> StreamingResponse:
    """Return the events of a turn as server-sent events; who hangs up stops nothing.

    They are told in the language that was asked for, else in that of the turn.
    """
    language = wished or Language(live.record.language)
    headers = {**_STREAM_HEADERS, **language_headers(language)}
    return StreamingResponse(_server_sent(live, after, language), media_type=EVENT_STREAM, headers=headers)


async def _server_sent(live: LiveTurn | RemoteTurn, after: int, language: Language) -> AsyncIterator[bytes]:
    batches = live.follow(after)
    pending: asyncio.Task[list[Numbered]] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(batches))
            done, _ = await asyncio.wait([pending], timeout=PING_SECONDS)
            if not done:
                yield b": ping\n\n"  # keeps proxies from hanging up, and tells us of clients that have
                continue
            batch, pending = pending, None
            try:
                yield b"".join(_event(number, event.to_dict(language)) for number, event in batch.result())
            except StopAsyncIteration:
                return
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.wait([pending])  # a generator that still runs cannot be closed
        await batches.aclose()


def _event(number: int, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, data["type"].encode(), orjson.dumps(data))
