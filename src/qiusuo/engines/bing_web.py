"""Bing's result pages, opened in the user's own Chrome; the engine ``bing`` is Microsoft's API, which needs a key.

Microsoft's terms do not allow automated queries without its permission: see docs/google.md.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import parse_qs, urljoin, urlsplit

from qiusuo.engines.base import Feature, Joins, with_sites
from qiusuo.engines.result_pages import (
    PAGE_SIZE,
    ResultPageEngine,
    blocked,
    distinct,
    link_around,
    longest_text,
    parse,
    prose,
    result,
    text_of,
    unknown_layout,
)
from qiusuo.engines.snippet_dates import utc_now
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.text import is_traditional_chinese, primary_language, region_for
from qiusuo.words import Fact

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

NAME: Final = "bing_web"
HOME: Final = "https://www.bing.com"

# A result is an entry of the list, no answer or advertisement, whose heading is a link to another site.
_ENTRIES: Final = "#b_results > li:not(.b_ans):not(.b_ad)"
_TITLE: Final = "h2 a[href]"
_TITLE_IN_LINK: Final = "a[href] h2"
_NOTHING_FOUND: Final = "#b_results > .b_no"
_CAPTCHA: Final = (
    '[data-sitekey], .cf-turnstile, iframe[src*="challenges.cloudflare.com"], form[action*="captcha"], #b_captcha'
)
_RECENT: Final = {Freshness.HOUR: "ez1", Freshness.DAY: "ez1", Freshness.WEEK: "ez2", Freshness.MONTH: "ez3"}


class BingWebEngine(ResultPageEngine):
    """Bing through headless Chrome, without a key."""

    name = NAME
    label = "Bing (Chrome)"
    docs_url = "https://www.microsoft.com/servicesagreement"
    base_url = HOME
    priority = 130
    joins = Joins.NAMED
    max_query_chars = 1000
    features: ClassVar = frozenset(Feature) - {Feature.NEWS}
    ready = f"{_ENTRIES} {_TITLE}, {_ENTRIES} {_TITLE_IN_LINK}, {_NOTHING_FOUND}, {_CAPTCHA}"

    def parameters(self, query: Query, page: int) -> Mapping[str, object]:
        return {
            "q": with_sites(query, self.query_text(query), max_chars=self.max_query_chars, exclude="NOT site:"),
            "setlang": _language(query.language),
            "cc": region_for(query.language, query.region),
            "filters": _age(query.freshness) if query.freshness else None,
            "first": page * PAGE_SIZE + 1 if page else None,
        }

    def read(self, html: str, url: str) -> list[SearchResultItem]:
        return parse_results(html, url, self._clock())


def parse_results(html: str, url: str = "", now: datetime | None = None) -> list[SearchResultItem]:
    """Read a result page of Bing; ``url`` is where the browser ended up, if known, and "2 days ago" is before ``now``.

    Raises:
        Blocked: Bing wants to see a person.
        BadResponse: it is no result page, or one of a layout that is not known.
    """
    tree = parse(html)
    items = distinct(_results(tree, url, now or utc_now()))
    if items:
        return items
    if tree.css_first(_CAPTCHA) is not None or "captcha" in urlsplit(url).path:
        raise blocked(NAME, Fact("engine.person_asked", site="Bing"))
    if tree.css_first(_NOTHING_FOUND) is not None:
        return []
    raise unknown_layout(NAME, urlsplit(url).hostname or "Bing")


def target(href: str, page: str = "") -> str | None:
    """Return where a link of a result page leads; None for Bing's own pages."""
    try:
        link = urljoin(page or HOME, href.strip())
        parts = urlsplit(link)
    except ValueError:
        return None
    host = parts.hostname or ""
    if host != "bing.com" and not host.endswith(".bing.com") and (not page or parts.netloc != urlsplit(page).netloc):
        return link
    wrapped = next(iter(parse_qs(parts.query).get("u", ())), "")
    if parts.path != "/ck/a" or not wrapped.startswith("a1"):
        return None
    try:
        return urlsafe_b64decode(wrapped[2:] + "=" * (-len(wrapped[2:]) % 4)).decode()
    except ValueError:
        return None


def _results(tree: LexborHTMLParser, url: str, now: datetime) -> Iterator[SearchResultItem | None]:
    for entry in tree.css(_ENTRIES):
        title = entry.css_first(_TITLE) or entry.css_first(_TITLE_IN_LINK)
        link = link_around(title) if title is not None else None
        address = target(link.attributes.get("href") or "", url) if link is not None else None
        if title is None or link is None or address is None:
            continue
        snippet = prose(entry.css_first("p")) or longest_text(entry, (link,))
        yield result(NAME, text_of(title), address, snippet, now)


def _language(tag: str | None) -> str | None:
    language = primary_language(tag)
    if language != "zh":
        return language
    return "zh-hant" if is_traditional_chinese(tag) else "zh-hans"


def _age(freshness: Freshness) -> str:
    """Return Bing's filter: a named span, or for a year the days since 1970 from when to when."""
    named = _RECENT.get(freshness)
    if named is None:
        today = (datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(days=1)
        named = f"ez5_{today - 366}_{today}"
    return f'ex1:"{named}"'
