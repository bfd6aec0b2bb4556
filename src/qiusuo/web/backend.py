"""What the endpoints stand on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Unpack

from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import Scope

from qiusuo.config import Settings
from qiusuo.errors import ServerBusy
from qiusuo.models import SearchResponse
from qiusuo.pages import PageReader
from qiusuo.people.audit import Audit
from qiusuo.people.person import Via
from qiusuo.pipeline.request import SearchOptions
from qiusuo.service import SearchService
from qiusuo.web.entrance.auth import OPEN, Tokens, person_of, runs_the_server
from qiusuo.web.entrance.door import Door
from qiusuo.web.entrance.elsewhere import note_not_begun
from qiusuo.web.entrance.hangup import HangUp
from qiusuo.web.errors import RETRY_SECONDS
from qiusuo.web.route import user_of
from qiusuo.web.settings.live import LiveSettings
from qiusuo.web.signin.shown import person_shown
from qiusuo.web.watching.metrics import Metrics
from qiusuo.web.watching.outcomes import LastAttempts
from qiusuo.words import Fact


@dataclass(slots=True)
class Life:
    """Whether the server has been told to stop."""

    stopping: bool = False


@dataclass(frozen=True, slots=True)
class Backend:
    """The parts that endpoints share."""

    service: SearchService
    live: LiveSettings
    reader: PageReader
    tokens: Tokens
    door: Door
    metrics: Metrics
    attempts: LastAttempts = field(default_factory=LastAttempts)
    parts: dict[str, Any] = field(default_factory=dict)
    """What extensions leave for those that come after them."""
    life: Life = field(default_factory=Life)
    audit: Audit = field(default_factory=Audit)
    signs_in: bool = False
    """Whether people come in by a proxy or a sign-in. As the server has started: the guard stays as it is."""

    @property
    def recognises_people(self) -> bool:
        """Whether nobody comes in who is not known: by a token, a sign-in, or a proxy."""
        return bool(self.tokens) or self.signs_in

    @property
    def has_tokens(self) -> bool:
        """Whether somebody comes in with a token, of the settings or of the database."""
        return bool(self.tokens) or (self.door.people is not None and self.door.people.any())

    @property
    def operators_by_token(self) -> set[str]:
        """The names of those who run the server with a token."""
        by_database = self.door.people.operators() if self.door.people is not None else set()
        return {*self.tokens.operators, *by_database, *(self.settings.operators or ())}

    @property
    def settings(self) -> Settings:
        """The settings as they are now; who keeps them must not expect that they stay."""
        return self.live.settings

    def is_run_by(self, scope: Scope) -> bool:
        """Tell whether a request comes from who runs the server."""
        return runs_the_server(scope, self.settings)

    def is_open_to(self, scope: Scope) -> bool:
        """Tell whether a request needed no token."""
        return bool(scope.get("state", {}).get(OPEN))

    async def note(self, request: Request, code: str, **values: Any) -> None:
        """Note in the audit log what the request's user has done; the code is one of the catalogue."""
        client = request.scope.get("client")
        await self.audit.note(user_of(request) or "", code, values, address=client[0] if client else "")

    def not_operator(self, scope: Scope, *, otherwise: str, from_here: str, by_token: str = "") -> Fact:
        """Return what is told to who does not run the server.

        ``otherwise`` with a token, ``by_token`` (if given) with one of the database, ``from_here`` without one.
        """
        if person_shown(scope) is not None:
            return Fact("signin.not_operator")
        person = person_of(scope)
        if by_token and person is not None and person.via is Via.TOKEN:
            return Fact(by_token, name=person.name)
        return Fact(from_here if self.is_open_to(scope) else otherwise)

    def is_closed_to(self, request: Request) -> bool:
        """Tell whether the server has been told to stop; then nothing was begun, and another one may be asked."""
        if self.life.stopping:
            note_not_begun(request.scope)
        return self.life.stopping

    def check_open(self, request: Request) -> None:
        """Refuse what takes long once the server has been told to stop.

        Raises:
            ServerBusy: it has.
        """
        if self.is_closed_to(request):
            raise ServerBusy(Fact("web.stopping"), retry_after=RETRY_SECONDS)

    async def search(self, request: Request, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """Search on behalf of the request's user; stops when the client hangs up."""
        options.setdefault("user", user_of(request))
        with HangUp(request.receive):
            return await self.service.asearch(query, **options)


@dataclass(frozen=True, slots=True)
class Extension:
    """Something else that the server offers: its routes, and what must run as long as the server does.

    The guard stands before it too; the user is in ``scope["state"]["user"]``. ``stop`` ends streams that would keep
    the server from stopping: a lifespan ends only after them. ``answering`` tells whether there are such. ``paths`` is
    its part of the OpenAPI document; ``document`` makes one that takes its time, with the ``schemas`` that it names.
    """

    routes: Sequence[BaseRoute]
    lifespan: Callable[[], AbstractAsyncContextManager[Any]] | None = field(default=None)
    stop: Callable[[], None] | None = field(default=None)
    answering: Callable[[], bool] | None = field(default=None)
    paths: Mapping[str, Any] = field(default_factory=dict)
    document: Callable[[], Mapping[str, Any]] | None = field(default=None)


Extend = Callable[[Backend], Extension]
