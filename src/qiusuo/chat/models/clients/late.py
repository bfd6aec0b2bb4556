"""Clients of models: made late, outside the event loop, and closed with what they hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from langchain_core.language_models import BaseChatModel

from qiusuo.loops import PerLoop


class Built:
    """A client that is made when it is first asked for, in a thread: imports and certificates take their time."""

    def __init__(self, build: Callable[[], BaseChatModel]) -> None:
        self._build = build
        self._lock = asyncio.Lock()
        self._chat: BaseChatModel | None = None

    async def chat(self) -> BaseChatModel:
        async with self._lock:
            if self._chat is None:
                self._chat = await asyncio.to_thread(self._build)
            return self._chat

    async def aclose(self) -> None:
        chat, self._chat = self._chat, None
        # Only connections that were made for this model; those of the packages' own are shared with others.
        if (http := getattr(chat, "http_async_client", None)) is not None:
            await http.aclose()
        if (http := getattr(chat, "http_client", None)) is not None:
            http.close()


async def close_all(clients: PerLoop[Built]) -> None:
    """Close the clients of every loop."""
    for loop, built in clients.drain():
        if loop is asyncio.get_running_loop():
            await built.aclose()
        elif loop.is_running():
            # Not awaited: that loop may be the very one that waits for us.
            asyncio.run_coroutine_threadsafe(built.aclose(), loop)
