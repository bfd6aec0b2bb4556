"""What several test files need: loopback providers by name and a service over them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Self

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import EngineOptions, HttpEngine, SearchEngine
from qiusuo.engines.brave import BraveEngine
from qiusuo.engines.exa import ExaEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.http import HttpClient
from qiusuo.legal.engines.laws import LawsEngine
from qiusuo.legal.tools import legal_handle
from qiusuo.testing import Provider, ProviderServer
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.exa import Exa
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily
from tests.support.small_web import SmallWeb

KINDS: dict[str, tuple[type[HttpEngine], type[Provider]]] = {
    "tavily": (TavilyEngine, Tavily),
    "brave": (BraveEngine, Brave),
    "exa": (ExaEngine, Exa),
    "searxng": (SearxngEngine, Searxng),
    "small": (SearxngEngine, SmallWeb),
}


class World:
    """Providers on loopback and a service that knows them, in the order given; ``laws`` is the index of ``legal_dir``.

    ``async with`` in async tests, ``with`` in the others.
    """

    def __init__(self, *names: str, **settings: Any) -> None:
        self._stack = ExitStack()
        self.servers = {
            name: self._stack.enter_context(ProviderServer(KINDS[name][1]())) for name in names if name != "laws"
        }
        if "small" in self.servers:  # its pages may be read
            settings = {"read_private": (place_of(self.servers["small"]),), "depth": "auto", **settings}
        http = HttpClient()
        engines: list[SearchEngine] = [
            LawsEngine(legal_handle(settings["legal_dir"])) if name == "laws" else self._asking(name, http)
            for name in names
        ]
        self.service = SearchService(engines, Settings.load(**{"depth": "snippets", **settings}), http=http)

    def _asking(self, name: str, http: HttpClient) -> SearchEngine:
        server = self.servers[name]
        return KINDS[name][0].from_options(EngineOptions(api_key=server.key, base_url=server.base_url), http)

    def __getitem__(self, name: str) -> ProviderServer:
        return self.servers[name]

    def requests(self, name: str) -> int:
        return len(self.servers[name].seen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.service.close()
        self._stack.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.service.aclose()
        self._stack.close()


def place_of(server: ProviderServer) -> str:
    """Return where a server is, as the settings name a place whose pages may be read."""
    return server.base_url.removeprefix("http://").rstrip("/")
