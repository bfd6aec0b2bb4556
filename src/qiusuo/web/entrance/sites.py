"""Which requests a web page of somebody else has made the browser send.

On a server without tokens the browser of its user is let in, so every page that this browser shows could search at the
user's cost. It may send people to a page of ours, and nothing else: a hidden frame, a picture, a form or a window would
do for a search, and a click somewhere on that page is no wish to search either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.types import Scope

from qiusuo.config.server import host_key

OPEN_PAGES: Final = re.compile(
    r"/|/page/.+|/docs(?:/[\w-]+)?|/settings|/board|/usage|/share/[\w-]+"
    r"|/opensearch\.xml|/manifest\.webmanifest|/offline\.js"
)
"""Show the same to everybody: they tell nothing of anybody but what was shared by a link, and cost nothing."""
SEARCHING_PATHS: Final = frozenset({"/", "/search"})
"""Search by mere GET, where the address has a query."""

# A page that is only fetched ahead was asked for by nobody yet.
_AHEAD: Final = (b"sec-purpose", b"purpose", b"x-moz")
_OWN: Final = frozenset({b"same-origin", b"none"})
"""Our own pages; and what no page asked for: a typed address, a bookmark, the browser's search box."""

Headers = Mapping[bytes, bytes]


def opens_page(scope: Scope) -> bool:
    """Tell whether a request only reads a page of ours; a program's query is passed on to the search."""
    if scope["method"] not in {"GET", "HEAD"} or OPEN_PAGES.fullmatch(scope["path"]) is None:
        return False
    query = scope["query_string"].decode("latin-1")
    return not (query and any(name == "q" for name, _ in parse_qsl(query))) or asks_page(scope)


def asks_page(scope: Scope) -> bool:
    """Tell whether somebody brings a question to the chat page; programs name a format, or want no page."""
    if scope["method"] not in {"GET", "HEAD"} or scope["path"] != "/":
        return False
    given = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return bool(given.get("q")) and "format" not in given and b"text/html" in accepted.lower()


class OtherSites:
    """Tells requests of other sites from our own. ``names`` are the server's public ones, behind a proxy."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def forged(self, scope: Scope, host: str, headers: Headers, *, harmless: bool) -> bool:
        """Tell whether another site wants more than to show a page, or (``harmless``) what is as good as one."""
        if any(b"prefetch" in headers.get(name, b"") for name in _AHEAD):
            return not harmless
        if not self.is_foreign(scope, host, headers):
            return False
        # In a window of its own: in a frame people would not know on what they click.
        seen = headers.get(b"sec-fetch-dest", b"document") == b"document"
        return not (harmless and seen and headers.get(b"sec-fetch-mode", b"navigate") == b"navigate")

    def is_foreign(self, scope: Scope, host: str, headers: Headers) -> bool:
        """Tell whether a page of another origin has made the browser send a request."""
        site = headers.get(b"sec-fetch-site")
        if site in _OWN:
            return False
        if site == b"cross-site":
            return True
        # Without that header, in old browsers and over plain HTTP beyond this machine, the address tells. Of the same
        # site is every program on another port of this machine, so there the address must tell too.
        said = headers.get(b"origin") or headers.get(b"referer")
        if said is not None:
            return not self._is_ours(said, host)
        if site is not None:
            return True
        # Programs do not say where they come from. A browser that hides it may show pages, but not search unseen.
        looks_like_browser = headers.get(b"user-agent", b"").startswith(b"Mozilla/") and b"accept-language" in headers
        return looks_like_browser and scope["method"] == "GET" and scope["path"] in SEARCHING_PATHS

    def _is_ours(self, address: bytes, host: str) -> bool:
        try:
            parts = urlsplit(address.decode("latin-1"))
            if parts.netloc.lower() == host.lower():
                return bool(host)
            return parts.port is None and host_key(parts.hostname or "") in self._names
        except ValueError:
            return False
