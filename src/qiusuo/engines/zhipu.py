"""智谱 Zhipu (Z.ai): https://docs.bigmodel.cn/cn/guide/tools/web-search"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from qiusuo.engines.base import EngineOptions, Feature, HttpEngine, field_of
from qiusuo.errors import AuthFailed, EngineError, QuotaExceeded, RequestRejected
from qiusuo.http import HttpClient, Reply, told
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.words import Fact

DEFAULT_SEARCH_ENGINE = "search_pro"
AUTH_CODES = frozenset({"1000", "1001", "1002", "1003", "1004"})
ARREARS_CODE = "1113"
SENSITIVE_CODE = "1301"
FRESHNESS = {
    # An hour is finer than Zhipu's ranges: a day is the nearest that leaves nothing out.
    Freshness.HOUR: "oneDay",
    Freshness.DAY: "oneDay",
    Freshness.WEEK: "oneWeek",
    Freshness.MONTH: "oneMonth",
    Freshness.YEAR: "oneYear",
}


class ZhipuEngine(HttpEngine):
    """Search API for the Chinese web; ``search_engine`` picks one of the indexes that Zhipu offers."""

    name = "zhipu"
    label = "智谱 Zhipu"
    title = Fact("engine.zhipu")
    docs_url = "https://open.bigmodel.cn/usercenter/apikeys"
    base_url = "https://open.bigmodel.cn/api/paas/v4"
    key_env = ("ZHIPUAI_API_KEY", "ZAI_API_KEY")
    priority = 90
    max_results = 50
    max_query_chars = 70
    own_settings: ClassVar = {
        "search_engine": "Which index: `search_std`, `search_pro` (default), `search_pro_sogou`, `search_pro_quark`."
    }
    features: ClassVar = frozenset({Feature.FRESHNESS, Feature.INCLUDE_DOMAINS})

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        http: HttpClient | None = None,
        search_engine: str = DEFAULT_SEARCH_ENGINE,
    ) -> None:
        super().__init__(api_key, base_url=base_url, timeout=timeout, http=http)
        self.search_engine = search_engine

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:
        return cls(
            options.api_key,
            base_url=options.base_url,
            timeout=options.timeout,
            http=http,
            search_engine=str(options.extra.get("search_engine") or DEFAULT_SEARCH_ENGINE),
        )

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        body = {
            "search_query": self.query_text(query),
            "search_engine": self.search_engine,
            # Otherwise a model first decides whether to search at all, and may decide against it.
            "search_intent": False,
            # Sogou gives tens only.
            "count": -(-count // 10) * 10 if self.search_engine.endswith("_sogou") else count,
            # It takes one domain. Of several, one alone would leave out what was asked for.
            "search_domain_filter": query.include_domains[0] if len(query.include_domains) == 1 else None,
            "search_recency_filter": FRESHNESS[query.freshness] if query.freshness else None,
        }
        data = await self.endpoint.post("/web_search", body)
        rows = field_of(data, "search_result")
        if rows is None and field_of(data, "id"):
            rows = []
        return self.collect(rows, self._item, limit=count)

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        return self.item(row["title"], row["link"], row.get("content"), date=row.get("publish_date"))

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        code = str(field_of(reply.data, "error", "code") or "")
        kind, fact = _meaning(reply.status, code)
        if kind is None:
            return None
        values = {"status": reply.status, "code": code or "-", "said": told(detail)}
        where = {"docs_url": self.docs_url, "engine": self.name}
        return kind(Fact(fact, **values, **where), engine=self.name, status=reply.status)

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = super().notes(query, num_results)
        if len(query.include_domains) > 1:
            found += (Fact("zhipu.one_domain"),)
        return found


def _meaning(status: int, code: str) -> tuple[type[EngineError] | None, str]:
    if status == 401 or code in AUTH_CODES:  # noqa: PLR2004 - unauthorized
        return AuthFailed, "zhipu.key"
    if code == ARREARS_CODE:
        return QuotaExceeded, "zhipu.arrears"
    if code == SENSITIVE_CODE or status in {434, 435}:
        return RequestRejected, "zhipu.sensitive"
    return None, ""
