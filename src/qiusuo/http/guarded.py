"""A client for addresses that an operator types: any network may be meant, but no place that hands out credentials."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from qiusuo.http.addresses import AddressKind, kind_of
from qiusuo.http.api import HttpClient

REFUSED_KINDS: Final = frozenset(
    {AddressKind.METADATA, AddressKind.LINK_LOCAL, AddressKind.MULTICAST, AddressKind.RESERVED}
)


class _Resolver(AbstractResolver):
    """The system's resolver, which knows no refused address: looked at when it is used, not before."""

    def __init__(self) -> None:
        self._system = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._system.resolve(host, port, family)
        if any(kind_of(ip_address(each["host"].partition("%")[0])) in REFUSED_KINDS for each in found):
            raise OSError(None, "the name leads to an address to which nothing is sent")
        return found

    async def close(self) -> None:
        await self._system.close()


class GuardedClient(HttpClient):
    """Connects to names only where all of their addresses may be asked. Plain addresses are the caller's to check."""

    def _new_session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=_Resolver(), use_dns_cache=False, force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept": "application/json"},
        )
