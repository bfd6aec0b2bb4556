"""What kind of place an IP address is: only ``None`` (public) may be fetched unless the operator says otherwise.

The ranges are those of the IANA special-purpose registries. IPv6 is read the other way round: only global unicast
(2000::/3) can be public at all, so a range that is assigned tomorrow is refused today.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from qiusuo.words import Fact

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class AddressKind(StrEnum):
    """Why an address is not public."""

    METADATA = "metadata"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    SHARED = "shared"
    LINK_LOCAL = "link_local"
    MULTICAST = "multicast"
    UNSPECIFIED = "unspecified"
    DOCUMENTATION = "documentation"
    BENCHMARK = "benchmark"
    TRANSITION = "transition"
    RESERVED = "reserved"

    @property
    def fact(self) -> Fact:
        """What it is, as people say it: the end of "it is ..."."""
        return Fact(f"address.{self.value}")


# Where clouds hand out the machine's credentials. 168.63.129.16 (Azure) lies in public space.
METADATA_ADDRESSES: Final = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google, OpenStack, DigitalOcean ...
        "169.254.170.2",  # AWS ECS task credentials
        "169.254.170.23",  # AWS EKS pod identity
        "169.254.0.23",  # Tencent Cloud
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure wire server
        "192.0.0.192",  # Oracle Cloud
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS EKS pod identity
        "fd20:ce::254",  # Google
        "fe80::a9fe:a9fe",  # OpenStack
    )
)

# The first range that contains the address decides.
_RANGES: Final[tuple[tuple[Network, AddressKind], ...]] = tuple(
    (ip_network(text), kind)
    for text, kind in (
        ("0.0.0.0/8", AddressKind.UNSPECIFIED),
        ("10.0.0.0/8", AddressKind.PRIVATE),
        ("100.64.0.0/10", AddressKind.SHARED),
        ("127.0.0.0/8", AddressKind.LOOPBACK),
        ("169.254.0.0/16", AddressKind.LINK_LOCAL),
        ("172.16.0.0/12", AddressKind.PRIVATE),
        ("192.0.0.0/24", AddressKind.RESERVED),
        ("192.0.2.0/24", AddressKind.DOCUMENTATION),
        ("192.88.99.0/24", AddressKind.TRANSITION),  # 6to4 relays
        ("192.168.0.0/16", AddressKind.PRIVATE),
        ("198.18.0.0/15", AddressKind.BENCHMARK),
        ("198.51.100.0/24", AddressKind.DOCUMENTATION),
        ("203.0.113.0/24", AddressKind.DOCUMENTATION),
        ("224.0.0.0/4", AddressKind.MULTICAST),
        ("240.0.0.0/4", AddressKind.RESERVED),  # with 255.255.255.255
        ("::/128", AddressKind.UNSPECIFIED),
        ("::1/128", AddressKind.LOOPBACK),
        ("::/96", AddressKind.TRANSITION),  # IPv4-compatible
        ("64:ff9b:1::/48", AddressKind.TRANSITION),  # local NAT64: where the IPv4 part sits is anyone's choice
        ("fc00::/7", AddressKind.PRIVATE),
        ("fe80::/10", AddressKind.LINK_LOCAL),
        ("fec0::/10", AddressKind.PRIVATE),  # site-local, before fc00::/7 took its place
        ("ff00::/8", AddressKind.MULTICAST),
        ("2001::/32", AddressKind.TRANSITION),  # Teredo
        ("2001:2::/48", AddressKind.BENCHMARK),
        ("2001::/23", AddressKind.RESERVED),  # protocol assignments
        ("2001:db8::/32", AddressKind.DOCUMENTATION),
        ("2002::/16", AddressKind.TRANSITION),  # 6to4
        ("3fff::/20", AddressKind.DOCUMENTATION),
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})


def inner_address(address: Address) -> Address:
    """Return the IPv4 address that a connection to this IPv6 address reaches in the end, else the address itself.

    Only the forms that ordinary machines use are unwrapped: IPv4-mapped (a resolver's V4MAPPED answers) and the
    well-known NAT64 prefix (every IPv4 site, seen from an IPv6-only network).
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def kind_of(address: Address) -> AddressKind | None:
    """Tell why ``address`` is not public; None if it is."""
    address = inner_address(address)
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return AddressKind.LINK_LOCAL
    if address in METADATA_ADDRESSES:
        return AddressKind.METADATA
    for network, kind in _RANGES:
        if address in network:
            return kind
    if isinstance(address, IPv6Address):
        if address not in _GLOBAL_UNICAST:
            return AddressKind.RESERVED
        # ISATAP puts an IPv4 address into the lower half of any prefix.
        if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
            return AddressKind.TRANSITION
    return None
