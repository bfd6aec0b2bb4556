"""What an issuer says of itself, its keys, and the exchange of a code. Nothing it says is believed unchecked."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from qiusuo.errors import ConfigurationError, EngineError, RequestRejected, SearchError
from qiusuo.http import Endpoint, HttpClient, Reply
from qiusuo.http.addresses import kind_of
from qiusuo.http.faults import told
from qiusuo.http.guarded import REFUSED_KINDS, GuardedClient
from qiusuo.people.openid.errors import IssuerFailed
from qiusuo.words import Fact

WELL_KNOWN: Final = "/.well-known/openid-configuration"
ISSUER_SECONDS: Final = 6.0
MAX_BYTES: Final = 256 * 1024
KEPT_SECONDS: Final = 3600.0
"""So long it is believed what an issuer has said of itself; keys are asked for anew when one is missing."""
FAILED_SECONDS: Final = 3.0
"""So long an issuer that has failed is not asked again: strangers must not pile up before one that is silent."""
_NAME: Final = "openid"
_BASIC, _POST = "client_secret_basic", "client_secret_post"


@dataclass(frozen=True, slots=True)
class Client:
    """Whom the issuer knows this server as."""

    id: str
    secret: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a code was exchanged for."""

    id_token: str
    access_token: str


@dataclass(frozen=True, slots=True)
class About:
    """What an issuer says of itself (OpenID Connect Discovery 1.0)."""

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str
    end_session: str
    methods: tuple[str, ...]

    @classmethod
    def read(cls, said: Any, named: str) -> Self:
        """Check what was said.

        Raises:
            IssuerFailed: it is not of that issuer, or something needed is missing.
        """
        if not isinstance(said, Mapping):
            raise IssuerFailed(Fact("signin.discovery_form", issuer=named))
        issuer = said.get("issuer")
        # With or without a slash at the end is easily mistyped; tokens are compared with what the issuer says exactly.
        if not isinstance(issuer, str) or issuer.rstrip("/") != named.rstrip("/"):
            raise IssuerFailed(Fact("signin.other_issuer", issuer=named, said=str(issuer)[:200]))
        methods = said.get("token_endpoint_auth_methods_supported")
        known = [each for each in methods if isinstance(each, str)] if isinstance(methods, list) else [_BASIC]
        return cls(
            issuer=issuer,
            authorization=_address(said, "authorization_endpoint", named),
            token=_address(said, "token_endpoint", named),
            keys=_address(said, "jwks_uri", named),
            userinfo=_address(said, "userinfo_endpoint", named, needed=False),
            end_session=_address(said, "end_session_endpoint", named, needed=False),
            methods=tuple(known),
        )


def _address(said: Mapping[str, Any], key: str, issuer: str, *, needed: bool = True) -> str:
    value = said.get(key)
    if value is None and not needed:
        return ""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        schemes = {"https"} if urlsplit(issuer).scheme == "https" else {"http", "https"}
        usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable or parts.fragment:
        raise IssuerFailed(Fact("signin.discovery_address", issuer=issuer, name=key))
    return str(value)


class Issuer:
    """One issuer. What it says of itself is kept for a while; of two who ask at once one does."""

    def __init__(
        self, url: str, client: HttpClient | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.url = url
        self._client = client or GuardedClient()
        self._clock = clock
        self._about: tuple[float, About] | None = None
        self._failure: tuple[float, Fact] | None = None
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._asking = asyncio.Lock()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def about(self) -> About:
        """Return what the issuer says of itself.

        Raises:
            IssuerFailed: it cannot be asked, or is another one.
        """
        async with self._asking:
            if self._about is None or self._clock() - self._about[0] > KEPT_SECONDS:
                self._about = (self._clock(), await self._asked_about())
            return self._about[1]

    async def _asked_about(self) -> About:
        # Whoever has waited for an answer that did not come need not wait for the next one too.
        if self._failure is not None and self._clock() - self._failure[0] < FAILED_SECONDS:
            raise IssuerFailed(self._failure[1])
        try:
            found = About.read(await self._get(self.url.rstrip("/") + WELL_KNOWN), self.url)
        except IssuerFailed as error:
            self._failure = (self._clock(), error.fact)
            raise
        self._failure = None
        return found

    async def keys(self, *, anew: bool = False) -> tuple[Mapping[str, Any], ...]:
        """Return the issuer's public keys; ``anew``: it may have others by now.

        Raises:
            IssuerFailed: it has none, or cannot be asked.
        """
        address = (await self.about()).keys
        async with self._asking:
            if anew or not self._keys:
                said = await self._get(address)
                found = said.get("keys") if isinstance(said, Mapping) else None
                kept = [key for key in found if isinstance(key, Mapping)] if isinstance(found, list) else []
                if not kept:
                    raise IssuerFailed(Fact("signin.no_keys", issuer=self.url))
                self._keys = tuple(kept)
            return self._keys

    async def exchange(self, code: str, verifier: str, redirect_uri: str, client: Client) -> Tokens:
        """Exchange a code for tokens.

        Raises:
            IssuerFailed: the issuer refuses, cannot be asked, or gives none.
        """
        about = await self.about()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if _BASIC in about.methods or _POST not in about.methods:
            # Both are encoded as in a form first (RFC 6749, 2.3.1).
            login = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(login).decode()}"
        else:
            form |= {"client_id": client.id, "client_secret": client.secret}
        secrets = (client.secret, code, verifier)
        said = await self._ask("POST", about.token, headers, urlencode(form).encode(), secrets)
        found = said if isinstance(said, Mapping) else {}
        id_token, access = found.get("id_token"), found.get("access_token")
        if not isinstance(id_token, str):
            raise IssuerFailed(Fact("signin.no_id_token", issuer=self.url))
        return Tokens(id_token, access if isinstance(access, str) else "")

    async def userinfo(self, access_token: str) -> Mapping[str, Any]:
        """Return what else the issuer says of a person; nothing where it has no such address.

        Raises:
            IssuerFailed: it cannot be asked.
        """
        address = (await self.about()).userinfo
        if not address or not access_token:
            return {}
        headers = {"Authorization": f"Bearer {access_token}"}
        said = await self._ask("GET", address, headers, secrets=(access_token,))
        return said if isinstance(said, Mapping) else {}

    async def _get(self, url: str) -> Any:
        return await self._ask("GET", url, {})

    async def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        data: bytes | None = None,
        secrets: tuple[str, ...] = (),
    ) -> Any:
        try:
            address, _, query = url.partition("?")
            _check_place(address)
            endpoint = Endpoint(
                self._client,
                _NAME,
                address,
                secrets=secrets,
                timeout=ISSUER_SECONDS,
                max_bytes=MAX_BYTES,
                classify=_refused if method == "POST" else None,
            )
            params = dict(parse_qsl(query, keep_blank_values=True))
            return endpoint.json_of(await endpoint.request(method, "", params=params, data=data, headers=headers))
        except IssuerFailed:
            raise
        except RequestRejected as error:
            if error.fact.code == "signin.code_refused":
                raise IssuerFailed(error.fact) from None
            raise self._failed(error) from None
        except SearchError as error:
            raise self._failed(error) from None

    def _failed(self, error: SearchError) -> IssuerFailed:
        return IssuerFailed(Fact("signin.issuer_failed", issuer=self.url, reason=error.fact))


def _refused(reply: Reply, detail: str) -> EngineError | None:
    """Read the answer of a token endpoint that takes no code, or does not know this server."""
    said = reply.data if isinstance(reply.data, Mapping) else {}
    if not isinstance(said.get("error"), str):
        return None
    words = said.get("error_description") or detail
    fact = Fact("signin.code_refused", error=said["error"][:60], said=told(str(words)[:200]))
    return RequestRejected(fact, engine=_NAME, status=reply.status)


def _check_place(url: str) -> None:
    """Refuse an address that hands out credentials; names are looked at when they are used."""
    host = (urlsplit(url).hostname or "").partition("%")[0]
    try:
        kind = kind_of(ip_address(host))
    except ValueError:
        return
    if kind in REFUSED_KINDS:
        raise ConfigurationError(Fact("settings.address_refused", kind=kind.fact))
