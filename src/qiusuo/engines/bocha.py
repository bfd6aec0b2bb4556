"""博查 Bocha: https://open.bocha.cn"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from qiusuo.engines.base import Feature, HttpEngine, field_of
from qiusuo.errors import EngineError, QuotaExceeded
from qiusuo.http import Reply, told
from qiusuo.http.statuses import error_detail, error_for_status
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.words import Fact

MAX_DOMAINS = 20
FRESHNESS = {
    # An hour is finer than Bocha's ranges: a day is the nearest that leaves nothing out.
    Freshness.HOUR: "oneDay",
    Freshness.DAY: "oneDay",
    Freshness.WEEK: "oneWeek",
    Freshness.MONTH: "oneMonth",
    Freshness.YEAR: "oneYear",
}


class BochaEngine(HttpEngine):
    """Search API for the Chinese web; snippets are summaries of whole pages."""

    name = "bocha"
    label = "博查 Bocha"
    title = Fact("engine.bocha")
    docs_url = "https://open.bocha.cn"
    base_url = "https://api.bocha.cn"
    key_env = ("BOCHA_API_KEY",)
    priority = 80
    max_results = 50
    features: ClassVar = frozenset({Feature.FRESHNESS, Feature.INCLUDE_DOMAINS, Feature.EXCLUDE_DOMAINS})

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        body = {
            "query": self.query_text(query),
            "summary": True,
            "count": count,
            "freshness": FRESHNESS[query.freshness] if query.freshness else None,
            "include": "|".join(query.include_domains[:MAX_DOMAINS]) or None,
            "exclude": "|".join(query.exclude_domains[:MAX_DOMAINS]) or None,
        }
        data = await self.endpoint.post("/v1/web-search", body)
        if field_of(data, "code") not in (None, 200, "200"):  # an error that came with HTTP 200
            raise self._error(Reply(_code(data) or 400, {}, b""), self.endpoint.scrub(error_detail(data)))
        found = field_of(data, "data")
        # Where nothing was found the whole part about web pages may be null.
        empty = isinstance(found, dict) and found.get("webPages") is None
        return self.collect([] if empty else field_of(found, "webPages", "value"), self._item, limit=count)

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        return self.item(
            row["name"],
            row["url"],
            row.get("summary") or row.get("snippet"),
            date=row.get("datePublished") or row.get("dateLastCrawled"),
        )

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        # The code in the body is finer than the status, where it is an error at all.
        code = _code(reply.data)
        return self._error(replace(reply, status=code) if code and code >= 400 else reply, detail)  # noqa: PLR2004 - HTTP errors

    def _error(self, reply: Reply, detail: str) -> EngineError:
        if reply.status != 403:  # noqa: PLR2004 - Bocha's code for an empty balance
            return error_for_status(reply, detail, self.name, self.endpoint.host)
        used_up = Fact("bocha.balance", said=told(detail), docs_url=self.docs_url)
        return QuotaExceeded(used_up, engine=self.name, status=403)

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = super().notes(query, num_results)
        if max(len(query.include_domains), len(query.exclude_domains)) > MAX_DOMAINS:
            found += (Fact("engine.first_domains", count=MAX_DOMAINS),)
        return found


def _code(data: object) -> int | None:
    # A number when all is well, mostly text in errors.
    code = str(field_of(data, "code"))
    return int(code) if code.isdecimal() else None
