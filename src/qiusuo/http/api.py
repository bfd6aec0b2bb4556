"""Calls to provider APIs.

An :class:`HttpClient` is one pool of kept-alive connections. An :class:`Endpoint` binds it to one engine and one
base URL, so that a key can never travel to another host. No redirect is followed, bodies are capped, and every text
that leaves this module has the engine's secrets struck out.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import urlsplit

import aiohttp
import orjson
from yarl import URL

from qiusuo.errors import (
    BadResponse,
    ConfigurationError,
    EngineError,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http.faults import connection_fact, is_closed
from qiusuo.http.statuses import error_detail, error_for_status
from qiusuo.loops import PerLoop
from qiusuo.models import believed
from qiusuo.text import clean, truncate
from qiusuo.words import Fact

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
CONNECT_TIMEOUT: Final = 3.0
TOTAL_TIMEOUT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, for engines that read more out of an error than its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON, or None where it is none."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def is_html(self) -> bool:
        return "html" in self.headers.get("Content-Type", "") or self.body[:100].lstrip()[:1] == b"<"

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, from ``Retry-After`` in either of its forms."""
        return parse_retry_after(self.headers.get("Retry-After"))


class Closable(Protocol):
    """Something that has to be closed."""

    async def aclose(self) -> None: ...


C = TypeVar("C", bound=Closable)

Classify = Callable[[Reply, str], EngineError | None]
"""Reads an error reply and its detail text; None leaves it to the general rules."""


@dataclass(frozen=True)
class Endpoint:
    """One engine's door to one host."""

    client: HttpClient
    engine: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    timeout: float = TOTAL_TIMEOUT
    max_bytes: int = MAX_BODY_BYTES
    classify: Classify | None = None
    error_words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_base_url(self.base_url, self.engine)

    @cached_property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @cached_property
    def _base(self) -> str:
        return self.base_url.rstrip("/")

    @cached_property
    def _limits(self) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(self.client.connect_timeout, self.timeout))

    @cached_property
    def _proxy(self) -> str | None:
        return proxy_for(self.base_url)

    async def get(
        self, path: str, params: Mapping[str, Any] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """GET JSON. Parameters that are None are left out."""
        return self.json_of(await self.request("GET", path, params=params, headers=headers))

    async def post(self, path: str, body: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> Any:
        """POST a JSON body, get JSON. Top-level fields that are None are left out."""
        data = orjson.dumps({key: value for key, value in body.items() if value is not None})
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self.json_of(await self.request("POST", path, data=data, headers=sent))

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request and return the reply if its status is 2xx; raise the translated error otherwise."""
        url = URL(self._base + path)
        if params:
            url = url.extend_query({key: str(value) for key, value in params.items() if value is not None})
        try:
            async with self.client.session.request(
                method,
                url,
                data=data,
                headers={**self.headers, **(headers or {})},
                allow_redirects=False,
                proxy=self._proxy,
                timeout=self._limits,
            ) as response:
                reply = Reply(response.status, response.headers, await self._read(response))
        except TimeoutError as error:
            connecting = isinstance(error, aiohttp.ConnectionTimeoutError)
            seconds = min(self.client.connect_timeout, self.timeout) if connecting else self.timeout
            code = "http.timeout_connect" if connecting else "http.timeout_answer"
            late = Fact(code, host=self.host, seconds=float(seconds))
            # A search with less time than this ends without us, so more of that would not help.
            remedy = "" if connecting else Fact("engine.own_timeout", engine=self.engine)
            raise SearchTimeout(late, engine=self.engine, fix=remedy) from None
        except aiohttp.ClientPayloadError:
            raise BadResponse(Fact("http.broke_off", host=self.host), engine=self.engine) from None
        except aiohttp.ClientConnectorError as error:
            raise Unavailable(self._scrubbed(connection_fact(error, self.host)), engine=self.engine) from None
        except (aiohttp.ClientError, OSError) as error:
            code = "http.closed" if is_closed(error) else "http.connection_failed"
            failed = Fact(code, host=self.host, words=self.scrub(_said(error)))
            raise Unavailable(failed, engine=self.engine) from None
        except ValueError as error:  # a line break in a header, a login in the address beside the key
            impossible = Fact("http.request_impossible", words=self.scrub(str(error)), engine=self.engine)
            raise ConfigurationError(impossible, engine=self.engine) from None
        if 200 <= reply.status < 300:  # noqa: PLR2004 - the HTTP success range
            return reply
        raise self._error(reply)

    def scrub(self, text: str) -> str:
        """Strike this engine's secrets out of ``text`` and make it one short, plain line."""
        for secret in self.secrets:
            if secret:
                text = text.replace(secret, "***")
        return truncate(clean(text), 300)

    def _scrubbed(self, fact: Fact) -> Fact:
        texts = {name: self.scrub(value) for name, value in fact.values.items() if isinstance(value, str)}
        return Fact(fact.code, **{**fact.values, **texts})

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if (response.content_length or 0) > self.max_bytes:
            raise self._too_large()
        # Counted after decompression, so that a small compressed body cannot unfold into a huge one.
        left = self.max_bytes
        chunks: list[bytes] = []
        async for chunk in response.content.iter_any():
            left -= len(chunk)
            if left < 0:
                raise self._too_large()
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self) -> BadResponse:
        return BadResponse(Fact("http.too_large", host=self.host, limit=self.max_bytes // 1024), engine=self.engine)

    def json_of(self, reply: Reply) -> Any:
        """Return the JSON of a reply; raise where it is none."""
        try:
            return orjson.loads(reply.body)
        except orjson.JSONDecodeError:
            with suppress(ValueError, RecursionError):
                return _with_halves_replaced(reply.body)
            code = "http.web_page" if reply.is_html else "http.not_json"
            raise BadResponse(Fact(code, host=self.host), engine=self.engine) from None

    def _error(self, reply: Reply) -> EngineError:
        detail = self.scrub(error_detail(reply.data, self.error_words))
        if self.classify is not None:
            special = self.classify(reply, detail)
            if special is not None:
                return special
        return error_for_status(reply, detail, self.engine, self.host)


class HttpClient:
    """One pool of connections, shared by the engines of a service."""

    def __init__(self, *, user_agent: str = "", connect_timeout: float = CONNECT_TIMEOUT) -> None:
        self._user_agent = user_agent or _default_user_agent()
        self.connect_timeout = connect_timeout
        self._sessions: PerLoop[aiohttp.ClientSession] = PerLoop(self._new_session, aiohttp.ClientSession.close)
        self._companions: dict[type[Any], Any] = {}

    @property
    def session(self) -> aiohttp.ClientSession:
        """The running loop's session."""
        return self._sessions.get()

    def companion(self, kind: type[C], make: Callable[[], C]) -> C:
        """Return the one ``kind`` (a browser, say) that the engines of a service share; closed with this client."""
        if kind not in self._companions:
            self._companions[kind] = make()
        found: C = self._companions[kind]
        return found

    def _new_session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=200, keepalive_timeout=60, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept": "application/json"},
        )

    async def aclose(self) -> None:
        """Close the connections of every loop that used this client, and its companions."""
        for companion in self._companions.values():
            await companion.aclose()
        here = asyncio.get_running_loop()
        for loop, session in self._sessions.drain():
            if loop is here:
                await session.close()
            elif loop.is_running():
                # Not awaited: that loop may be the very one that waits for us.
                asyncio.run_coroutine_threadsafe(session.close(), loop)
            elif session.connector is not None:
                # The loop is gone (asyncio.run ended): nothing can be awaited there, only dropped.
                with suppress(RuntimeError):
                    session.connector._close()  # noqa: SLF001 - the only way without a running loop
                session.detach()


def _said(error: Exception) -> str:
    # Of these not the whole text: it has the address, and a proxy's may hold a password.
    if isinstance(error, aiohttp.ClientResponseError):
        return f"{error.status} {error.message}"
    named = isinstance(error, aiohttp.InvalidURL) or not str(error)
    return type(error).__name__ if named else str(error)


def _with_halves_replaced(body: bytes) -> Any:
    """Read JSON in which texts were cut inside a character (half of an emoji), which orjson refuses as a whole."""
    return orjson.loads(json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "replace"))


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Read ``Retry-After``: seconds or an HTTP date. None where it is absent or unreadable."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return believed(seconds)


def check_base_url(url: str, engine: str) -> None:
    """Refuse an address that is not plain http(s) with a host."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        shown = url.rpartition("@")[2]  # whatever stands before an @ may be a password
        raise ConfigurationError(Fact("http.bad_address", given=repr(shown)), engine=engine)


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment sets for ``url``; never one for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in {"localhost", "::1"} or host.startswith("127."):
        return None
    proxies = urllib.request.getproxies()
    if not proxies or urllib.request.proxy_bypass(host):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None or proxy.startswith(("http://", "https://")):
        return proxy
    kind, scheme, _ = proxy.partition("://")
    if not scheme:
        return f"http://{proxy}"  # people also set host:port
    raise ConfigurationError(Fact("http.proxy_kind", kind=kind))


def _default_user_agent() -> str:
    from qiusuo import __version__  # noqa: PLC0415 - the package imports this module lazily

    return f"qiusuo/{__version__}"
