"""Bocha's side of the wire."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen


class Bocha(Provider):
    """Answers ``POST /v1/web-search`` as api.bocha.cn does."""

    def answer(self, seen: Seen) -> Answer:
        if (seen.method, seen.path) != ("POST", "/v1/web-search"):
            return Answer({"code": "404", "message": "Not Found", "log_id": "0"}, 404)
        body = seen.json
        if not body.get("query") or not 1 <= body.get("count", 10) <= 50:  # noqa: PLR2004 - Bocha's limit
            return self.refuse(Fault.INVALID)
        count = min(body.get("count", 10), self.results)
        rows = [self._row(number, body) for number in range(1, count + 1)]
        pages = {"webSearchUrl": "", "totalEstimatedMatches": self.results, "value": rows, "someResultsRemoved": True}
        return self._success(body["query"], pages)

    @staticmethod
    def _success(query: str, pages: dict[str, Any]) -> Answer:
        data: dict[str, Any] = {
            "_type": "SearchResponse",
            "queryContext": {"originalQuery": query},
            "webPages": pages,
            "images": {"value": []},
            "videos": None,
        }
        return Answer({"code": 200, "log_id": "0", "msg": None, "data": data})

    def _row(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        page = self.page(number, body["query"])
        row: dict[str, Any] = {
            "id": f"https://api.bocha.cn/v1/#WebPages.{number}",
            "name": page["title"],
            "url": page["url"],
            "displayUrl": page["url"],
            # Some pages lack the one or the other.
            "snippet": page["snippet"] if number % 5 else None,
            "summary": f"{page['snippet']} In full." if body.get("summary") and number % 3 else None,
            "siteName": "示例",
            "siteIcon": "",
            "dateLastCrawled": f"{page['date']}T08:00:00Z",
            "language": None,
            "isFamilyFriendly": None,
        }
        return row | ({"datePublished": f"{page['date']}T16:00:00+08:00"} if number % 2 else {})

    def unreadable(self, seen: Seen) -> Answer:
        return self._success(seen.json["query"], {"value": [{"name": "no address"}, 7, None]})

    def refuse(self, fault: Fault) -> Answer:
        answer = super().refuse(fault)
        status, message = {
            Fault.AUTH: (401, "Invalid API KEY"),
            Fault.QUOTA: (403, "You do not have enough money"),
            Fault.RATE_LIMITED: (429, "You have reached the request limit"),
        }.get(fault, (answer.status, answer.body["error"]))
        return Answer({"code": str(status), "message": message, "log_id": "0"}, status)
