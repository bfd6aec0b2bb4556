"""Baidu's result pages, opened in the user's own Chrome.

Baidu's terms do not allow automated queries without its permission: see docs/google.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import urljoin, urlsplit

from qiusuo.engines.base import Feature, Joins, with_sites
from qiusuo.engines.result_pages import (
    PAGE_SIZE,
    ResultPageEngine,
    blocked,
    dated_part,
    distinct,
    is_web_address,
    longest_text,
    parse,
    prose,
    result,
    text_of,
    unknown_layout,
)
from qiusuo.engines.snippet_dates import utc_now
from qiusuo.models import Query, SearchResultItem
from qiusuo.text import earliest
from qiusuo.words import Fact

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

NAME: Final = "baidu"
HOME: Final = "https://www.baidu.com"

# Every box names its template. Those of results have a heading that is a link; "others also searched" and the like not.
_BOXES: Final = "#content_left > [tpl]"
_TITLE: Final = "h3 a[href]"
_ABSTRACT: Final = '[data-module="abstract"]'
_NOTHING_FOUND: Final = ".content_none, .nors"
_CAPTCHA: Final = '[class*="passMod_"], #captcha, .mod-vcode-content, form[action*="captcha"]'
# The page before the puzzle has nothing but this title and a notice of a network that is slow.
_CAPTCHA_TITLE: Final = "百度安全验证"
_JUMP: Final = ".timeout-feedback"
# Boxes without an address of their own have one of this host.
_NO_ADDRESS: Final = "nourl.ubs.baidu.com"


class BaiduEngine(ResultPageEngine):
    """Baidu through headless Chrome, without a key."""

    name = NAME
    label = "百度 Baidu (Chrome)"
    title = Fact("engine.baidu")
    docs_url = "https://www.baidu.com/duty/"
    base_url = HOME
    path = "/s"
    priority = 140
    joins = Joins.NAMED
    max_query_chars = 76
    features: ClassVar = frozenset({Feature.NEWS, Feature.FRESHNESS, Feature.INCLUDE_DOMAINS, Feature.EXCLUDE_DOMAINS})
    ready = f"{_BOXES} {_TITLE}, {_NOTHING_FOUND}, {_CAPTCHA}, {_JUMP}"

    def query_text(self, query: Query) -> str:
        text = super().query_text(query)
        # Baidu counts a Chinese character twice, and drops in silence what is too much.
        while len(text.encode("gb18030", "replace")) > self.max_query_chars:
            text = text[:-1]
        return text

    def parameters(self, query: Query, page: int) -> Mapping[str, object]:
        span = (earliest(query.freshness), datetime.now(UTC)) if query.freshness else ()
        return {
            "wd": with_sites(query, self.query_text(query), max_chars=None, max_sites=3),
            "tn": "news" if query.wants_news else None,
            "rtt": 1 if query.wants_news else None,
            "gpc": f"stf={','.join(str(int(moment.timestamp())) for moment in span)}|stftype=1" if span else None,
            "pn": page * PAGE_SIZE or None,
            "ie": "utf-8",
        }

    def read(self, html: str, url: str) -> list[SearchResultItem]:
        return parse_results(html, url, self._clock())


def parse_results(html: str, url: str = "", now: datetime | None = None) -> list[SearchResultItem]:
    """Read a result page of Baidu, web or news; ``url`` is where the browser ended up, if known.

    "2天前" is before ``now``.

    Raises:
        Blocked: Baidu wants to see a person (百度安全验证).
        BadResponse: it is no result page, or one of a layout that is not known.
    """
    tree = parse(html)
    items = distinct(_results(tree, url, now or utc_now()))
    if items:
        return items
    place = urlsplit(url)
    if _is_captcha(tree, place.hostname or "", place.path):
        raise blocked(NAME, Fact("engine.person_asked", site="百度 Baidu"))
    if tree.css_first(_NOTHING_FOUND) is not None:
        return []
    raise unknown_layout(NAME, place.hostname or "Baidu")


def _is_captcha(tree: LexborHTMLParser, host: str, path: str) -> bool:
    return (
        host.startswith("wappass.")
        or "captcha" in path
        or tree.css_first(_CAPTCHA) is not None
        or text_of(tree.css_first("title")) == _CAPTCHA_TITLE
    )


def _results(tree: LexborHTMLParser, url: str, now: datetime) -> Iterator[SearchResultItem | None]:
    for box in tree.css(_BOXES):
        title = box.css_first(_TITLE)
        if title is None:
            continue
        # The link leads through Baidu's counter; the box itself has the address.
        address = box.attributes.get("mu") or ""
        if not is_web_address(address) or urlsplit(address).hostname == _NO_ADDRESS:
            address = urljoin(url or HOME, title.attributes.get("href") or "")
        snippet = prose(box.css_first(_ABSTRACT)) or longest_text(box, (title,))
        date, snippet = dated_part(box, snippet, now)
        yield result(NAME, text_of(title), address, snippet, now, date=date)
