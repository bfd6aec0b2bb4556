"""DuckDuckGo's result pages, read with the engines of the package ``ddgs``: https://github.com/deedy5/ddgs

``DDGS().text()`` says "No results found." for a block, an error and an empty page alike. So its engines are driven here
one level lower: they give the request, the browser-like client and the paths into the page; status and body are judged
here.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self
from urllib.parse import parse_qs, urljoin, urlsplit

from qiusuo.engines.allowance import Allowance
from qiusuo.engines.base import EngineOptions, EngineResults, Feature, Joins, SearchEngine, with_sites
from qiusuo.engines.snippet_dates import split_date, utc_now
from qiusuo.errors import BadResponse, Blocked, EngineError, RateLimited, RequestRejected, SearchTimeout, Unavailable
from qiusuo.http import MAX_BODY_BYTES, TOTAL_TIMEOUT, HttpClient, check_base_url, parse_retry_after, told
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.text import is_traditional_chinese, primary_language, region_for
from qiusuo.words import Fact

if TYPE_CHECKING:
    import primp

MAX_PAGES: Final = 3

_TIMELIMIT: Final = {
    Freshness.HOUR: "d",  # the shortest that DuckDuckGo has
    Freshness.DAY: "d",
    Freshness.WEEK: "w",
    Freshness.MONTH: "m",
    Freshness.YEAR: "y",
}

EVERYWHERE: Final = "wt-wt"
# DuckDuckGo's regions. The first of a country is taken where the language does not decide.
REGIONS: Final = (
    "ar-es", "at-de", "au-en", "be-fr", "be-nl", "bg-bg", "br-pt", "ca-en", "ca-fr", "ch-de", "ch-fr", "cl-es",
    "cn-zh", "co-es", "cz-cs", "de-de", "dk-da", "ee-et", "es-es", "es-ca", "fi-fi", "fr-fr", "gr-el", "hk-tzh",
    "hr-hr", "hu-hu", "id-en", "ie-en", "il-en", "in-en", "is-is", "it-it", "jp-jp", "kr-kr", "lt-lt", "lv-lv",
    "mx-es", "my-en", "nl-nl", "no-no", "nz-en", "pe-es", "ph-en", "pk-en", "pl-pl", "pt-pt", "ro-ro", "ru-ru",
    "se-sv", "sg-en", "sk-sk", "sl-sl", "th-en", "tr-tr", "tw-tzh", "ua-uk", "uk-en", "us-en", "us-es", "vn-en",
    "xa-ar", "za-en",
)  # fmt: skip
_COUNTRY: Final = {"gb": "uk", "sa": "xa", "si": "sl"}
_LANGUAGE: Final = {"ja": "jp", "ko": "kr", "nb": "no", "nn": "no"}
_HOME: Final = {
    "ar": "xa-ar", "cs": "cz-cs", "da": "dk-da", "el": "gr-el", "en": "us-en", "et": "ee-et", "sv": "se-sv",
    "tzh": "tw-tzh", "uk": "ua-uk", "zh": "cn-zh",
}  # fmt: skip

# The page that asks for a person. Looked for in the tree, since the words of a query or a result may be the same.
_CHALLENGE: Final = "//form[@id='challenge-form'] | //*[contains(@class, 'anomaly-modal')]"
_NOTHING_FOUND: Final = (
    "//*[contains(concat(' ', normalize-space(@class), ' '), ' no-results ') or contains(@class, 'result--no-result')]"
)
_ADVERTISEMENT: Final = (
    "ancestor-or-self::*[contains(concat(' ', normalize-space(@class), ' '), ' result--ad ')]"
    " | .//*[contains(concat(' ', normalize-space(@class), ' '), ' badge--ad ')]"
)
# DuckDuckGo leads "!g cats" to another search engine and "\cats" to the first result.
_COMMAND: Final = re.compile(r"(?<!\S)[!\\]+(?=\w|\s|$)")
_BESIDE_ADDRESS: Final = ".//*[contains(@class, 'result__extras')]//span/text()"
_STAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d)T[\d:.]+Z?")
_COUNTERS: Final = frozenset({"/l/", "/y.js"})
_BLOCK_FIX: Final = Fact("ddgs.turned_away")
_UPDATE_FIX: Final = Fact("ddgs.update")

Row = Mapping[str, Any]
"""One result: title, href, body and perhaps date."""


class DdgsEngine(SearchEngine):
    """DuckDuckGo without a key: the last resort, since it is meant for people and turns programs away."""

    name = "ddgs"
    label = "DuckDuckGo (ddgs)"
    docs_url = "https://github.com/deedy5/ddgs"
    priority = 110
    costs_money = False
    joins = Joins.LAST_RESORT
    max_results = 30
    max_query_chars = 490
    features: ClassVar = frozenset(Feature)

    def __init__(
        self,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        proxy: str | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        if base_url:
            check_base_url(base_url, self.name)
        self._base_url = (base_url or "").rstrip("/")
        self._timeout = timeout
        self._clock = clock
        # The same short name for the Tor Browser as in ddgs.
        self._proxy = "socks5h://127.0.0.1:9150" if proxy == "tb" else proxy or None

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - it brings its own client
        return cls(base_url=options.base_url, timeout=options.timeout, proxy=options.lookup("DDGS_PROXY"))

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        return await self.search_within(query, num_results, Allowance(self._timeout or TOTAL_TIMEOUT, margin=0.0))

    async def search_within(self, query: Query, num_results: int, allowance: Allowance) -> list[SearchResultItem]:
        allowance.asked()
        if self._timeout is not None:
            allowance.shorten(self._timeout)
        count = self.count(num_results)
        words = self.query_text(query)
        text = _COMMAND.sub("", words).strip() or words
        visit = _Visit(
            self._base_url,
            allowance,
            self._proxy,
            now=self._clock(),
            own_timeout=self._timeout,
            news=query.wants_news,
            query=with_sites(query, text, max_chars=self.max_query_chars),
            region=duckduckgo_region(query),
            timelimit=_TIMELIMIT[query.freshness] if query.freshness else None,
        )
        found: dict[str, SearchResultItem] = {}
        notes: list[Fact | str] = []
        for number in range(1, MAX_PAGES + 1):
            try:
                # A thread cannot be stopped; this one ends by itself, its client has the same deadline.
                async with asyncio.timeout(visit.seconds_left()):
                    rows = await asyncio.to_thread(visit.page, number)
            except (EngineError, TimeoutError) as error:
                failure = error if isinstance(error, EngineError) else visit.timed_out()
                if number == 1:
                    raise failure from None
                notes.append(Fact("engine.page_missing", page=number, reason=failure.fact))
                break
            before = len(found)
            for row in rows:
                item = self.item(row["title"], row["href"], row["body"], date=row.get("date"))
                if item is not None:
                    found.setdefault(item.url, item)
            if rows and not found:
                raise visit.unknown_layout()
            if len(found) >= count or len(found) == before:
                break
        return EngineResults(list(found.values())[:count], notes)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What ddgs's engines expect of a response."""

    status_code: int
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class _Visit:
    """One search at DuckDuckGo, page by page. It also stands in for the HTTP client of ddgs's engine.

    Here, and nowhere else, the errors of ddgs and of its client primp are translated.
    """

    def __init__(
        self,
        base_url: str,
        allowance: Allowance,
        proxy: str | None,
        *,
        now: datetime,
        own_timeout: float | None,
        news: bool,
        query: str,
        region: str,
        timelimit: str | None,
    ) -> None:
        self._base_url = base_url
        self._allowance = allowance
        self._proxy = proxy
        self._now = now
        self._own_timeout = own_timeout
        self._news = news
        self._asked = {"query": query, "region": region, "timelimit": timelimit, "safesearch": "moderate"}
        self._host = urlsplit(base_url).netloc.rpartition("@")[2] if base_url else "duckduckgo.com"
        self._engine: Any = None
        self._client: primp.Client

    def seconds_left(self) -> float:
        return self._allowance.left()

    def page(self, number: int) -> list[Row]:
        """Fetch and read one page, ``[]`` only if DuckDuckGo says that there is nothing. Runs in a thread."""
        import primp  # noqa: PLC0415 - loaded by the first search, in its thread
        from ddgs.exceptions import DDGSException  # noqa: PLC0415 - as above

        try:
            engine = self._open()
            payload = engine.build_payload(**self._asked, page=number)
            where = "params" if engine.search_method == "GET" else "data"
            reply = self.request(engine.search_method, engine.search_url, **{where: payload})
        except primp.PrimpError as error:
            raise self._translated(error) from None
        except DDGSException:
            # Raised here only for a start page without the token that the news need.
            raise self.unknown_layout() from None
        return self._news_rows(reply.text) if self._news else self._text_rows(reply.text)

    def request(self, method: str, url: str, **kwargs: Any) -> _Reply:
        """Send one request of the engine; return only what is an answer."""
        if self._base_url:
            url = self._base_url + (urlsplit(url).path or "/")
        with self._client.request(
            method, url, follow_redirects=False, stream=True, timeout=self.seconds_left(), **kwargs
        ) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    too_large = Fact("http.too_large", host=self._host, limit=MAX_BODY_BYTES // 1024)
                    raise BadResponse(too_large, engine=DdgsEngine.name)
            reply = _Reply(response.status_code, bytes(body))
            wait = parse_retry_after(response.headers.get("retry-after"))
        failure = self._refusal(reply, wait)
        if failure is not None:
            raise failure
        return reply

    def timed_out(self) -> SearchTimeout:
        late = Fact("http.timeout_answer", host=self._host, seconds=round(self._allowance.seconds, 1))
        own = self._own_timeout is not None and self._allowance.seconds >= self._own_timeout
        remedy = Fact("engine.own_timeout", engine=DdgsEngine.name) if own else ""
        return SearchTimeout(late, engine=DdgsEngine.name, fix=remedy)

    def unknown_layout(self) -> BadResponse:
        return BadResponse(Fact("engine.unknown_layout", host=self._host), engine=DdgsEngine.name, fix=_UPDATE_FIX)

    def _open(self) -> Any:
        from ddgs.engines import ENGINES  # noqa: PLC0415 - as above

        if self._engine is None:
            category = "news" if self._news else "text"
            try:
                engine_class = ENGINES[category]["duckduckgo"]
            except KeyError:
                raise Unavailable(Fact("ddgs.no_engine", category=category), engine=DdgsEngine.name) from None
            # Its annotation says int; primp takes fractions of seconds.
            engine: Any = engine_class(proxy=self._proxy, timeout=self.seconds_left())  # type: ignore[arg-type]
            self._client = engine.http_client.client
            engine.http_client = self
            self._engine = engine
        return self._engine

    def _refusal(self, reply: _Reply, wait: float | None) -> EngineError | None:
        status = reply.status_code
        common: dict[str, Any] = {"engine": DdgsEngine.name, "status": status}
        seen: dict[str, Any] = {"host": self._host, "status": status, "engine": DdgsEngine.name, "said": told("")}
        if status in {202, 401, 403} or self._is_challenge(reply.text):
            return Blocked(Fact("engine.blocked", **seen), fix=_BLOCK_FIX, retry_after=wait, **common)
        if status == 200:  # noqa: PLR2004 - HTTP
            return None
        if status == 429:  # noqa: PLR2004 - HTTP
            return RateLimited(Fact("http.slow_down", **seen), fix=_BLOCK_FIX, retry_after=wait, **common)
        if status >= 500:  # noqa: PLR2004 - HTTP
            return Unavailable(Fact("http.failed", **seen), retry_after=wait, **common)
        if status == 400:  # noqa: PLR2004 - HTTP
            return RequestRejected(Fact("http.request_refused", **seen), **common)
        return BadResponse(Fact("http.odd_status", **seen), fix=_UPDATE_FIX, **common)

    def _is_challenge(self, page: str) -> bool:
        if "anomaly-modal" not in page and "challenge-form" not in page:
            return False
        # The JSON of the news may hold tags in its texts, but it is no page.
        return page.lstrip()[:1] == "<" and bool(self._tree(page).xpath(_CHALLENGE))

    def _tree(self, page: str) -> Any:
        try:
            return self._engine.extract_tree(page)
        except Exception:  # noqa: BLE001 - whatever the parser says of it, it is no result page
            raise self.unknown_layout() from None

    def _translated(self, error: Exception) -> EngineError:
        import primp  # noqa: PLC0415 - as above

        # primp's own words may hold the proxy's password: only their kind is passed on.
        if isinstance(error, primp.TimeoutError) or "timed out" in str(error):
            return self.timed_out()
        host = self._host
        if isinstance(error, primp.DecodeError | primp.BodyError):
            return BadResponse(Fact("http.broke_off", host=host), engine=DdgsEngine.name)
        if isinstance(error, primp.DNSError):
            return Unavailable(Fact("http.dns", host=host), engine=DdgsEngine.name)
        if isinstance(error, primp.BuilderError):
            return Unavailable(Fact("ddgs.client"), engine=DdgsEngine.name)
        code = "ddgs.no_connection_by_proxy" if self._proxy else "ddgs.no_connection"
        return Unavailable(Fact(code, host=host), engine=DdgsEngine.name)

    def _text_rows(self, page: str) -> list[Row]:
        engine, tree = self._engine, self._tree(page)
        rows: list[Row] = []
        for box in tree.xpath(engine.items_xpath):
            if box.xpath(_ADVERTISEMENT):
                continue
            # Read here, since ddgs's own reader unquotes addresses, which breaks those with an escaped & or %.
            paths = engine.elements_xpath
            links = box.xpath(paths["href"]) or box.xpath(".//h2//a/@href")
            address = unwrapped(str(links[0])) if links else None
            if address:
                # Text of the page, no markup: a word like <div> in it must stay.
                title, body = (" ".join("".join(box.xpath(paths[name])).split()) for name in ("title", "body"))
                before, body = split_date(body, self._now)
                title, body = (escape(text, quote=False) for text in (title, body))
                rows.append({"title": title, "href": address, "body": body, "date": _stamp(box) or before})
        if not rows and not tree.xpath(_NOTHING_FOUND):
            raise self.unknown_layout()
        return rows

    def _news_rows(self, page: str) -> list[Row]:
        try:
            found = json.loads(page)["results"]
        except (ValueError, KeyError, TypeError):
            raise self.unknown_layout() from None
        rows: list[Row] = [
            {"title": row.get("title"), "href": row.get("url"), "body": row.get("excerpt"), "date": _moment(row)}
            for row in (found if isinstance(found, list) else ())
            if isinstance(row, dict)
        ]
        if not rows and found != []:
            raise self.unknown_layout()
        return rows


def unwrapped(href: str) -> str | None:
    """Return where a link of a result page leads; None for an advertisement."""
    url = urljoin("https://duckduckgo.com/html/", href.strip())
    if not _is_own(url):
        return url
    if urlsplit(url).path != "/l/":
        return None
    inner = next(iter(parse_qs(urlsplit(url).query).get("uddg", [])), None)
    # An advertisement leads from one counter to the next. Other pages of DuckDuckGo are results.
    return None if inner and _is_own(inner) and urlsplit(inner).path in _COUNTERS else inner


def _is_own(url: str) -> bool:
    return (urlsplit(url).hostname or "").removeprefix("html.").removeprefix("www.") == "duckduckgo.com"


def duckduckgo_region(query: Query) -> str:
    """Return DuckDuckGo's region (``cn-zh``) for the query's country and language; ``wt-wt`` where there is none."""
    language = primary_language(query.language) or ""
    language = "tzh" if is_traditional_chinese(query.language) else _LANGUAGE.get(language, language)
    country = (region_for(query.language, query.region) or "").lower()
    country = _COUNTRY.get(country, country)
    if not country:
        home = _HOME.get(language, f"{language}-{language}")
        return home if home in REGIONS else EVERYWHERE
    exact = f"{country}-{language}"
    return exact if exact in REGIONS else next((code for code in REGIONS if code.startswith(f"{country}-")), EVERYWHERE)


def _stamp(box: Any) -> str | None:
    """Return the day that stands beside a result's address."""
    return next((found[1] for text in box.xpath(_BESIDE_ADDRESS) if (found := _STAMP.fullmatch(text.strip()))), None)


def _moment(row: Row) -> object:
    seconds = row.get("date")
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat() if isinstance(seconds, int) else seconds
    except (ValueError, OverflowError, OSError):
        return None
