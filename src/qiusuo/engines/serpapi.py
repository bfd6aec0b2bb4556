"""SerpApi (the result pages of Google, Bing and Baidu as JSON): https://serpapi.com/search-api"""

from __future__ import annotations

import asyncio
import dataclasses
from abc import abstractmethod
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote_plus

from msgspec.structs import replace

from qiusuo.engines.allowance import Allowance
from qiusuo.engines.base import EngineResults, Feature, HttpEngine, Joins, Probe, count_of, field_of, with_sites
from qiusuo.errors import EngineError, QuotaExceeded, RequestRejected, Unavailable
from qiusuo.http import HttpClient, Reply, told
from qiusuo.models import Freshness, Query, SearchResultItem, domain_of
from qiusuo.text import earliest, is_traditional_chinese, primary_language, region_for
from qiusuo.words import Fact

PAGE_SIZE = 10
MAX_SITES = 10
NEWS_AGE = {
    Freshness.HOUR: "1h", Freshness.DAY: "1d", Freshness.WEEK: "7d", Freshness.MONTH: "30d", Freshness.YEAR: "1y",
}  # fmt: skip


class SerpApi(HttpEngine):
    """What the engines behind SerpApi share: the key in the URL, paging, and SerpApi's words for failure."""

    docs_url = "https://serpapi.com/manage-api-key"
    base_url = "https://serpapi.com"
    key_env = ("SERPAPI_API_KEY", "SERPAPI_KEY")
    max_results = 30

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        http: HttpClient | None = None,
    ) -> None:
        super().__init__(api_key, base_url=base_url, timeout=timeout, http=http)
        self._key = (api_key or "").strip()
        # An error of the wire may quote the URL, and in it the key the way URLs write it.
        in_url = quote_plus(self._key, safe="!$'()*,-./:?@_~")
        self.endpoint = dataclasses.replace(self.endpoint, secrets=(self._key, in_url))

    def auth_headers(self, key: str) -> dict[str, str]:  # noqa: ARG002 - SerpApi reads the key from the URL
        return {}

    @abstractmethod
    def params(self, query: Query, count: int, page: int) -> dict[str, Any]:
        """Return the parameters that ask for ``page``, counted from 0."""

    async def search(self, query: Query, num_results: int) -> EngineResults:
        return await self.search_within(query, num_results, Allowance(self.endpoint.timeout, margin=0.0))

    async def search_within(self, query: Query, num_results: int, allowance: Allowance) -> EngineResults:
        allowance.asked()
        # All pages together may take as long as one request: what the first brought must not come too late.
        allowance.shorten(self.endpoint.timeout)
        count = self.count(num_results)
        found: dict[str, SearchResultItem] = {}
        notes: list[Fact | str] = []
        related: list[object] = []
        page, more = 0, True
        while more and len(found) < count:
            params = self.params(query, count, page)
            try:
                async with asyncio.timeout(allowance.left() if page else None):
                    data = await self.endpoint.get("/search", {**params, "api_key": self._key})
                items = self.collect(self._rows(data, params["engine"]), self._item, limit=100)
            except (EngineError, TimeoutError) as error:
                if not found:
                    raise
                reason = error.fact if isinstance(error, EngineError) else Fact("engine.no_time")
                notes.append(Fact("engine.page_missing", page=page + 1, reason=reason))
                break
            notes.extend(items.notes)
            related += _related(data)
            known = len(found)
            for item in items:
                found.setdefault(item.url, item)
            # Every page costs a search: none is asked for behind the last one.
            more = len(found) > known and bool(field_of(data, "serpapi_pagination", "next"))
            page += 1
        return EngineResults(list(found.values())[:count], notes, related)

    async def probe(self) -> Probe:
        # The account also has the owner's e-mail address and the key itself: only its numbers are read.
        data = await self.endpoint.get("/account.json", {"api_key": self._key})
        used, limit = count_of(data, "this_month_usage"), count_of(data, "searches_per_month")
        if used is None and limit is None:
            raise self.bad_shape(Fact("engine.no_usage"))
        if count_of(data, "total_searches_left") == 0:
            raise self._plan_used_up("", 200)
        return Probe(used, limit)

    def _rows(self, data: object, engine: str) -> object:
        status = field_of(data, "search_metadata", "status")
        said = self.endpoint.scrub(str(field_of(data, "error") or ""))
        if status == "Error":
            failed = Fact("serpapi.failed", said=told(said))
            raise self._used_up(said, 200) or Unavailable(failed, engine=self.name)
        rows = (
            _articles(field_of(data, "news_results")) if engine == "google_news" else field_of(data, "organic_results")
        )
        if rows is not None:
            return rows
        if status == "Success" or field_of(data, "search_information", "organic_results_state") == "Fully empty":
            return []  # "error" then only says that the page has no results
        if said:
            refused = Fact("serpapi.refused", said=told(said))
            raise self._used_up(said, 200) or RequestRejected(refused, engine=self.name)
        return None

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        return self.item(row["title"], row["link"], row.get("snippet"), date=row.get("iso_date") or row.get("date"))

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        # 429 is both "too fast" and "used up": only the words tell which.
        return self._used_up(detail, reply.status) if reply.status == 429 else None  # noqa: PLR2004 - as said above

    def _used_up(self, said: str, status: int) -> QuotaExceeded | None:
        return self._plan_used_up(said, status) if "run out of searches" in said.lower() else None

    def _plan_used_up(self, said: str, status: int) -> QuotaExceeded:
        return QuotaExceeded(Fact("serpapi.used_up", said=told(said)), engine=self.name, status=status)

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = super().notes(query, num_results)
        if max(len(query.include_domains), len(query.exclude_domains)) > MAX_SITES:
            found += (Fact("engine.first_domains", count=MAX_SITES),)
        return found


class SerpApiEngine(SerpApi):
    """Google's result pages, and Google News for news."""

    name = "serpapi"
    label = "SerpApi (Google)"
    priority = 60
    features: ClassVar = frozenset(Feature)

    def params(self, query: Query, count: int, page: int) -> dict[str, Any]:  # noqa: ARG002 - Google's pages have one size
        text = with_sites(query, self.query_text(query), max_sites=MAX_SITES)
        region = region_for(query.language, query.region)
        place = {"gl": region.lower() if region else None, "hl": _google_language(query.language)}
        if query.wants_news:
            age = f" when:{NEWS_AGE[query.freshness]}" if query.freshness else ""
            return {"engine": "google_news", "q": text + age, **place}
        tbs = f"qdr:{query.freshness.value[0]}" if query.freshness else None
        return {"engine": "google", "q": text, "tbs": tbs, "start": page * PAGE_SIZE or None, **place}


class SerpApiBingEngine(SerpApi):
    """Bing's result pages."""

    name = "serpapi_bing"
    label = "SerpApi (Bing)"
    priority = 65
    joins = Joins.NAMED
    features: ClassVar = frozenset(Feature) - {Feature.NEWS}

    def params(self, query: Query, count: int, page: int) -> dict[str, Any]:  # noqa: ARG002 - Bing's pages have one size
        return {
            "engine": "bing",
            "q": with_sites(query, self.query_text(query), max_sites=MAX_SITES, exclude="NOT site:"),
            "filters": f'ex1:"ez5_{_day(earliest(query.freshness))}_{_day(datetime.now(UTC))}"'
            if query.freshness
            else None,
            "first": page * PAGE_SIZE + 1 if page else None,
            **_bing_place(query),
        }

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = super().notes(query, num_results)
        if query.language and not _bing_place(query):
            found += (Fact("serpapi.bing_language"),)
        return found


class SerpApiBaiduEngine(SerpApi):
    """Baidu's result pages."""

    name = "serpapi_baidu"
    label = "SerpApi (百度 Baidu)"
    title = Fact("engine.serpapi_baidu")
    priority = 66
    joins = Joins.NAMED
    max_results = 50
    features: ClassVar = frozenset(
        {Feature.LANGUAGE, Feature.FRESHNESS, Feature.INCLUDE_DOMAINS, Feature.EXCLUDE_DOMAINS}
    )

    def params(self, query: Query, count: int, page: int) -> dict[str, Any]:
        only = query.include_domains[0] if len(query.include_domains) == 1 else None
        in_text = replace(query, include_domains=()) if only else query
        span = (earliest(query.freshness), datetime.now(UTC)) if query.freshness else ()
        return {
            "engine": "baidu",
            "q": with_sites(in_text, self.query_text(query), max_sites=MAX_SITES),
            "q6": only,
            "rn": count,
            "pn": page * count or None,
            "gpc": f"stf={','.join(str(int(moment.timestamp())) for moment in span)}|stftype=1" if span else None,
            "ct": _baidu_language(query.language),
        }

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        item = super()._item(row)
        # Baidu's links lead through Baidu; the address that it shows has the true host, or else only the site's name.
        host = domain_of(f"https://{row.get('displayed_link')}")
        if item and item.source == "baidu.com" and host.isascii() and "." in host:
            return replace(item, source=host)
        return item

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = super().notes(query, num_results)
        if query.language and not _baidu_language(query.language):
            found += (Fact("serpapi.baidu_language"),)
        return found


def _related(data: object) -> list[object]:
    """Return what people also ask, then what they search for beside it."""
    places = (("related_questions", "question"), ("related_searches", "query"))
    lists = [(field_of(data, rows), name) for rows, name in places]
    return [field_of(row, name) for rows, name in lists if isinstance(rows, list) for row in rows]


def _articles(rows: object) -> object:
    # Google News groups what several papers write about one event: the best article, then the others.
    if not isinstance(rows, list):
        return rows
    flat: list[Any] = []
    for row in rows:
        others = field_of(row, "stories")
        group = [field_of(row, "highlight"), *(others if isinstance(others, list) else ())]
        flat += [row] if field_of(row, "link") or not any(group) else []
        flat += filter(None, group)
    return flat


def _google_language(tag: str | None) -> str | None:
    if primary_language(tag) == "zh":
        return "zh-tw" if is_traditional_chinese(tag) else "zh-cn"
    return tag.lower() if tag and tag.lower() in {"pt-br", "pt-pt", "es-419"} else primary_language(tag)


def _bing_place(query: Query) -> dict[str, str]:
    # A market is a language in a country; Bing takes the nearest one it has. It excludes a country of its own.
    country, language = region_for(query.language, query.region), primary_language(query.language)
    if not country:
        return {}
    return {"mkt": f"{language}-{country}"} if language else {"cc": country}


def _baidu_language(tag: str | None) -> int | None:
    if primary_language(tag) != "zh":
        return None
    return 3 if is_traditional_chinese(tag) else 2


def _day(moment: datetime) -> int:
    return int(moment.timestamp()) // 86400
