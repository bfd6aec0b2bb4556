"""Perplexity: https://docs.perplexity.ai"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from qiusuo.engines.base import Feature, HttpEngine, field_of
from qiusuo.engines.price import Price
from qiusuo.errors import EngineError, QuotaExceeded
from qiusuo.http import Reply, told
from qiusuo.models import Query, SearchResultItem
from qiusuo.text import primary_language, region_for
from qiusuo.words import Fact

# About as much as a snippet may hold (base.MAX_SNIPPET_CHARS); Perplexity would send pages of it.
MAX_TOKENS_PER_PAGE = 512
MAX_DOMAINS = 20
_UNPAID = re.compile(r"credits?\b|quota|billing|payment", re.IGNORECASE)


class PerplexityEngine(HttpEngine):
    """Ranked passages out of Perplexity's own index; no model writes an answer."""

    name = "perplexity"
    label = "Perplexity"
    docs_url = "https://www.perplexity.ai/settings/api"
    base_url = "https://api.perplexity.ai"
    key_env = ("PERPLEXITY_API_KEY", "PPLX_API_KEY")
    priority = 20
    price_per_search = Price(0.005, "USD", "2026-11-15")
    max_results = 20
    features: ClassVar = frozenset(Feature) - {Feature.NEWS}

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        language = _language(query)
        body = {
            "query": self.query_text(query),
            "max_results": count,
            "max_tokens_per_page": MAX_TOKENS_PER_PAGE,
            "country": region_for(None, query.region),
            "search_language_filter": [language] if language else None,
            "search_recency_filter": query.freshness.value if query.freshness else None,
            "search_domain_filter": _domains(query)[:MAX_DOMAINS] or None,
        }
        data = await self.endpoint.post("/search", body)
        return self.collect(_flat(field_of(data, "results")), self._item, limit=count)

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        date = row.get("date") or row.get("last_updated")
        return self.item(row["title"], row["url"], row.get("snippet"), date=date)

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = list(super().notes(query, num_results))
        if query.language and not query.language_is_guess and not _language(query):
            found.append(Fact("engine.language_ignored", language=query.language))
        if query.include_domains and query.exclude_domains:
            found.append(Fact("perplexity.one_kind_of_filter"))
        if len(_domains(query)) > MAX_DOMAINS:
            found.append(Fact("engine.domains_sent", count=MAX_DOMAINS))
        return tuple(found)

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        # Used-up credits come with the status of a wrong key; only the words tell them apart.
        if reply.status == 401 and _UNPAID.search(reply.text):  # noqa: PLR2004 - Unauthorized
            used_up = Fact("perplexity.credits", status=401, said=told(detail), docs_url=self.docs_url)
            return QuotaExceeded(used_up, engine=self.name, status=401)
        return None


def _language(query: Query) -> str | None:
    language = primary_language(query.language)
    return language if language and len(language) == 2 else None  # noqa: PLR2004 - ISO 639-1 only


def _domains(query: Query) -> list[str]:
    return list(query.include_domains) or [f"-{domain}" for domain in query.exclude_domains]


def _flat(rows: object) -> object:
    """Return one list, also where the results come in one list for each query."""
    if not isinstance(rows, list):
        return rows
    return [row for part in rows for row in (part if isinstance(part, list) else [part])]
