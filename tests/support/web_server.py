"""The app in a real uvicorn on a free loopback port, with loopback providers behind it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx

from qiusuo.config import Settings
from qiusuo.http.guard import FetchPolicy
from qiusuo.pages import PageReader
from qiusuo.service import SearchService
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.web.app import QiusuoApp, create_app
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.entrance.server import Server
from tests.support.world import World

ARTICLE = """<!doctype html><html lang="zh-CN"><head><title>求索文章</title></head><body><article><h1>求索文章</h1>
<p>路漫漫其修远兮，吾将上下而求索。这一段足够长，读者可以从中得到完整的意思，而不仅仅是一个标题。</p>
<p>第二段继续说明：搜索服务把多个引擎合而为一，并为每次搜索留下回执。</p></article></body></html>"""


@dataclass(frozen=True)
class Site:
    """Where the pages are; ``silent_url`` never answers."""

    url: str = ""
    silent_url: str = ""


class Pages(Provider):
    """Plays a web site."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - open to all
        return True

    def answer(self, seen: Seen) -> Answer:
        return Answer(ARTICLE) if seen.path == "/article" else Answer("<p>Gone.", 404)


@contextmanager
def page_site() -> Iterator[tuple[Site, PageReader]]:
    """Give a web site on loopback and a reader that may read it, though it reads nothing else that is private."""
    with ProviderServer(Pages()) as server, ProviderServer(Pages(), fault=Fault.HANG) as silent:
        ports = frozenset({80, 443, server.port, silent.port})
        policy = FetchPolicy(allowed_ports=ports, allow_private=("127.0.0.1",))
        yield Site(server.url, silent.url), PageReader(policy)


class PromptServer(Server):
    """Stops when it is told to and nobody is connected; uvicorn looks ten times in a second whether it was."""

    def __init__(self, app: QiusuoApp, **options: Any) -> None:
        super().__init__(app, **options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        ticking, told = (asyncio.create_task(each) for each in (super().main_loop(), self._told.wait()))
        await asyncio.wait({ticking, told}, return_when=asyncio.FIRST_COMPLETED)
        for task in (ticking, told):
            task.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for _ in range(5):  # that the client has gone is noticed in a turn of the loop
            await asyncio.sleep(0)
        if self._is_busy():
            await super().shutdown(sockets)
            return
        # uvicorn would wait a tenth of a second for connections that are not there.
        self.app.stopping()
        self.app.stop_streams()
        for server in self.servers:
            server.close()
        await self.lifespan.shutdown()

    def stop(self) -> None:
        self.should_exit = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._told.set)


class WebServer:
    """Serves until closed; ``client`` talks to it. ``world`` has the providers of a server made with names."""

    def __init__(
        self,
        service: SearchService,
        settings: Settings | None = None,
        *,
        world: World | None = None,
        reader: PageReader | None = None,
        extensions: Sequence[Extend] = (),
    ) -> None:
        self._world = world
        self.site = Site()
        self.app = create_app(service, settings, reader=reader, extensions=[_closing, *extensions])
        self._server = PromptServer(self.app, lifespan="on")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, name="web-server", daemon=True)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.client = httpx.Client(base_url=self.url, timeout=20, trust_env=False)

    @classmethod
    def over(
        cls, *names: str, reader: PageReader | None = None, extensions: Sequence[Extend] = (), **settings: Any
    ) -> WebServer:
        """Serve a service over providers of these names."""
        world = World(*names, **{"rate_limit": 0, **settings})
        return cls(world.service, world=world, reader=reader, extensions=extensions)

    @property
    def keep_alive_seconds(self) -> float:
        """How long a connection without requests is kept."""
        return self._server.config.timeout_keep_alive

    @property
    def world(self) -> World:
        assert self._world is not None
        return self._world

    def search(self, query: str = "agents", **body: Any) -> httpx.Response:
        return self.client.post("/api/search", json={"query": query, **body})

    def metrics(self) -> str:
        return self.client.get("/metrics").text

    def __enter__(self) -> Self:
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            assert self._thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return self

    def __exit__(self, *_exc: object) -> None:
        self.client.close()
        self._server.stop()
        self._thread.join(10)
        self._listener.close()
        if self._world is not None:
            self._world.__exit__()

    def _serve(self) -> None:
        # The plain loop, whose connections the guard of the tests sees.
        asyncio.run(self._server.serve(sockets=[self._listener]))


def _closing(backend: Backend) -> Extension:
    """Close the service in the loop that has used it."""

    def lifespan() -> AbstractAsyncContextManager[Any]:
        return aclosing(backend.service)

    return Extension((), lifespan)
