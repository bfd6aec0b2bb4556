"""Perplexity's side of the wire."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

MAX_RESULTS = 20
MAX_DOMAINS = 20
_RECENCIES = {None, "hour", "day", "week", "month", "year"}


class Perplexity(Provider):
    """Answers ``POST /search`` as api.perplexity.ai does; ``nested`` as it did for lists of queries."""

    nested: bool = False

    def answer(self, seen: Seen) -> Answer:
        if (seen.method, seen.path) != ("POST", "/search"):
            return self.error(404, "not_found", "Not Found")
        body = seen.json
        wrong = self._invalid(body)
        if wrong:
            return self.error(400, "bad_request", f"Invalid value for {wrong}.")
        wanted = min(body.get("max_results", 10), self.results)
        rows = [self._row(number, body["query"]) for number in range(1, wanted + 1)]
        return Answer({"id": "00000000-0000", "results": [rows] if self.nested else rows, "server_time": None})

    def _row(self, number: int, query: str) -> dict[str, Any]:
        page = self.page(number, query)
        return {
            "title": page["title"],
            "url": page["url"],
            "snippet": page["snippet"],
            "date": None if number == 2 else page["date"],  # noqa: PLR2004 - some page has no date
            "last_updated": "2026-11-01",
        }

    @staticmethod
    def _invalid(body: dict[str, Any]) -> str:
        domains = body.get("search_domain_filter") or []
        kinds = {domain.startswith("-") for domain in domains}
        checks = {
            "query": bool(body.get("query")),
            "max_results": 1 <= body.get("max_results", 10) <= MAX_RESULTS,
            "search_domain_filter": len(domains) <= MAX_DOMAINS and len(kinds) <= 1,
            "search_recency_filter": body.get("search_recency_filter") in _RECENCIES,
            "search_language_filter": all(
                len(language) == 2 and language.islower()  # noqa: PLR2004 - ISO 639-1
                for language in body.get("search_language_filter") or []
            ),
            "country": body.get("country", "US").isupper(),
        }
        return next((name for name, valid in checks.items() if not valid), "")

    def unreadable(self, seen: Seen) -> Answer:
        return Answer({"id": seen.path, "results": [{"title": "no address"}, 7, None]})

    def refuse(self, fault: Fault) -> Answer:
        if fault is Fault.QUOTA:
            message = "You exceeded your current quota, please check your plan and billing details."
            return self.error(401, "insufficient_quota", message)
        answer = super().refuse(fault)
        return self.error(answer.status, fault.value, answer.body["error"])

    @staticmethod
    def error(status: int, kind: str, message: str) -> Answer:
        """Word an error as the service does."""
        return Answer({"error": {"message": message, "type": kind, "code": status}}, status)
