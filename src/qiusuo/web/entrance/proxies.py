"""Who stands behind a proxy: what its headers say is believed where the settings name it, and nowhere else.

Each proxy adds to the right of a list whom it was called by. So the list is read from the right, as long as those who
wrote it are trusted: what stands further left may have been made up by anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

from starlette.types import Scope

from qiusuo.config.server import UNIX_SOCKET, is_loopback

UNKNOWN: Final = "unknown"
"""Stands for all whom a trusted proxy does not name: they are neither the proxy nor anybody on this machine."""
SAID_BY_PROXIES: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
"""Who sends one of these was brought by a proxy."""

_FOR, _PROTO, _HOST, _FORWARDED = b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"forwarded"
_READ: Final = SAID_BY_PROXIES | {_PROTO, _HOST}
_SCHEMES: Final = frozenset({"http", "https"})
_NAME: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_WITH_PORT: Final = re.compile(r"\[([^\[\]]*)\](?::\w*)?|([0-9.]+):\w*")
_PAIR: Final = re.compile(r'\s*([\w!#$%&\'*+.^`|~-]+)=("(?:[^"\\]|\\.)*"|[^\s",;=]*)\s*')

RawHeaders = Iterable[tuple[bytes, bytes]]


class Person(NamedTuple):
    """Who called, by an address or as unknown; and how they called the first proxy, where that is said."""

    address: str
    scheme: str | None = None
    host: str | None = None


class TrustedProxies:
    """The proxies that the settings name: addresses, networks, and ``unix`` for who calls by a Unix socket."""

    def __init__(self, named: Iterable[str] | None) -> None:
        given = frozenset(named or ())
        self._unix = UNIX_SOCKET in given
        self._networks = tuple(ip_network(each) for each in given - {UNIX_SOCKET})

    def trusts(self, peer: str) -> bool:
        """Tell whether a peer is one of them."""
        if peer == UNIX_SOCKET:
            return self._unix
        if not self._networks:
            return False
        address = _address(peer)
        return address is not None and any(ip_address(address) in network for network in self._networks)

    def person(self, peer: str, headers: RawHeaders) -> Person:
        """Return who stands behind a trusted peer."""
        said: dict[bytes, list[str]] = {name: [] for name in _READ}
        for name, value in headers:
            if name in said:
                said[name].append(value.decode("latin-1"))
        hops, elements = _parts(said[_FOR]), [each for line in said[_FORWARDED] for each in _elements(line)]
        by_list, at = self._walk(peer, hops)
        by_element, element_at = self._walk(peer, [each.get("for", "") for each in elements])
        if hops and elements and by_list != by_element:
            # One of the two is what the proxy wrote, the other what it let pass; nobody can tell which.
            return Person(UNKNOWN)
        element = elements[element_at] if elements else {}
        scheme = _of_hop(_parts(said[_PROTO]), at, len(hops)) or element.get("proto", "")
        host = _of_hop(_parts(said[_HOST]), at, len(hops)) or element.get("host", "")
        return Person(
            (by_list if hops else by_element) or UNKNOWN,
            scheme.lower() if scheme.lower() in _SCHEMES else None,
            host if _NAME.fullmatch(host) else None,
        )

    def reveal(self, scope: Scope) -> None:
        """Write into a request who has sent it, where a trusted proxy has brought it.

        In place: the server's own log reads it there. What has been read is taken out, so that nobody reads it again.
        """
        peer = peer_of(scope)
        if not self.trusts(peer):
            return
        person = self.person(peer, scope["headers"])
        scope["client"] = (person.address, 0)
        scope["scheme"] = person.scheme or scope["scheme"]
        left_out = _READ | ({b"host"} if person.host else frozenset())
        kept = [header for header in scope["headers"] if header[0] not in left_out]
        scope["headers"] = [(b"host", person.host.encode()), *kept] if person.host else kept

    def _walk(self, peer: str, hops: Sequence[str]) -> tuple[str | None, int]:
        """Return the first hop from the right that is not trusted, and its place; None where it cannot be read."""
        before = peer
        for place in reversed(range(len(hops))):
            hop = _address(hops[place])
            if hop is None:
                return None, place
            if is_loopback(hop) and before != UNIX_SOCKET and not is_loopback(before):
                return before, place  # a machine says that it was called from itself; it is not this machine
            if place == 0 or not self.trusts(hop):
                return hop, place
            before = hop
        return None, 0


def peer_of(scope: Scope) -> str:
    """Return who has opened the connection: an address, or that it is a Unix socket; empty where nobody knows."""
    client, server = scope.get("client"), scope.get("server")
    if client:
        return str(client[0])
    # Such a socket has a path and no port. A TCP client that is gone already has no address either.
    return UNIX_SOCKET if server and server[1] is None else ""


def _address(text: str) -> str | None:
    """Return an address without brackets, port and zone, in the one way in which addresses are compared."""
    found = _WITH_PORT.fullmatch(text)
    bare = (found[1] or found[2] or "") if found else text
    try:
        known = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return str(known.ipv4_mapped or known) if isinstance(known, IPv6Address) else str(known)


def _parts(lines: Iterable[str]) -> list[str]:
    """Return the entries of a list that may stand in several lines."""
    return [part.strip() for line in lines for part in line.split(",") if part.strip()]


def _of_hop(values: Sequence[str], place: int, count: int) -> str:
    """Return what the proxy next to the person says; where not each has said something, the last one."""
    if not values:
        return ""
    return values[place] if len(values) == count else values[-1]


def _elements(line: str) -> Sequence[Mapping[str, str]]:
    """Take a ``Forwarded`` line apart (RFC 7239); one that cannot be read as a whole names nobody."""
    found: list[dict[str, str]] = [{}]
    place = 0
    while place < len(line):
        pair = _PAIR.match(line, place)
        if pair is None or (pair.end() < len(line) and line[pair.end()] not in ",;"):
            return [{}]
        name, value = pair[1].lower(), pair[2]
        found[-1][name] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        if line[pair.end() : pair.end() + 1] == ",":
            found.append({})
        place = pair.end() + 1
    return found
