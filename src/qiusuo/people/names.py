"""Names of people that come from elsewhere."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import ip_address, ip_network
from typing import Final

from qiusuo.config.server import THIS_MACHINE, is_loopback

LONGEST_NAME: Final = 100
# Control characters, invisible ones, breaks of lines, halves of characters, private ones.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
# Who came without a name: by an address that nobody knows, with a token without a name.
_OURS: Final = re.compile(rf"(?:{THIS_MACHINE}|unknown|token-[0-9a-f]{{8}})", re.IGNORECASE)


def usable_name(given: str) -> str | None:
    """Return a name under which conversations and searches can be kept; None where it cannot be anybody's.

    Addresses are the names of those who come without one, where nobody needs to be known.
    """
    name = unicodedata.normalize("NFC", given.strip())
    if not name or len(name) > LONGEST_NAME or name[0] == ":" or is_loopback(name) or _OURS.fullmatch(name):
        return None
    if any(unicodedata.category(letter) in _UNSEEN for letter in name):
        return None
    return None if _is_address(name) else name


def _is_address(name: str) -> bool:
    for read in (ip_address, ip_network):
        try:
            read(name.strip("[]").partition("%")[0])
        except ValueError:
            continue
        return True
    return False
