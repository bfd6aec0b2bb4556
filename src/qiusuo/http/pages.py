"""Fetching of pages that strangers name: every hop is checked, and only checked addresses are connected to.

A name is resolved once per fetch; all of its addresses must pass the guard. The connector of that fetch knows no
other addresses, and looks at the peer again before a request is sent. So a name that changes its answer between
check and use (DNS rebinding) cannot lead anywhere else, while TLS and the Host header keep the name.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from qiusuo.errors import (
    PageError,
    PageRefused,
    PageTimeout,
    PageTooLarge,
    PageUnavailable,
    UnsupportedPage,
)
from qiusuo.http.addresses import Address
from qiusuo.http.api import parse_retry_after, proxy_for
from qiusuo.http.faults import connection_code, words_of
from qiusuo.http.guard import FetchPolicy, Target, check_address, check_url, follow
from qiusuo.http.unpack import ENCODINGS, Unpacker
from qiusuo.text import clean, truncate
from qiusuo.words import Fact

CONNECT_TIMEOUT: Final = 5.0
# Some sites send policies of many kilobytes in one header line.
MAX_HEADER_BYTES: Final = 32 * 1024

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ACCEPT: Final = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,application/json;q=0.8,*/*;q=0.1"
_SNIFFED_BYTES: Final = 1024
_NO_TEXT: Final = frozenset({"application/octet-stream", "application/pdf"})
_OTHER_SOURCE: Final = Fact("page_read.other_source")
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Finds all addresses of a host name; ``OSError`` where there are none."""

Take = Callable[[bytes, int | None], None]
"""Gets each piece of a download, with the length of the whole where it is known."""


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as it came: ``body`` is decompressed, ``charset`` what the header says (may be empty or wrong).

    ``hops`` are the addresses that redirected, in order; ``downgraded`` tells that one of them led from https to http.
    ``storable`` is False where the page forbids to keep it.
    """

    url: str
    final_url: str
    status: int
    content_type: str
    charset: str
    body: bytes = field(repr=False)
    hops: tuple[str, ...] = ()
    downgraded: bool = False
    storable: bool = True


Read = Callable[[aiohttp.ClientResponse, Target], Awaitable[RawPage]]


class PageClient:
    """Fetches pages under one policy. It holds no connections, so there is nothing to close.

    ``resolve`` replaces the system's name service (tests, DNS over HTTPS); ``tls`` the system's certificates.
    Proxies of the environment are left alone unless the policy says otherwise, see :class:`FetchPolicy`.
    """

    def __init__(
        self, policy: FetchPolicy | None = None, *, resolve: Resolve | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self.policy = policy or FetchPolicy()
        self._resolve = resolve or system_addresses
        self._tls = tls
        self._headers = {
            "User-Agent": self.policy.user_agent or _default_user_agent(),
            "Accept": _ACCEPT,
            "Accept-Encoding": ", ".join(ENCODINGS),
        }

    async def fetch(self, url: str) -> RawPage:
        """Fetch a page; raise a :class:`~qiusuo.errors.PageError` that says why and what to do."""
        return await self._within_time(url, self._read)

    async def download(self, url: str, take: Take) -> RawPage:
        """Fetch a file piece by piece under the same rules; the page that is returned has no body."""

        async def read(response: aiohttp.ClientResponse, target: Target) -> RawPage:
            content_type = self._checked(response, target)
            whole = response.content_length
            async for piece in self._pieces(response, target.host):
                take(piece, whole)
            return RawPage(target.url, target.url, response.status, content_type, "", b"")

        return await self._within_time(url, read)

    async def _within_time(self, url: str, read: Read) -> RawPage:
        target = check_url(url, self.policy)
        try:
            async with asyncio.timeout(self.policy.timeout):
                return await self._follow(target, read)
        except PageError:
            raise
        except TimeoutError:
            late = Fact("page_read.late", host=target.host, seconds=float(self.policy.timeout))
            raise PageTimeout(late, fix=Fact("page_read.later_or_other")) from None

    async def _follow(self, target: Target, read: Read) -> RawPage:
        first = target.url
        hops: list[str] = []
        downgraded = False
        known: dict[str, tuple[Address, ...]] = {}
        while True:
            async with self._request(target, known) as response:
                location = response.headers.get("Location", "")
                if response.status not in _REDIRECTS or not location:
                    page = await read(response, target)
                    return replace(page, url=first, hops=tuple(hops), downgraded=downgraded)
            following = follow(target, location, self.policy)
            hops.append(target.url)
            if following.url in hops:
                raise PageUnavailable(Fact("page_read.circle", host=target.host))
            if len(hops) > self.policy.max_redirects:
                raise PageUnavailable(Fact("page_read.redirects", host=target.host, limit=self.policy.max_redirects))
            downgraded |= target.scheme == "https" and following.scheme == "http"
            target = following

    @asynccontextmanager
    async def _request(
        self, target: Target, known: dict[str, tuple[Address, ...]]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Make one request; ``known`` has the checked addresses of this fetch."""
        proxy = proxy_for(target.url) if self.policy.use_env_proxy else None
        connector: aiohttp.TCPConnector
        if proxy is None:
            if target.host not in known:
                known[target.host] = await self._checked_addresses(target)
            connector = _PinnedConnector(target.host, known[target.host], self._tls)
        else:
            connector = aiohttp.TCPConnector(ssl=self._tls or True)
        with _translated(target.host):
            async with (
                aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    headers=self._headers,
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_TIMEOUT, self.policy.timeout)),
                    max_line_size=MAX_HEADER_BYTES,
                    max_field_size=MAX_HEADER_BYTES,
                    trust_env=False,
                    auto_decompress=False,  # done here, piece by piece under the limit
                ) as session,
                session.get(URL(target.url, encoded=True), allow_redirects=False, proxy=proxy) as response,
            ):
                yield response

    async def _checked_addresses(self, target: Target) -> tuple[Address, ...]:
        if target.address is not None:
            return (target.address,)
        try:
            found = [ip_address(text) for text in await self._resolve(target.host, target.port)]
        except (OSError, ValueError):
            found = []
        if not found:
            raise PageUnavailable(Fact("http.dns", host=target.host))
        # One bad address among good ones is enough: which of them is connected to is not in our hands.
        for address in found:
            check_address(address, target, self.policy)
        return tuple(dict.fromkeys(found))

    def _checked(self, response: aiohttp.ClientResponse, target: Target) -> str:
        """Return the kind that a reply says it is, where it is one that may be read."""
        if not 200 <= response.status < 300:  # noqa: PLR2004 - the HTTP success range
            raise _status_error(response, target.host)
        content_type = clean(response.headers.get("Content-Type", "").partition(";")[0]).lower()
        if content_type:
            self._check_content_type(content_type, target.host)
        return content_type

    async def _read(self, response: aiohttp.ClientResponse, target: Target) -> RawPage:
        content_type = self._checked(response, target)
        body = b"".join([piece async for piece in self._pieces(response, target.host)])
        charset = (response.charset or "").strip("\"' ").lower()
        sniffed = _sniff(body, charset)
        if not content_type or sniffed in _NO_TEXT:
            content_type = sniffed
            self._check_content_type(content_type, target.host)
        storable = "no-store" not in response.headers.get("Cache-Control", "").lower()
        return RawPage(target.url, target.url, response.status, content_type, charset, body, storable=storable)

    def _check_content_type(self, content_type: str, host: str) -> None:
        if content_type in self.policy.content_types:
            return
        if content_type == "application/pdf":
            raise UnsupportedPage(Fact("page_read.pdf", host=host))
        other = Fact("page_read.other_kind", host=host, kind=truncate(content_type, 60))
        raise UnsupportedPage(other, fix=_OTHER_SOURCE)

    async def _pieces(self, response: aiohttp.ClientResponse, host: str) -> AsyncIterator[bytes]:
        limit = self.policy.max_bytes
        # Counted after decompression; the declared length only saves the transfer.
        if (response.content_length or 0) > limit:
            raise _too_large(host, limit)
        size = 0
        try:
            unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
            async for chunk in response.content.iter_any():
                for piece in unpacker.feed(chunk):
                    size += len(piece)
                    if size > limit:
                        raise _too_large(host, limit)
                    yield piece
        except ValueError:
            raise PageUnavailable(Fact("page_read.packing", host=host), fix=_OTHER_SOURCE) from None
        if not unpacker.complete:
            raise _broken_off(host)


class _PinnedConnector(aiohttp.TCPConnector):
    """Connects to the checked addresses of one host and to nothing else."""

    def __init__(self, host: str, addresses: tuple[Address, ...], tls: ssl.SSLContext | None) -> None:
        super().__init__(resolver=_PinnedResolver(host, addresses), use_dns_cache=False, ssl=tls or True)
        self._addresses = addresses

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout) -> Connection:
        """Connect, then look once more who is at the other end, before a request is sent."""
        connection = await super().connect(req, traces, timeout)
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        if peer is None or ip_address(peer[0]) not in self._addresses:
            connection.close()
            raise PageRefused(Fact("page_read.unchecked_peer", host=req.url.raw_host or ""))
        return connection


class _PinnedResolver(AbstractResolver):
    """Answers with the addresses that were checked; asks nobody."""

    def __init__(self, host: str, addresses: tuple[Address, ...]) -> None:
        self._host = host
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if host != self._host:
            raise OSError(None, "not the host that was checked")
        families = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=families[address.version],
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
            if family in {socket.AF_UNSPEC, families[address.version]}
        ]

    async def close(self) -> None:
        """Nothing is held."""


@contextmanager
def _translated(host: str) -> Iterator[None]:
    """Turn the client's errors into ours. Their texts may name addresses, so none is passed on."""
    try:
        yield
    except (PageError, TimeoutError):
        raise  # a timeout gets its words, with the seconds, in fetch()
    except aiohttp.ClientPayloadError:
        raise _broken_off(host) from None
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
        raise PageUnavailable(Fact("page_read.certificate", host=host), fix=_OTHER_SOURCE) from None
    except aiohttp.ClientConnectorError as error:
        failed = Fact(connection_code(error.os_error), host=host, words=words_of(error.os_error))
        raise PageUnavailable(failed, fix=_connect_fix()) from None
    except aiohttp.ClientConnectionError:
        raise PageUnavailable(Fact("http.closed", host=host)) from None
    except (aiohttp.ClientError, OSError):
        raise PageUnavailable(Fact("page_read.not_http", host=host), fix=_OTHER_SOURCE) from None


async def system_addresses(host: str, port: int) -> list[str]:
    """Ask the system's name service for all addresses of ``host``."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _sniff(body: bytes, charset: str) -> str:
    """Guess what a body is where the header does not say, or says text of something that is none."""
    head = body[:_SNIFFED_BYTES].lstrip()
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if b"\x00" in head and not head.startswith(_UTF16_MARKS) and not charset.startswith(("utf-16", "utf-32")):
        return "application/octet-stream"
    return "text/html" if head.startswith(b"<") else "text/plain"


def _status_error(response: aiohttp.ClientResponse, host: str) -> PageError:
    status = response.status
    wait = parse_retry_after(response.headers.get("Retry-After"))
    return PageUnavailable(Fact(_status_code(status), host=host, status=status), status=status, retry_after=wait)


def _status_code(status: int) -> str:
    if status in {401, 402, 403, 407, 451}:
        return "page_read.denied"
    if status in {404, 410}:
        return "page_read.no_page"
    if status == 429:  # noqa: PLR2004 - HTTP
        return "page_read.slow_down"
    return "page_read.failed" if status >= 500 else "page_read.not_delivered"  # noqa: PLR2004 - HTTP


def _too_large(host: str, limit: int) -> PageTooLarge:
    return PageTooLarge(Fact("page_read.too_large", host=host, limit=limit // 1024), fix=_OTHER_SOURCE)


def _broken_off(host: str) -> PageUnavailable:
    return PageUnavailable(Fact("page_read.broke_off", host=host))


def _connect_fix() -> Fact:
    return Fact("page_read.proxy_unused" if urllib.request.getproxies() else "page_read.check_address")


def _default_user_agent() -> str:
    from qiusuo import __version__  # noqa: PLC0415 - the package imports this module lazily

    return f"Mozilla/5.0 (compatible; qiusuo/{__version__})"
