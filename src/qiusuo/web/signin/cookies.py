"""The cookies of a sign-in: what a browser holds while it is under way, and when it is done."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Self
from urllib.parse import quote, urlsplit

import orjson
from starlette.responses import Response
from starlette.types import Scope

from qiusuo.config.sign_in import SignInSettings

UNDER_WAY_SECONDS: Final = 600
MOST_UNDER_WAY: Final = 4
"""Tabs in which somebody may be about to sign in; of more the browser forgets the others."""
LONGEST_RETURN: Final = 2000
_SESSION, _UNDER_WAY = "qiusuo-session", "qiusuo-signin-"
_PAIR: Final = re.compile(r"\s*([\w-]+)=([\w-]*)\s*")
_PATH: Final = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
_SAFE: Final = "/?#[]@!$&'()*+,;=:%-._~"


def own_path(given: str) -> str:
    """Return where to go back to: a path of ours and nothing else, whatever was asked for."""
    if len(given) > LONGEST_RETURN or not _PATH.fullmatch(given):
        return "/"
    try:
        parts = urlsplit(given)
    except ValueError:
        return "/"
    if parts.scheme or parts.netloc or parts.path.startswith(("/signin", "/signout")):
        return "/"
    path = quote(given, safe=_SAFE)
    return path if len(path) <= LONGEST_RETURN else "/"  # browsers drop a cookie that is too long


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A sign-in that has begun in this browser: what the issuer must give back, and what only the browser knows."""

    state: str
    nonce: str
    verifier: str
    back: str

    @classmethod
    def begin(cls, back: str) -> Self:
        """Think of new secrets."""
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), back)

    @property
    def challenge(self) -> str:
        """The verifier's digest, which the issuer is shown first (PKCE)."""
        return base64.urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def kept(self) -> str:
        """Return it as a browser keeps it."""
        return (
            base64.urlsafe_b64encode(orjson.dumps([self.state, self.nonce, self.verifier, self.back]))
            .rstrip(b"=")
            .decode()
        )

    @classmethod
    def read(cls, kept: str) -> Self | None:
        """Return what a browser has kept; None where it cannot be read."""
        try:
            parts: Any = orjson.loads(base64.urlsafe_b64decode(kept + "=" * (-len(kept) % 4)))
            state, nonce, verifier, back = (part if isinstance(part, str) else "" for part in parts)
        except (ValueError, TypeError, binascii.Error):
            return None
        return cls(state, nonce, verifier, own_path(back)) if state and nonce and verifier else None


class Cookies:
    """Reads and writes them. Their names and paths are as strict as the way by which people come allows."""

    def __init__(self, settings: SignInSettings) -> None:
        self._public = settings.public_url or ""

    def session(self, scope: Scope) -> str | None:
        """Return the secret of a browser in which somebody has signed in."""
        return self._read(scope).get(self._name(scope, _SESSION)) or None

    def under_way(self, scope: Scope, state: str) -> UnderWay | None:
        """Return the sign-in of a state, if it was this browser that began it."""
        found = UnderWay.read(self._read(scope).get(self._name(scope, _called(state)), ""))
        return found if found is not None and secrets.compare_digest(found.state.encode(), state.encode()) else None

    def keep_session(self, answer: Response, scope: Scope, secret: str, seconds: int) -> None:
        """Let a browser keep a sign-in."""
        self._write(answer, scope, self._name(scope, _SESSION), secret, seconds)

    def drop_session(self, answer: Response, scope: Scope) -> None:
        """Let a browser forget it."""
        self._write(answer, scope, self._name(scope, _SESSION), "", 0)

    def keep_under_way(self, answer: Response, scope: Scope, begun: UnderWay) -> None:
        """Let a browser keep a sign-in that has begun, and forget those that came to nothing, if they are many."""
        before = [name for name in self._read(scope) if name.startswith(self._name(scope, _UNDER_WAY))]
        for name in before if len(before) >= MOST_UNDER_WAY else ():
            self._write(answer, scope, name, "", 0)
        self._write(answer, scope, self._name(scope, _called(begun.state)), begun.kept(), UNDER_WAY_SECONDS)

    def drop_under_way(self, answer: Response, scope: Scope, state: str) -> None:
        """Let a browser forget a sign-in, so that its state is of no use a second time."""
        self._write(answer, scope, self._name(scope, _called(state)), "", 0)

    def is_secure(self, scope: Scope) -> bool:
        """Tell whether the browser speaks HTTPS."""
        return (urlsplit(self._public).scheme or scope["scheme"]) == "https"

    def root(self, scope: Scope) -> str:
        """Return the path under which people see the server."""
        return urlsplit(self._public).path.rstrip("/") if self._public else str(scope.get("root_path", ""))

    def _name(self, scope: Scope, name: str) -> str:
        if not self.is_secure(scope):
            return name
        # Browsers take the first for no other host or path, and the second over HTTPS alone.
        return f"__Secure-{name}" if self.root(scope) else f"__Host-{name}"

    def _write(self, answer: Response, scope: Scope, name: str, value: str, seconds: int) -> None:
        answer.set_cookie(
            name,
            value,
            max_age=seconds,
            path=self.root(scope) or "/",
            secure=self.is_secure(scope),
            httponly=True,
            samesite="lax",
        )

    @staticmethod
    def _read(scope: Scope) -> dict[str, str]:
        return dict(_pairs(scope))


def _pairs(scope: Scope) -> Iterator[tuple[str, str]]:
    for name, value in scope["headers"]:
        if name == b"cookie":
            for part in value.decode("latin-1").split(";"):
                if found := _PAIR.fullmatch(part):
                    yield found[1], found[2]


def _called(state: str) -> str:
    """Return the name for one of several: each tab may be about to sign in."""
    return _UNDER_WAY + sha256(state.encode("utf-8", "replace")).hexdigest()[:12]
