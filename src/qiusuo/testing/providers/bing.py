"""Microsoft Web IQ's side of the wire, which is where Bing's index is asked today."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

_FIELDS = frozenset({"query", "maxResults", "language", "region", "location", "contentFormat", "maxLength"})
# Path: name of the list, most results, fields of its own.
_KINDS = {
    "/v3/search/web": ("webResults", 50, frozenset({"safeSearch"})),
    "/v3/search/news": ("newsResults", 20, frozenset[str]()),
}


class WebIQ(Provider):
    """Answers ``POST /v3/search/web`` and ``/v3/search/news`` as api.microsoft.ai does; knows no other fields."""

    base_path = "/v3"

    def authorized(self, seen: Seen) -> bool:
        return seen.headers.get("x-apikey") == self.key

    def answer(self, seen: Seen) -> Answer:
        kind = _KINDS.get(seen.path)
        if seen.method != "POST" or kind is None:
            return _error(404, "NotFound", "No such operation.")
        name, most, own_fields = kind
        body = seen.json
        wrong = self._wrong(body, most, _FIELDS | own_fields)
        if wrong:
            return _error(400, "InvalidRequest", wrong)
        rows = [self._row(number, body) for number in range(1, min(body.get("maxResults", 10), self.results) + 1)]
        return Answer({name: rows or None, "traceId": "0" * 32}, headers={"x-traceid": "0" * 32})

    def _row(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        page = self.page(number, body["query"])
        return {
            "title": page["title"],
            "url": page["url"],
            "content": page["snippet"],
            "lastUpdatedAt": f"{page['date']}T08:00:00Z",
            "crawledAt": "2026-11-01T00:00:00Z",
            "language": body.get("language", "en"),
            "isAdult": False,
        }

    @staticmethod
    def _wrong(body: dict[str, Any], most: int, fields: frozenset[str]) -> str:
        unknown = sorted(set(body) - fields)
        if unknown:
            return f"Unknown fields: {', '.join(unknown)}."
        if not 1 <= len(body.get("query", "")) <= 1000:  # noqa: PLR2004 - Web IQ's limit
            return "query must have 1 to 1000 characters."
        if not 1 <= body.get("maxResults", 10) <= most:
            return f"maxResults must be 1 to {most}."
        if any(len(body[name]) != 2 for name in ("language", "region") if name in body):  # noqa: PLR2004 - ISO codes
            return "language and region must have two letters."
        return ""

    def unreadable(self, seen: Seen) -> Answer:
        return Answer({_KINDS[seen.path][0]: [{"title": "no address"}, 7, None], "traceId": "0" * 32})

    def refuse(self, fault: Fault) -> Answer:
        answer = super().refuse(fault)
        wait = "30s" if fault is Fault.RATE_LIMITED else None
        return _error(answer.status, fault.value, answer.body["error"], wait)


def _error(status: int, code: str, message: str, wait: str | None = None) -> Answer:
    return Answer(
        {
            "errorCode": code,
            "errorCategory": "Error",
            "userMessage": message,
            "technicalDetails": None,
            "retryAfter": wait,
            "requestId": "0",
            "traceId": "0" * 32,
        },
        status,
    )
