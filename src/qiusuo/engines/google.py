"""Google's result pages, opened in the user's own Chrome and read by their structure.

Class names on these pages change every few months, so a result is found by what it must be: a link around a heading.
Google's terms of service do not allow automated queries without its permission: see docs/google.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import parse_qs, urljoin, urlsplit

from qiusuo.engines.base import Feature, Joins, with_sites
from qiusuo.engines.result_pages import (
    PAGE_SIZE,
    ResultPageEngine,
    blocked,
    box_of,
    distinct,
    ids_of,
    link_around,
    longest_text,
    parse,
    prose,
    result,
    text_of,
    unknown_layout,
    within,
)
from qiusuo.engines.snippet_dates import utc_now
from qiusuo.errors import EngineError
from qiusuo.models import Query, SearchResultItem
from qiusuo.text import is_traditional_chinese, primary_language, region_for
from qiusuo.words import Fact

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

NAME: Final = "google"
HOME: Final = "https://www.google.com"

# A title link: around a heading since 2019, inside it before.
_TITLES: Final = "a[href] h3, h3.r > a[href]"
# The pages for phones, and the news, have headings of another kind. On other pages these stand in boxes of all sorts.
_OTHER_TITLES: Final = 'a[href] [role="heading"][aria-level="3"]'
_NOT_ORGANIC: Final = (
    "#tads, #tadsb, #bottomads, [data-text-ad], "  # advertisements
    "[data-q], [data-initq], .related-question-pair, "  # people also ask
    "#rhs, [data-attrid], "  # the panel of facts
    'g-scrolling-carousel, [style*="display:none"], [style*="display: none"]'
)
_CAPTCHA: Final = "form#captcha-form, .g-recaptcha, [data-sitekey]"
_INTERSTITIAL: Final = '#yvlrue, a[href*="emsg=SG_REL"]'
_CONSENT: Final = 'form[action*="consent.google"]'
# Google's word for "nothing found" stands above or below the place of the results, which is then empty.
_NOTHING_FOUND: Final = "#topstuff p, #botstuff p[role=heading]"

# Google's own links: searches, images, places on the map.
_OWN_PATHS: Final = re.compile(
    r"/(?:search|imgres|maps/(?:place|dir|search)|url|aclk|setprefs|sorry|httpservice)(?:[/?]|$)"
)
# Results when they are given with their whole address, parts of the page when not.
_PARTS: Final = re.compile(r"/(?:maps|advanced_search|preferences|intl|policies|images|travel|shopping)(?:[/?]|$)")
_GOOGLE_HOST: Final = re.compile(r"(?:www\.|maps\.|translate\.|news\.)?google(?:\.[a-z]{2,3}){1,2}")
_OWN_ADDRESS_AS_TITLE: Final = re.compile(r"https?://\S+")


class GoogleEngine(ResultPageEngine):
    """Google through headless Chrome: no key, but meant for people, and quick to ask for one."""

    name = NAME
    label = "Google (Chrome)"
    docs_url = "https://policies.google.com/terms"
    base_url = HOME
    priority = 120
    joins = Joins.LAST_RESORT
    max_query_chars = 2000
    max_query_words = 32
    features: ClassVar = frozenset(Feature)
    # Not the interstitial: in a browser it leads on to the results by itself.
    ready = f"{_TITLES}, {_OTHER_TITLES}, {_CAPTCHA}, {_CONSENT}, {_NOTHING_FOUND}"

    def parameters(self, query: Query, page: int) -> Mapping[str, object]:
        region = region_for(query.language, query.region)
        return {
            "q": with_sites(query, self.query_text(query), max_chars=self.max_query_chars),
            "hl": google_language(query.language),
            "gl": region.lower() if region else None,
            "tbm": "nws" if query.wants_news else None,
            "tbs": f"qdr:{query.freshness.value[0]}" if query.freshness else None,
            "start": page * PAGE_SIZE or None,
        }

    def read(self, html: str, url: str) -> list[SearchResultItem]:
        return parse_results(html, url, self._clock())


def parse_results(html: str, url: str = "", now: datetime | None = None) -> list[SearchResultItem]:
    """Read a result page of Google; ``url`` is where the browser ended up, if known; "2 days ago" is before ``now``.

    Returns:
        The organic results in their order, ``[]`` only if Google says that nothing was found.

    Raises:
        Blocked: Google wants to see a person (CAPTCHA, consent, a check that does not pass).
        BadResponse: it is no result page, or one of a layout that is not known.
    """
    tree = parse(html)
    place = urlsplit(url)
    if _is_captcha(tree, place.path):
        raise blocked(NAME, Fact("google.captcha"))
    found_titles = False
    for selector in (_TITLES, _OTHER_TITLES):
        titles = _title_links(tree, selector)
        found_titles = found_titles or bool(titles)
        # On pages for phones a link such as "More results" has a heading of the other kind.
        items = distinct(_results(titles, url, now or utc_now()))
        if items:
            return items
    failure = _why_nothing(tree, place.hostname or "", found_titles=found_titles)
    if failure is not None:
        raise failure
    return []


def google_language(tag: str | None) -> str | None:
    """Return Google's name for a language: Chinese needs its script, the others their first part."""
    language = primary_language(tag)
    if language != "zh":
        return language
    return "zh-TW" if is_traditional_chinese(tag) else "zh-CN"


def target(href: str, page: str = "") -> str | None:
    """Return where a link of a result page leads; None for Google's own pages."""
    try:
        link = urljoin(page or HOME, href.strip())
        parts = urlsplit(link)
        own = _GOOGLE_HOST.fullmatch(parts.hostname or "") or (page and parts.netloc == urlsplit(page).netloc)
    except ValueError:
        return None
    if own and parts.path == "/url":
        wrapped = parse_qs(parts.query)
        inner = next(iter(wrapped.get("q") or wrapped.get("url") or ()), "")
        # One that is wrapped twice is nothing that Google makes.
        return target(inner, page) if inner.startswith("http") and "/url?" not in inner else None
    whole = href.strip().startswith(("http://", "https://"))
    return None if own and (_OWN_PATHS.match(parts.path) or (_PARTS.match(parts.path) and not whole)) else link


def _is_captcha(tree: LexborHTMLParser, path: str) -> bool:
    # Never by its words, which are in any language. Its title is the address that was asked for.
    title = text_of(tree.css_first("title"))
    return (
        path.startswith("/sorry")
        or tree.css_first(_CAPTCHA) is not None
        or (_OWN_ADDRESS_AS_TITLE.fullmatch(title) is not None and "/search?" in title)
    )


def _title_links(tree: LexborHTMLParser, selector: str) -> list[tuple[LexborNode, LexborNode]]:
    """Return the headings of organic results, each with its link."""
    left_out = ids_of(tree.css(_NOT_ORGANIC))
    return [(node, link) for node in tree.css(selector) if (link := link_around(node)) and not within(node, left_out)]


def _results(titles: list[tuple[LexborNode, LexborNode]], url: str, now: datetime) -> Iterator[SearchResultItem | None]:
    headings = ids_of(node for node, _ in titles)
    for node, link in titles:
        address = target(link.attributes.get("href") or "", url)
        if address is None:
            continue
        box = box_of(node, headings, f"{_TITLES}, {_OTHER_TITLES}")
        yield result(NAME, text_of(node), address, _snippet(box, node, link), now, date=_date(box))


def _snippet(box: LexborNode, heading: LexborNode, link: LexborNode) -> str:
    for selector in ('[data-sncf="1"]', ".VwiC3b"):
        found = prose(box.css_first(selector))
        if found:
            return found
    # The whole of a news item is one link.
    return longest_text(box, (link,)) or longest_text(link, (heading,))


def _date(box: LexborNode) -> str | None:
    """Return the moment of a news item, which stands in the page as seconds since 1970."""
    stamp = box.css_first("[data-ts]")
    seconds = (stamp.attributes.get("data-ts") or "") if stamp is not None else ""
    readable = seconds.isdecimal() and len(seconds) <= len("9999999999")
    return datetime.fromtimestamp(int(seconds), UTC).isoformat() if readable else None


def _why_nothing(tree: LexborHTMLParser, host: str, *, found_titles: bool) -> EngineError | None:
    """Tell why a page has no results; None if there really are none."""
    if tree.css_first(_INTERSTITIAL) is not None:
        return blocked(NAME, Fact("engine.endless_check", host="Google"))
    if host.startswith("consent.google.") or tree.css_first(_CONSENT) is not None:
        return blocked(NAME, Fact("google.consent"))
    place = tree.css_first("#search")
    empty = place is not None and place.css_first("a[href]") is None and not found_titles
    if empty and any(text_of(node) for node in tree.css(_NOTHING_FOUND)):
        return None
    return unknown_layout(NAME, host or "Google")
