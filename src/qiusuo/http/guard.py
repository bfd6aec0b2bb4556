"""Which pages may be fetched: the rules against server-side request forgery. Pure: nothing here touches the network.

An address given by a model or by a page is a stranger's word. :func:`check_url` reads it in one strict way and
returns a :class:`Target` in canonical form, which is the only thing the client ever requests;
:func:`check_address` judges each address that the target's name resolves to; :func:`follow` does the same for a
redirect. Spellings that two programs might read differently are refused, not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, Self
from urllib.parse import quote, urljoin

import idna

from qiusuo.errors import ConfigurationError, PageRefused
from qiusuo.http.addresses import METADATA_ADDRESSES, Address, AddressKind, Network, inner_address, kind_of
from qiusuo.text import clean, truncate
from qiusuo.words import Fact

MAX_URL_LENGTH: Final = 4096
_MAX_HOST_LENGTH: Final = 253
DEFAULT_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
CONTENT_TYPES: Final = frozenset(
    {
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "text/markdown",
        "text/x-markdown",
        "application/json",
        "application/ld+json",
        "text/json",
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
    }
)

# Kinds that a host named by the operator may resolve to; the others need the very address in ``allow_private``.
_HOME_KINDS: Final = frozenset({AddressKind.PRIVATE, AddressKind.LOOPBACK, AddressKind.SHARED, AddressKind.BENCHMARK})
# Endings that no public name has, or that name the machine's own surroundings.
_LOCAL_SUFFIXES: Final = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "svc",
    "home.arpa",
)
_LOCAL_ENDINGS: Final = tuple("." + suffix for suffix in _LOCAL_SUFFIXES)
_METADATA_NAMES: Final = frozenset({"metadata.google.internal", "metadata.goog", "metadata.tencentyun.com"})

_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>//)?(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?"
)
_AUTHORITY = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<name>[^:\[\]]*))(?::(?P<port>[0-9]{0,5}))?")
# Invisible characters: they make an address look like another, or are dropped by one parser and not by the next.
_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_URL_SAFE = "!$%&'()*+,/:;=?@[]~-._|^`{}"

_WHOLE: Final = Fact("page_read.give_whole")
_PUBLIC: Final = Fact("page_read.public_only")


@dataclass(frozen=True)
class FetchPolicy:
    """What may be fetched and how much of it.

    ``allow_private`` opens places that are not public: networks or addresses (``10.1.0.0/16``, ``127.0.0.1``) and
    host names (``wiki.corp``, ``*.corp``). A network opens exactly what it covers, except that a metadata address
    must be listed by itself; a host name opens loopback and private addresses behind that name, no others.

    ``use_env_proxy`` sends requests through the proxy that the environment names. The proxy then resolves names, so
    only the rules about the URL itself still hold: switch it on where the proxy is the way out and has rules itself.
    """

    allowed_ports: frozenset[int] = frozenset({80, 443})
    allow_private: tuple[str, ...] = ()
    max_bytes: int = 5 * 1024 * 1024
    timeout: float = 15.0
    max_redirects: int = 5
    user_agent: str = ""
    content_types: frozenset[str] = CONTENT_TYPES
    use_env_proxy: bool = False

    def __post_init__(self) -> None:
        if self.max_bytes < 1 or self.timeout <= 0 or self.max_redirects < 0:
            raise ConfigurationError(Fact("page_read.limits"))
        _ = self.allowed_networks, self.allowed_hosts  # wrong entries are reported now, not at the first page

    @classmethod
    def opened_to(cls, places: Iterable[str], *, use_env_proxy: bool = False) -> Self:
        """Return a policy that opens hosts, networks and addresses; one with a port (``wiki.corp:8080``) opens that.

        Raises:
            ConfigurationError: one of them is neither.
        """
        hosts: list[str] = []
        ports = {80, 443}
        for place in places:
            host, colon, port = place.rpartition(":")
            if colon and port.isdecimal() and (":" not in host or host.endswith("]")):
                hosts.append(host.strip("[]"))
                ports.add(int(port))
            else:
                hosts.append(place)
        return cls(allowed_ports=frozenset(ports), allow_private=tuple(hosts), use_env_proxy=use_env_proxy)

    @cached_property
    def allowed_networks(self) -> tuple[Network, ...]:
        """The entries of ``allow_private`` that are networks."""
        return tuple(network for entry in self.allow_private if (network := _as_network(entry)) is not None)

    @cached_property
    def allowed_hosts(self) -> frozenset[str]:
        """The entries of ``allow_private`` that are names, in canonical form."""
        names = [entry for entry in self.allow_private if _as_network(entry) is None]
        return frozenset(_as_host_entry(name) for name in names)

    def trusts(self, host: str) -> bool:
        """Tell whether the operator named this host, or a wildcard above it."""
        if host in self.allowed_hosts:
            return True
        labels = host.split(".")
        return any("*." + ".".join(labels[start:]) in self.allowed_hosts for start in range(1, len(labels)))

    def allows(self, address: Address) -> bool:
        """Tell whether the operator listed this address."""
        for network in self.allowed_networks:
            if address in network and (address not in METADATA_ADDRESSES or network.num_addresses == 1):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Target:
    """An address that passed, in canonical form. ``address`` is set where the host is an IP address."""

    url: str
    scheme: str
    host: str
    port: int
    address: Address | None = None


def check_url(url: str, policy: FetchPolicy) -> Target:
    """Return the one reading of ``url``, or raise :class:`~qiusuo.errors.PageRefused` with the reason."""
    parts = _split(url.strip())
    scheme = parts["scheme"].lower()
    host, port_text, in_brackets = _split_authority(parts["authority"])
    address: Address | None
    if in_brackets:
        address = _literal_v6(host)
    else:
        host = canonical_host(host)
        address = _literal_v4(host)
    if address is not None:
        host = str(address)
    port = int(port_text or DEFAULT_PORTS[scheme])
    if port not in policy.allowed_ports:
        allowed = [str(number) for number in sorted(policy.allowed_ports)[:5]] or "-"
        raise PageRefused(Fact("page_read.port", port=port, allowed=allowed, **_could_be_opened(host, address, port)))
    shown_host = f"[{host}]" if in_brackets else host
    shown_port = "" if port == DEFAULT_PORTS[scheme] else f":{port}"
    # What is quoted already stays as it is; raw bytes in a redirect (a GBK path) keep their values.
    rest = quote((parts["path"] or "/") + (parts["query"] or ""), safe=_URL_SAFE, errors="surrogateescape")
    target = Target(f"{scheme}://{shown_host}{shown_port}{rest}", scheme, host, port, address)
    if address is None:
        _check_name(host, policy)
    else:
        check_address(address, target, policy)
    return target


def check_address(address: Address | str, target: Target, policy: FetchPolicy) -> None:
    """Raise :class:`~qiusuo.errors.PageRefused` unless the target may be fetched from ``address``.

    The message never names an address that the caller did not give.
    """
    if isinstance(address, str):
        address = ip_address(address)
    kind = kind_of(address)
    if kind is None or policy.allows(inner_address(address)) or policy.allows(address):
        return
    if target.address is not None:
        raise PageRefused(Fact("page_read.not_public", host=target.host, kind=kind.fact), fix=_PUBLIC)
    if kind in _HOME_KINDS and policy.trusts(target.host):
        return
    raise PageRefused(Fact("page_read.leads_inside", host=_shown(target.host)))


def follow(target: Target, location: str, policy: FetchPolicy) -> Target:
    """Return where a redirect leads, checked like any other address."""
    location = location.strip(" \t")
    # urljoin drops tabs and line breaks without a word, so they are looked for before.
    if not location or _INVISIBLE.search(location):
        raise _refused_redirect(target)
    try:
        # A whole address stands for itself; urljoin would take "http:///x" for a path on the same host.
        return check_url(location if _PARTS.match(location) else urljoin(target.url, location), policy)
    except (PageRefused, ValueError) as error:
        # The place was named by a stranger: it is not repeated, the cause has the details.
        raise _refused_redirect(target) from error


def canonical_host(host: str) -> str:
    """Return a host name in the form in which it is looked up: ASCII, lower case, no final dot."""
    if "%" in host:
        raise PageRefused(Fact("page_read.percent_encoded"), fix=_WHOLE)
    if not host.isascii():
        if len(host) > _MAX_HOST_LENGTH:
            raise PageRefused(Fact("page_read.host_too_long"), fix=_WHOLE)
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise PageRefused(Fact("page_read.no_host_name", given=_shown(host)), fix=_WHOLE) from None
    host = host.lower().removesuffix(".")
    if not host:
        raise PageRefused(Fact("page_read.no_host"), fix=_WHOLE)
    if len(host) > _MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise PageRefused(Fact("page_read.no_host_name", given=_shown(host)), fix=_WHOLE)
    return host


def _split(text: str) -> re.Match[str]:
    if not text:
        raise PageRefused(Fact("page_read.no_address"), fix=_WHOLE)
    if len(text) > MAX_URL_LENGTH:
        raise PageRefused(Fact("page_read.too_long", limit=MAX_URL_LENGTH))
    if _INVISIBLE.search(text):
        raise PageRefused(Fact("page_read.invisible"))
    parts = _PARTS.match(text)
    if parts is None:
        raise PageRefused(Fact("page_read.not_whole", given=_shown(text)), fix=_WHOLE)
    if parts["scheme"].lower() not in DEFAULT_PORTS:
        raise PageRefused(Fact("page_read.scheme", given=_shown(parts["scheme"])), fix=_WHOLE)
    if parts["slashes"] is None or "\\" in parts["authority"] + parts["path"]:
        raise PageRefused(Fact("page_read.not_written_so"), fix=_WHOLE)
    return parts


def _split_authority(authority: str) -> tuple[str, str, bool]:
    """Return host, port (may be empty) and whether the host stood in brackets."""
    if "@" in authority:
        raise PageRefused(Fact("page_read.user_name"))
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise PageRefused(Fact("page_read.unreadable_host"), fix=_WHOLE)
    is_v6 = found["v6"] is not None
    return found["v6"] if is_v6 else found["name"], found["port"] or "", is_v6


def _literal_v6(text: str) -> IPv6Address:
    if "%" in text:
        raise PageRefused(Fact("page_read.network_card"), fix=_PUBLIC)
    try:
        return IPv6Address(text)
    except AddressValueError:
        raise PageRefused(Fact("page_read.no_ipv6"), fix=_WHOLE) from None


def _literal_v4(host: str) -> IPv4Address | None:
    # Only the plain spelling passes: 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1 to a C library and something
    # else to others.
    if not _NUMBER_LABEL.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return IPv4Address(host)
    except AddressValueError:
        raise PageRefused(Fact("page_read.odd_number", given=_shown(host))) from None


def _could_be_opened(host: str, address: Address | None, port: int) -> dict[str, str]:
    """Return what an operator would list to have a place read; nothing for what no reader should ever reach."""
    if host in _METADATA_NAMES or (address is not None and inner_address(address) in METADATA_ADDRESSES):
        return {}
    return {"place": f"[{host}]:{port}" if isinstance(address, IPv6Address) else f"{_shown(host)}:{port}"}


def _check_name(host: str, policy: FetchPolicy) -> None:
    if host in _METADATA_NAMES:
        raise PageRefused(Fact("page_read.not_public", host=host, kind=AddressKind.METADATA.fact), fix=_PUBLIC)
    if policy.trusts(host):
        return
    if "." not in host or host.endswith(_LOCAL_ENDINGS):
        raise PageRefused(Fact("page_read.local_name", host=_shown(host)), fix=_PUBLIC)


def _as_network(entry: str) -> Network | None:
    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None


def _as_host_entry(entry: str) -> str:
    wildcard, name = ("*.", entry[2:]) if entry.startswith("*.") else ("", entry)
    try:
        host = canonical_host(name)
        if _literal_v4(host) is None:
            return wildcard + host
    except PageRefused:
        pass
    raise ConfigurationError(Fact("page_read.allow_private", given=repr(entry)))


def _refused_redirect(target: Target) -> PageRefused:
    return PageRefused(Fact("page_read.bad_redirect", host=_shown(target.host)))


def _shown(text: str) -> str:
    return truncate(clean(text), 80)
