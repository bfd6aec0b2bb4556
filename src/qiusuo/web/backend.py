"""What the endpoints stand on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Unpack

from starlette.requests import Request
from starlette.routing import BaseRoute

from qiusuo.config import Settings
from qiusuo.models import SearchResponse
from qiusuo.pages import PageReader
from qiusuo.pipeline.request import SearchOptions
from qiusuo.service import SearchService
from qiusuo.web.auth import Tokens
from qiusuo.web.door import Door
from qiusuo.web.hangup import HangUp
from qiusuo.web.metrics import Metrics
from qiusuo.web.route import user_of


@dataclass(frozen=True, slots=True)
class Backend:
    """The parts that endpoints share."""

    service: SearchService
    settings: Settings
    reader: PageReader
    tokens: Tokens
    door: Door
    metrics: Metrics
    parts: dict[str, Any] = field(default_factory=dict)
    """What extensions leave for those that come after them."""

    async def search(self, request: Request, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """Search on behalf of the request's user; stops when the client hangs up."""
        options.setdefault("user", user_of(request))
        with HangUp(request.receive):
            return await self.service.asearch(query, **options)


@dataclass(frozen=True, slots=True)
class Extension:
    """Something else that the server offers: its routes, and what must run as long as the server does.

    The guard stands before it too; the user is in ``scope["state"]["user"]``. ``stop`` ends streams that would keep
    the server from stopping: a lifespan ends only after them.
    """

    routes: Sequence[BaseRoute]
    lifespan: Callable[[], AbstractAsyncContextManager[Any]] | None = field(default=None)
    stop: Callable[[], None] | None = field(default=None)


Extend = Callable[[Backend], Extension]
