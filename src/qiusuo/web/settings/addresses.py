"""Which addresses an operator may type: any of the web or of this network, but none that hands out credentials."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from qiusuo.http.addresses import AddressKind, kind_of
from qiusuo.words import Fact

REFUSED_KINDS: Final = frozenset(
    {AddressKind.METADATA, AddressKind.LINK_LOCAL, AddressKind.MULTICAST, AddressKind.RESERVED}
)
_METADATA_NAMES: Final = ("metadata.google.internal", "metadata.goog", "metadata.tencentyun.com", "metadata")
# 2852039166, 0xa9.254.169.254: to a system's resolver an address, to a reader a riddle.
_NUMBER: Final = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)", re.IGNORECASE)


def address_problem(url: str) -> Fact | None:
    """Return what is wrong with an address as it is written; None where nothing is."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its words quote what it took for the port, perhaps a password
        usable = False
    if not usable or parts.query or parts.fragment or re.search(r"[\s\\]", url):
        return Fact("settings.address_form")
    host = (parts.hostname or "").rstrip(".").lower()
    if host in _METADATA_NAMES:
        return Fact("settings.address_refused", kind=AddressKind.METADATA.fact)
    try:
        return refused_address(host)
    except ValueError:
        return Fact("settings.address_form") if _NUMBER.fullmatch(host.rpartition(".")[2]) else None


def refused_address(address: str) -> Fact | None:
    """Return why nothing is sent to an IP address; None where it may be.

    Raises:
        ValueError: it is none.
    """
    kind = kind_of(ip_address(address))
    return Fact("settings.address_refused", kind=kind.fact) if kind in REFUSED_KINDS else None
