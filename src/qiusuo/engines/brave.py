"""Brave Search: https://api-dashboard.search.brave.com/documentation"""

from __future__ import annotations

from typing import Any, ClassVar

from qiusuo.engines.base import Feature, HttpEngine, Probe, Storing, field_of
from qiusuo.engines.price import Price
from qiusuo.errors import AuthFailed, EngineError, QuotaExceeded, RateLimited, RequestRejected
from qiusuo.http import Reply, parse_retry_after, told
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.text import clean, is_traditional_chinese, primary_language, region_for
from qiusuo.words import Fact

# Brave refuses the whole request (422) for a country or language outside its lists, so others are left out.
COUNTRIES = frozenset({
    "AR", "AT", "AU", "BE", "BR", "CA", "CH", "CL", "CN", "DE", "DK", "ES", "FI", "FR", "GB", "HK", "ID", "IN", "IT",
    "JP", "KR", "MX", "MY", "NL", "NO", "NZ", "PH", "PL", "PT", "RU", "SA", "SE", "TR", "TW", "US", "ZA",
})  # fmt: skip
LANGUAGES = frozenset({
    "ar", "bg", "bn", "ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "gl", "gu", "he", "hi", "hr", "hu",
    "is", "it", "jp", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa", "pl", "pt-br", "pt-pt", "ro", "ru",
    "sk", "sl", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi", "zh-hans", "zh-hant",
})  # fmt: skip
OWN_NAMES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "pt-br": "pt-br", "zh": "zh-hans"}
RANGES = {Freshness.HOUR: "pd", Freshness.DAY: "pd", Freshness.WEEK: "pw", Freshness.MONTH: "pm", Freshness.YEAR: "py"}
MAX_DOMAINS = 100  # their rules travel in the address, of which servers take about 8 KiB


class BraveEngine(HttpEngine):
    """Independent index of the web, with a news index of its own."""

    name = "brave"
    label = "Brave Search"
    docs_url = "https://api-dashboard.search.brave.com"
    base_url = "https://api.search.brave.com"
    key_env = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    priority = 50
    price_per_search = Price(0.005, "USD", "2026-11-15", "others")
    max_results = 20
    max_query_chars = 400
    max_query_words = 50
    storing = Storing.MEMORY  # its terms allow no more than transient storage
    features: ClassVar = frozenset(Feature)

    def auth_headers(self, key: str) -> dict[str, str]:
        return {"X-Subscription-Token": key}

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        params = {
            "q": self.query_text(query),
            "count": count,
            "country": _country(query),
            "search_lang": _language(query.language),
            "freshness": RANGES[query.freshness] if query.freshness else None,  # an hour becomes a day
            "goggles": _goggles(query),
        }
        if query.wants_news:
            data = await self.endpoint.get("/res/v1/news/search", params)
            rows, kind = field_of(data, "results"), "news"
        else:
            params |= {"text_decorations": "false", "result_filter": "web,query"}
            data = await self.endpoint.get("/res/v1/web/search", params)
            rows, kind = field_of(data, "web", "results"), "search"
        # Brave leaves the whole section out when nothing is in it.
        if rows is None and field_of(data, "type") == kind and not field_of(data, "web"):
            rows = []
        altered = clean(field_of(data, "query", "altered"), self.max_query_chars)
        return self.collect(
            rows, self._item, limit=count, notes=(Fact("engine.searched_for", query=altered),) if altered else ()
        )

    async def probe(self) -> Probe:
        # A request without a query is not billed: a good key gets a complaint about the query, a bad one about itself.
        try:
            await self.endpoint.get("/res/v1/web/search")
        except RequestRejected:
            return Probe()
        raise self.bad_shape(Fact("engine.answer_to_nothing"))

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        return self.item(row["title"], row["url"], row.get("description"), date=row.get("page_age") or row.get("age"))

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = list(super().notes(query, num_results))
        if query.language and not query.language_is_guess and not _language(query.language):
            found.append(Fact("engine.language_ignored", language=query.language))
        if query.region and not _country(query):
            found.append(Fact("engine.region_ignored", region=query.region))
        if query.freshness is Freshness.HOUR:
            found.append(Fact("engine.day_for_hour"))
        if len(query.include_domains + query.exclude_domains) > MAX_DOMAINS:
            found.append(Fact("engine.domains_sent", count=MAX_DOMAINS))
        return tuple(found)

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        # Documented as a list under "errors"; what arrives is one object under "error".
        found = field_of(reply.data, "error") or field_of(reply.data, "errors")
        first = found[0] if found and isinstance(found, list) else found
        code = self.endpoint.scrub(str(field_of(first, "code") or "an error"))
        common: dict[str, Any] = {"engine": self.name, "status": reply.status}
        says = Fact("brave.says", host=self.endpoint.host, code=code, status=reply.status, said=told(detail))
        if code in {"SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"}:  # come with 422 and 404
            return AuthFailed(says, fix=Fact("brave.check_plan", docs_url=self.docs_url), **common)
        if code == "OPTION_NOT_IN_PLAN":
            return RequestRejected(says, fix=Fact("brave.fewer_options", docs_url=self.docs_url), **common)
        if reply.status != 429:  # noqa: PLR2004 - Too Many Requests
            return None
        # One entry for each window, in seconds: that of the second comes first, that of the month last.
        resets = [parse_retry_after(entry.strip()) for entry in reply.headers.get("X-RateLimit-Reset", "").split(",")]
        if code == "QUOTA_LIMITED":
            month = resets[-1] if resets[1:] else None
            raising = Fact("brave.raise_limit", docs_url=self.docs_url)
            return QuotaExceeded(says, fix=raising, retry_after=month, **common)
        wait = resets[0] if reply.retry_after is None else reply.retry_after
        return RateLimited(says, fix=Fact("brave.slower"), retry_after=wait, **common)


def _country(query: Query) -> str | None:
    country = region_for(query.language, query.region)
    return country if country in COUNTRIES else None


def _language(tag: str | None) -> str | None:
    language = "zh-hant" if is_traditional_chinese(tag) else primary_language(tag) or ""
    name = OWN_NAMES.get((tag or "").lower()) or OWN_NAMES.get(language, language)
    return name if name in LANGUAGES else None


def _goggles(query: Query) -> str | None:
    """Return the domain filters as ranking rules; as operators they would use up the query's 50 words."""
    include = query.include_domains[:MAX_DOMAINS]
    rules = ["$discard", *(f"$site={domain}" for domain in include)] if include else []
    # A discard that names its site is final, whatever else matches.
    rules += [f"$discard,site={domain}" for domain in query.exclude_domains[: MAX_DOMAINS - len(include)]]
    return "\n".join(rules) or None
