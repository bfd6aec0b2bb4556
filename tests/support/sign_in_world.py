"""A server whose people sign in at an issuer on loopback, and browsers that are programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from qiusuo.chat.stores.opening import open_store
from qiusuo.web.backend import Extend
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.mcp.routes import mcp_extension
from qiusuo.web.openai.routes import openai_extension
from qiusuo.web.signin.routes import signin_extension
from tests.support.openid_issuer import IssuerDouble
from tests.support.web_server import WebServer

PEOPLE: dict[str, dict[str, Any]] = {
    "ann": {"preferred_username": "ann", "email": "ann@example.org", "email_verified": True, "groups": ["users"]},
    "olga": {"preferred_username": "olga", "email": "olga@example.org", "email_verified": True, "groups": ["admins"]},
    "eve": {"preferred_username": "root", "email": "olga@example.org", "email_verified": False, "groups": []},
}
TOKEN = "tok-root-0123456789"
TOKENS = f"root:{TOKEN}:operator"


def issuer_double(**options: Any) -> IssuerDouble:
    """Return an issuer that knows these people."""
    return IssuerDouble({name: dict(claims) for name, claims in PEOPLE.items()}, **options)


@contextmanager
def serving(
    issuer: IssuerDouble, store: Path | None = None, extra: Sequence[Extend] = (), **settings: Any
) -> Iterator[WebServer]:
    """Run a server at which people sign in."""
    chat = chat_extension(store=open_store(f"sqlite:///{store}" if store else ":memory:"))
    extensions = [mcp_extension, chat, openai_extension, *extra, signin_extension]
    with WebServer.over("searxng", extensions=extensions, **{**issuer.settings, **settings}) as server:
        yield server


class Browser(httpx.Client):
    """Keeps cookies, as a browser does; goes where it is sent only when told to."""

    def __init__(self, server: WebServer | str, **options: Any) -> None:
        url = server if isinstance(server, str) else server.url
        super().__init__(base_url=url, trust_env=False, timeout=30, **options)

    def begin(self, back: str = "/", **headers: str) -> httpx.URL:
        """Ask to sign in; return the address of the issuer to which the browser is sent."""
        answer = self.get("/signin", params={"return": back}, headers=headers)
        assert answer.status_code == 303, answer.text
        return httpx.URL(answer.headers["Location"])

    def way_back(self, to: httpx.URL, person: str) -> str:
        """Sign in at the issuer; return the address to which it sends the browser back."""
        with httpx.Client(trust_env=False, timeout=30) as elsewhere:
            answer = elsewhere.get(to.copy_merge_params({"person": person}))
        assert answer.status_code == 302, answer.text
        return str(answer.headers["Location"])

    def come_back(self, address: str, **headers: str) -> httpx.Response:
        """Go where the issuer sends the browser, at the server that this browser talks to."""
        parts = urlsplit(address)
        return self.get(parts.path, params=dict(parse_qsl(parts.query)), headers=headers)

    def sign_in(self, person: str = "ann", back: str = "/") -> httpx.Response:
        """Do all of it."""
        return self.come_back(self.way_back(self.begin(back), person))

    def who(self) -> httpx.Response:
        return self.get("/api/chat/config")


def told(answer: httpx.Response) -> str:
    """Return the code of what a page says about a sign-in that failed."""
    before, found, rest = answer.text.partition('data-code="')
    assert found, before[:500]
    return rest.partition('"')[0]
