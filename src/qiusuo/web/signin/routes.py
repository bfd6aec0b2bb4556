"""``/signin``, ``/signin/callback``, ``/signout`` and ``/api/signin``: people come in by OpenID Connect, and go."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.people.openid.claims import identity_of, lacks
from qiusuo.people.openid.errors import IssuerFailed, NotAdmitted
from qiusuo.people.openid.issuer import Client, Issuer
from qiusuo.people.person import Role
from qiusuo.people.sign_ins import SignIn, SignIns
from qiusuo.web.backend import Backend, Extension
from qiusuo.web.chat.requests import answered
from qiusuo.web.document import documented
from qiusuo.web.entrance.guard import known_hosts, public_names
from qiusuo.web.entrance.sites import OtherSites
from qiusuo.web.errors import Refusal, status_of
from qiusuo.web.route import json_answer, read_body
from qiusuo.web.signin.cookies import UnderWay, own_path
from qiusuo.web.signin.signed_in import SignedIn
from qiusuo.web.signin.telling import failure_page
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

LONGEST_ANSWER: Final = 4000
_NOT_KEPT: Final = {"Cache-Control": "no-store"}
_TAG: Final = "sign-in"
_LEAVING: Final = {"type": "object", "properties": {"everywhere": {"type": "boolean"}}, "additionalProperties": False}
PATHS: Final = {
    "/api/signin": {
        "get": documented("Whether people sign in here, and whether this browser's has ended.", None, _TAG)
    },
    "/signout": {"post": documented("End this browser's sign-in, or all of the person's.", _LEAVING, _TAG)},
}


class Leaving(BaseModel):
    """Who signs out: this browser, or all of the person's."""

    model_config = ConfigDict(extra="forbid")

    everywhere: bool = False


def signin_extension(backend: Backend) -> Extension:
    """Return the sign-in, where the settings name an issuer; it uses the database that ``chat_extension`` has."""
    settings = backend.settings
    if not settings.oidc_issuer:
        return Extension(())
    conversations = backend.parts.get("conversations")
    database = getattr(getattr(conversations, "store", None), "database", None)
    if database is None or find_spec("jwt") is None or find_spec("cryptography") is None:
        raise ConfigurationError(Fact("signin.not_installed"), commands=(install_command("qiusuo[signin]"),))
    kept = SignIns(database, hours=settings.sign_in_hours, idle_hours=settings.sign_in_idle_hours)
    signed_in = SignedIn(lambda: backend.settings, kept, settings.oidc_issuer)
    backend.parts["signed_in"] = signed_in
    issuer = Issuer(settings.oidc_issuer)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await issuer.aclose()

    return Extension(SignInRoutes(backend, settings, issuer, signed_in).routes(), lifespan, paths=PATHS)


@dataclass(frozen=True, slots=True)
class SignInRoutes:
    """The endpoints of one server. Its issuer stays the one with which it has started; who may come in may change."""

    backend: Backend
    settings: Settings
    issuer: Issuer
    signed_in: SignedIn

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/signin", self.begin, methods=["GET"]),
            Route("/signin/callback", self.callback, methods=["GET"]),
            Route("/signout", answered(self.leave), methods=["POST"]),
            Route("/api/signin", answered(self.tell), methods=["GET"]),
        ]

    async def begin(self, request: Request) -> Response:
        """Send a browser to the issuer."""
        back = own_path(request.query_params.get("return", "/"))
        try:
            client, about = self._client(), await self.issuer.about()
        except SearchError as error:
            return self._failed(request, error, back)
        begun = UnderWay.begin(back)
        asked = {
            "response_type": "code",
            "client_id": client.id,
            "redirect_uri": self._address(request, "/signin/callback"),
            "scope": self._scopes(),
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": begun.challenge,
            "code_challenge_method": "S256",
        }
        answer = _to(_with(about.authorization, asked))
        self.signed_in.cookies.keep_under_way(answer, request.scope, begun)
        return answer

    async def callback(self, request: Request) -> Response:
        """Take a browser back from the issuer."""
        scope, cookies = request.scope, self.signed_in.cookies
        given = {
            name: request.query_params.get(name, "")[:LONGEST_ANSWER] for name in ("state", "code", "error", "iss")
        }
        begun = cookies.under_way(scope, given["state"]) if given["state"] else None
        if begun is None:  # somebody else's link, or a second use of this one's
            return self._failed(request, Refusal(HTTPStatus.BAD_REQUEST, Fact("signin.unknown_state")))
        try:
            secret = await self._admit(request, given, begun)
            await self._note(request, "audit.signed_in", await self.signed_in.sign_ins.find(secret))
        except SearchError as error:
            answer = self._failed(request, error, begun.back)
        else:
            answer = _to(f"{cookies.root(scope)}{begun.back}")
            cookies.keep_session(answer, scope, secret, self.signed_in.sign_ins.seconds)
        cookies.drop_under_way(answer, scope, given["state"])
        return answer

    async def leave(self, request: Request) -> Response:
        """End a sign-in; tell where the issuer ends its own, which would sign the person in again at once."""
        self._refuse_others(request)
        body = await _leaving(request)
        cookies = self.signed_in.cookies
        secret = cookies.session(request.scope)
        ended = await self.signed_in.sign_ins.end(secret, everywhere=body.everywhere) if secret else None
        await self._note(request, "audit.signed_out", ended)
        answer = json_answer({"to": await self._end_session(request, ended.id_token) if ended else None})
        cookies.drop_session(answer, request.scope)
        return answer

    async def tell(self, request: Request) -> Response:
        """Tell the page that people sign in here, and whether this browser's time is over."""
        over = self.signed_in.cookies.session(request.scope) and not await self.signed_in.person(request.scope)
        return json_answer({"signIn": True, "over": bool(over), "tokens": self.backend.has_tokens})

    async def _admit(self, request: Request, given: Mapping[str, str], begun: UnderWay) -> str:
        """Find out whom the issuer sends, and note them; return the secret of their browser.

        Raises:
            SearchError: nobody who may come in.
        """
        from qiusuo.people.openid.id_token import checked  # noqa: PLC0415 - an extra

        if given["error"]:
            raise NotAdmitted(Fact("signin.refused_there", error=given["error"][:60]))
        client, about = self._client(), await self.issuer.about()
        if given["iss"] and given["iss"] != about.issuer:
            raise IssuerFailed(Fact("signin.wrong_issuer"))
        if not given["code"]:
            raise Refusal(HTTPStatus.BAD_REQUEST, Fact("signin.no_code"))
        redirect_uri = self._address(request, "/signin/callback")
        tokens = await self.issuer.exchange(given["code"], begun.verifier, redirect_uri, client)
        claims = await checked(tokens.id_token, self.issuer, client.id, begun.nonce)
        if lacks(claims, self.backend.settings):
            more = await self.issuer.userinfo(tokens.access_token)
            if more and more.get("sub") != claims["sub"]:
                raise IssuerFailed(Fact("signin.other_person"))
            claims = {**more, **{name: value for name, value in claims.items() if value or name not in more}}
        now = self.backend.settings
        identity = identity_of(claims, about.issuer, now)
        identity.admit(now)
        runs_it = identity.role(now) is Role.OPERATOR
        reserved = () if runs_it else self.backend.operators_by_token
        before = self.signed_in.cookies.session(request.scope)
        if before:
            await self.signed_in.sign_ins.end(before)
        return await self.signed_in.sign_ins.begin(identity, tokens.id_token, reserved=reserved)

    async def _note(self, request: Request, code: str, sign_in: SignIn | None) -> None:
        if sign_in is not None:
            client = request.scope.get("client")
            await self.backend.audit.note(sign_in.identity.name, code, address=client[0] if client else "")

    async def _end_session(self, request: Request, id_token: str) -> str | None:
        try:
            client, about = self._client(), await self.issuer.about()
        except SearchError as error:
            logger.warning("the issuer is not told of a sign-out: %s", error)
            return None
        if not about.end_session:
            return None
        asked = {"client_id": client.id, "post_logout_redirect_uri": self._address(request, "/")}
        return _with(about.end_session, {**({"id_token_hint": id_token} if id_token else {}), **asked})

    def _client(self) -> Client:
        """Return whom the issuer knows this server as.

        Raises:
            ConfigurationError: the settings do not say it.
        """
        secret = self.settings.oidc_client_secret
        if not self.settings.oidc_client_id or secret is None:
            missing = "QIUSUO_OIDC_CLIENT_SECRET" if self.settings.oidc_client_id else "QIUSUO_OIDC_CLIENT_ID"
            raise ConfigurationError(Fact("signin.incomplete", variable=missing))
        return Client(self.settings.oidc_client_id, secret.get_secret_value())

    def _scopes(self) -> str:
        scopes = self.settings.oidc_scopes.split(" ")
        return " ".join(scopes if "openid" in scopes else ["openid", *scopes])

    def _address(self, request: Request, path: str) -> str:
        if self.settings.public_url:
            return self.settings.public_url.rstrip("/") + path
        return f"{request.url.scheme}://{request.url.netloc}{request.scope.get('root_path', '')}{path}"

    def _refuse_others(self, request: Request) -> None:
        sites = OtherSites(public_names(known_hosts(self.settings)))
        if sites.is_foreign(request.scope, request.headers.get("host", ""), dict(request.scope["headers"])):
            raise Refusal(HTTPStatus.FORBIDDEN, Fact("web.cross_site"))

    def _failed(self, request: Request, error: SearchError, back: str = "/") -> Response:
        logger.warning("a sign-in failed: %s", error)
        status = HTTPStatus.FORBIDDEN if isinstance(error, NotAdmitted) else status_of(error)
        return failure_page(request, error, status, back)


async def _leaving(request: Request) -> Leaving:
    return await read_body(request, Leaving) if await request.body() else Leaving()


def _with(url: str, params: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(params)}"


def _to(url: str) -> Response:
    return RedirectResponse(url, HTTPStatus.SEE_OTHER, _NOT_KEPT)
