"""Who is asking: tokens, and the name under which searches are counted."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from pydantic import SecretStr
from starlette.types import Scope

from qiusuo.config.server import METRICS, OPERATOR, ServerSettings, TokenEntry, host_key, is_loopback
from qiusuo.people.person import Person, Role, Via
from qiusuo.web.entrance.proxies import SAID_BY_PROXIES
from qiusuo.web.errors import Refusal
from qiusuo.words import Fact

# Enough to tell two users apart in a limit, too little to guess the token from.
_SHOWN_DIGITS: Final = 8
OPEN: Final = "open"
"""In the state of a request: nobody needs a token on this server."""
HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::[0-9]*)?")


def unauthorized() -> Refusal:
    """Return the answer to those without a token."""
    return Refusal(
        HTTPStatus.UNAUTHORIZED,
        Fact("web.unauthorized"),
        headers={"WWW-Authenticate": 'Bearer realm="qiusuo"'},
    )


class Tokens:
    """The tokens of a server, each with its user's name. Without any, everybody may ask."""

    def __init__(self, tokens: Iterable[SecretStr] | None) -> None:
        self._users: list[tuple[bytes, str]] = []
        self._watchers: set[bytes] = set()
        roles: dict[str, set[str]] = {}
        for given in tokens or ():
            entry = TokenEntry.read(given.get_secret_value())
            digest = sha256(entry.token.encode())
            name = entry.name or f"token-{digest.hexdigest()[:_SHOWN_DIGITS]}"
            self._users.append((digest.digest(), name))
            if entry.role == METRICS:
                self._watchers.add(digest.digest())
            roles.setdefault(name, set()).add(entry.role)
        # Of two tokens of one name the lesser role counts: requests are known by their name alone.
        self.operators = frozenset(name for name, found in roles.items() if found == {OPERATOR})

    @property
    def names(self) -> frozenset[str]:
        """The names of all who have one."""
        return frozenset(name for _, name in self._users)

    def __bool__(self) -> bool:
        return bool(self._users)

    def person(self, token: str | None) -> Person | None:
        """Return whose token it is, None for a stranger's."""
        name = self.user(token)
        if name is None:
            return None
        return Person(name, Role.OPERATOR if name in self.operators else Role.USER, Via.SETTINGS)

    def only_watches(self, token: str) -> bool:
        """Tell whether a token that is known opens ``/metrics`` and nothing else."""
        return sha256(token.encode("utf-8", "replace")).digest() in self._watchers

    def user(self, token: str | None) -> str | None:
        """Return the name that goes with a token, None for a stranger's."""
        digest = sha256((token or "").encode("utf-8", "replace")).digest()
        found = None
        # To the end in any case: the time taken must not tell how close a guess was.
        for known, name in self._users:
            if hmac.compare_digest(known, digest):
                found = name
        return found


def person_of(scope: Scope) -> Person | None:
    """Return whom the guard has recognised; None where nobody needs to be, or the endpoint itself asks for a token."""
    person: Person | None = scope.get("state", {}).get("person")
    return person


def note_person(scope: Scope, person: Person) -> None:
    """Let the endpoints know who calls."""
    scope.setdefault("state", {}).update(user=person.name, person=person)


def runs_the_server(scope: Scope, settings: ServerSettings) -> bool:
    """Tell whether a request comes from who runs the server: an operator, or without tokens somebody from here.

    Where people are known, a program on this machine is nobody without a token.
    """
    person = person_of(scope)
    if person is not None and person.via in {Via.SIGN_IN, Via.PROXY}:
        return person.role is Role.OPERATOR  # whatever tokens there are of the same name
    if person is not None:
        return person.role is Role.OPERATOR or person.name in (settings.operators or ())
    return bool(scope.get("state", {}).get(OPEN)) and is_from_here(scope, settings)


def is_from_here(scope: Scope, settings: ServerSettings) -> bool:
    """Tell whether a request was made on this machine, by nobody else's doing."""
    client = scope.get("client")
    # A proxy on this machine brings strangers; so does a name that a web page points here (DNS rebinding). What a
    # trusted proxy says has been read and taken out by now: the client is the person.
    brought = any(name in SAID_BY_PROXIES for name, _ in scope["headers"])
    return client is not None and is_loopback(client[0]) and not brought and _is_called_rightly(scope, settings)


def _is_called_rightly(scope: Scope, settings: ServerSettings) -> bool:
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    found = HOST.fullmatch(host)
    name = host_key(found[1]) if found else ""
    return is_loopback(name) or name in {*(settings.allowed_hosts or ()), host_key(settings.host)}


def token_of(headers: Mapping[bytes, bytes]) -> str | None:
    """Return the token of a request: a bearer's, the password of any user, or the key that some programs send."""
    scheme, _, given = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    if scheme.lower() == "basic":
        return _password(given)
    key = headers.get(b"x-api-key")
    return key.decode("latin-1").strip() if key is not None else None


def is_sent_by_itself(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a browser adds the token by itself, also to what another site makes it send."""
    return headers.get(b"authorization", b"")[:6].lower() == b"basic "


def _password(given: str) -> str:
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def network_of(address: str) -> str:
    """Return what counts as one address of clients: of IPv6 the network of /64, which is one customer's."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(known, IPv6Address):
        return str(known.ipv4_mapped or ip_network((known, 64), strict=False))
    return str(known)
