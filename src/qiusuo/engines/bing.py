"""Bing, through Microsoft Web IQ: https://learn.microsoft.com/en-us/web-iq/"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, ClassVar, Self

from msgspec.structs import replace

from qiusuo.engines.allowance import Allowance
from qiusuo.engines.base import (
    MAX_SNIPPET_CHARS,
    EngineOptions,
    EngineResults,
    Feature,
    HttpEngine,
    Joins,
    field_of,
    with_sites,
)
from qiusuo.engines.serpapi import SerpApiBingEngine
from qiusuo.errors import EngineError, EngineNotConfigured, RateLimited
from qiusuo.http import HttpClient, Reply, parse_retry_after, told
from qiusuo.models import Query, SearchResultItem
from qiusuo.text import primary_language, region_for
from qiusuo.words import Fact

RETIRED_ENV = ("BING_API_KEY", "BING_SEARCH_V7_SUBSCRIPTION_KEY", "BING_SUBSCRIPTION_KEY")
MAX_NEWS = 20
MAX_SITES = 10


class BingEngine(HttpEngine):
    """Bing's index as passages for language models; ``through`` asks for Bing's result pages by SerpApi instead."""

    name = "bing"
    label = "Bing (Microsoft Web IQ)"
    docs_url = "https://webiq.microsoft.ai"
    base_url = "https://api.microsoft.ai/v3"
    key_env = ("WEBIQ_API_KEY",)
    priority = 70
    max_results = 50
    max_query_chars = 1000
    features: ClassVar = frozenset(
        {Feature.NEWS, Feature.LANGUAGE, Feature.REGION, Feature.INCLUDE_DOMAINS, Feature.EXCLUDE_DOMAINS}
    )

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        http: HttpClient | None = None,
        through: SerpApiBingEngine | None = None,
    ) -> None:
        self._through = through
        if through is None:
            super().__init__(api_key, base_url=base_url, timeout=timeout, http=http)
        else:
            self.endpoint, self._own_http = through.endpoint, None
            # The key was given for another engine: whoever wants it spent on Bing says so.
            self.joins = Joins.NAMED

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:
        if (options.api_key or "").strip():
            return super().from_options(options, http)
        set_to = {name: (options.lookup(name) or "").strip() for name in (*SerpApiBingEngine.key_env, *RETIRED_ENV)}
        serpapi_key = next(filter(None, (set_to[name] for name in SerpApiBingEngine.key_env)), None)
        if serpapi_key:
            # Not options.base_url: that address is meant for Web IQ and must not get SerpApi's key.
            return cls(through=SerpApiBingEngine(serpapi_key, timeout=options.timeout, http=http))
        raise cls.not_configured(next((name for name in RETIRED_ENV if set_to[name]), None))

    @classmethod
    def not_configured(cls, retired: str | None = None) -> EngineNotConfigured:
        what = Fact("bing.retired", variable=retired) if retired else Fact("bing.needs_key", label=cls.label)
        fix = Fact("bing.set_key", variable=cls.key_env[0], docs_url=cls.docs_url, serpapi=SerpApiBingEngine.key_env[0])
        return EngineNotConfigured(what, engine=cls.name, fix=fix)

    def auth_headers(self, key: str) -> dict[str, str]:
        return {"x-apikey": key}

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        if self._through is not None:
            return await self._renamed(self._through.search(query, num_results))
        kind, limit = ("news", MAX_NEWS) if query.wants_news else ("web", self.max_results)
        count = min(self.count(num_results), limit)
        # Only fields that the API knows: it rejects a request with any other.
        body = {
            "query": with_sites(query, self.query_text(query), max_chars=self.max_query_chars, max_sites=MAX_SITES),
            "maxResults": count,
            "language": _two_letters(query.language),
            "region": region_for(query.language, query.region),
            "contentFormat": "passage",
            "maxLength": MAX_SNIPPET_CHARS,
        }
        data = await self.endpoint.post(f"/search/{kind}", body)
        rows = field_of(data, f"{kind}Results")
        # Nothing found is a list that is empty, null or left out; the trace says that this is Web IQ's answer.
        if rows is None and field_of(data, "traceId"):
            rows = []
        return self.collect(rows, self._item, limit=count)

    async def search_within(self, query: Query, num_results: int, allowance: Allowance) -> list[SearchResultItem]:
        if self._through is None:
            return await super().search_within(query, num_results, allowance)
        return await self._renamed(self._through.search_within(query, num_results, allowance))

    async def _renamed(self, search: Awaitable[EngineResults]) -> list[SearchResultItem]:
        """Give what SerpApi says of Bing in this engine's name."""
        try:
            found = await search
        except EngineError as error:
            error.engine = self.name
            raise
        return EngineResults((replace(item, engines=(self.name,)) for item in found), found.notes)

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        # In China the address may be a redirect of Bing's; then "domain" is the page's true host.
        host = row.get("domain")
        return self.item(
            row["title"],
            row["url"],
            row.get("content"),
            date=row.get("lastUpdatedAt"),
            source=host.removeprefix("www.") if isinstance(host, str) else "",
        )

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        if reply.status not in {429, 430}:
            return None
        code = "engine.too_fast" if reply.status == 429 else "bing.too_many_at_once"  # noqa: PLR2004 - HTTP
        wait = parse_retry_after(str(field_of(reply.data, "retryAfter") or "").strip().removesuffix("s"))
        return RateLimited(
            Fact(code, status=reply.status, said=told(detail)),
            engine=self.name,
            status=reply.status,
            retry_after=reply.retry_after if wait is None else wait,
        )

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        if self._through is not None:
            return (Fact("bing.through_serpapi"), *self._through.notes(query, num_results))
        found = super().notes(query, min(num_results, MAX_NEWS) if query.wants_news else num_results)
        if query.wants_news and num_results > MAX_NEWS:
            found += (Fact("bing.at_most_news", count=MAX_NEWS),)
        if query.language and not _two_letters(query.language):
            found += (Fact("bing.two_letters"),)
        if max(len(query.include_domains), len(query.exclude_domains)) > MAX_SITES:
            found += (Fact("engine.first_domains", count=MAX_SITES),)
        return found

    async def aclose(self) -> None:
        await (super().aclose() if self._through is None else self._through.aclose())


def _two_letters(tag: str | None) -> str | None:
    language = primary_language(tag)
    return language if language and len(language) == 2 else None  # noqa: PLR2004 - ISO 639-1
