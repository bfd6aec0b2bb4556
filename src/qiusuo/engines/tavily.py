"""Tavily: https://docs.tavily.com"""

from __future__ import annotations

from typing import Any, ClassVar

from qiusuo.engines.base import Feature, HttpEngine, Probe, count_of, field_of
from qiusuo.engines.price import Price
from qiusuo.errors import EngineError, QuotaExceeded, RateLimited
from qiusuo.http import Reply, told
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.words import Fact

# Tavily wants a country's English name in lower case, not its code.
COUNTRIES = {
    "AU": "australia", "BR": "brazil", "CA": "canada", "CN": "china", "DE": "germany", "ES": "spain", "FR": "france",
    "GB": "united kingdom", "HK": "hong kong", "IN": "india", "IT": "italy", "JP": "japan", "KR": "south korea",
    "MX": "mexico", "MY": "malaysia", "NL": "netherlands", "RU": "russia", "SG": "singapore", "TW": "taiwan",
    "US": "united states",
}  # fmt: skip


class TavilyEngine(HttpEngine):
    """Search API made for language models; snippets are passages that fit the query."""

    name = "tavily"
    label = "Tavily"
    docs_url = "https://app.tavily.com"
    base_url = "https://api.tavily.com"
    key_env = ("TAVILY_API_KEY",)
    priority = 40
    price_per_search = Price(0.008, "USD", "2026-11-15")
    max_results = 20
    max_query_chars = 400
    features: ClassVar = frozenset(
        {Feature.NEWS, Feature.REGION, Feature.FRESHNESS, Feature.INCLUDE_DOMAINS, Feature.EXCLUDE_DOMAINS}
    )

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        news = query.wants_news
        body = {
            "query": self.query_text(query),
            "max_results": count,
            "topic": "news" if news else "general",
            # An hour is finer than Tavily's ranges: a day is the nearest that leaves nothing out.
            "time_range": ("day" if query.freshness is Freshness.HOUR else query.freshness.value)
            if query.freshness
            else None,
            "include_domains": list(query.include_domains[:300]) or None,
            "exclude_domains": list(query.exclude_domains[:150]) or None,
            # Only the general topic takes a country.
            "country": None if news or not query.region else COUNTRIES.get(query.region.upper()),
        }
        data = await self.endpoint.post("/search", body)
        return self.collect(field_of(data, "results"), self._item, limit=count)

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        return self.item(
            row["title"], row["url"], row.get("content"), date=row.get("published_date"), score=row.get("score")
        )

    async def probe(self) -> Probe:
        data = await self.endpoint.get("/usage")
        if field_of(data, "key") is None and field_of(data, "account") is None:
            raise self.bad_shape(Fact("engine.no_usage"))
        limit = count_of(data, "key", "limit")
        if limit is not None:  # this key's own, below the plan's
            return Probe(count_of(data, "key", "usage"), limit)
        return Probe(count_of(data, "account", "plan_usage"), count_of(data, "account", "plan_limit"))

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        if reply.status in {432, 433}:
            code = "tavily.plan_used_up" if reply.status == 432 else "tavily.pay_as_you_go_used_up"  # noqa: PLR2004 - Tavily's own
            used_up = Fact(code, status=reply.status, said=told(detail))
            return QuotaExceeded(used_up, engine=self.name, status=reply.status)
        seconds = field_of(reply.data, "error", "retry_after_seconds")
        if reply.status == 429 and isinstance(seconds, int | float):  # noqa: PLR2004
            too_fast = Fact("engine.too_fast", status=429, said=told(detail))
            return RateLimited(too_fast, engine=self.name, status=429, retry_after=float(seconds))
        return None
