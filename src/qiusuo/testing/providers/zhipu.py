"""Zhipu's side of the wire."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

_ENGINES = frozenset({"search_std", "search_pro", "search_pro_sogou", "search_pro_quark"})
_RECENCY = frozenset({"noLimit", "oneDay", "oneWeek", "oneMonth", "oneYear"})


class Zhipu(Provider):
    """Answers ``POST /api/paas/v4/web_search`` as open.bigmodel.cn does."""

    base_path = "/api/paas/v4"

    def answer(self, seen: Seen) -> Answer:
        if (seen.method, seen.path) != ("POST", "/api/paas/v4/web_search"):
            return _error(404, "1222", "API 不存在")
        body = seen.json
        wrong = self._wrong(body)
        if wrong:
            return _error(400, "1214", f"{wrong} 参数非法。请检查文档")
        pages = [self.page(n, body["search_query"]) for n in range(1, min(body.get("count", 10), self.results) + 1)]
        rows = [
            {
                "title": page["title"],
                "content": page["snippet"],
                "link": page["url"],
                "media": "示例",
                "icon": "",
                "refer": f"ref_{number}",
                "publish_date": page["date"],
            }
            for number, page in enumerate(pages, 1)
        ]
        return self._success(body["search_query"], rows)

    @staticmethod
    def _success(query: str, rows: list[Any]) -> Answer:
        intent = {"query": query, "intent": "SEARCH_ALL", "keywords": query}
        return Answer({"id": "0", "created": 1, "request_id": "0", "search_intent": [intent], "search_result": rows})

    @staticmethod
    def _wrong(body: dict[str, Any]) -> str:
        """Name the first field that Zhipu would not take."""
        step = 10 if body.get("search_engine") == "search_pro_sogou" else 1
        domain = body.get("search_domain_filter", "")
        good = {
            "search_query": 1 <= len(body.get("search_query", "")) <= 70,  # noqa: PLR2004 - Zhipu's limit
            "search_engine": body.get("search_engine") in _ENGINES,
            "search_intent": isinstance(body.get("search_intent"), bool),
            "count": body.get("count", 10) in range(step, 51, step),
            "search_domain_filter": isinstance(domain, str) and "," not in domain,
            "search_recency_filter": body.get("search_recency_filter", "noLimit") in _RECENCY,
        }
        return next((name for name, fits in good.items() if not fits), "")

    def unreadable(self, seen: Seen) -> Answer:
        return self._success(seen.json["search_query"], [{"title": "no address", "link": ""}, 7, None])

    def refuse(self, fault: Fault) -> Answer:
        answer = super().refuse(fault)
        status, code, message = {
            Fault.AUTH: (401, "1002", "Authentication Token 非法，请确认 Authentication Token 正确传递"),
            # The same status as for too many requests.
            Fault.QUOTA: (429, "1113", "您的账户已欠费，请充值后重试"),
            Fault.RATE_LIMITED: (429, "1302", "您的账户已达到速率限制，请您控制请求频率"),
            Fault.INVALID: (400, "1210", "API 调用参数有误，请检查文档"),
        }.get(fault, (answer.status, "500", answer.body["error"]))
        return _error(status, code, message)


def _error(status: int, code: str, message: str) -> Answer:
    return Answer({"error": {"code": code, "message": message}}, status)
