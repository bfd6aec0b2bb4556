"""Brave's side of the wire."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

WEB = "/res/v1/web/search"
NEWS = "/res/v1/news/search"
# What the service accepts, as Brave's own MCP server lists it.
_COUNTRIES = (
    "ALL AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
)
_LANGUAGES = (
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml mr nb "
    "pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
)
_CODES = {
    Fault.AUTH: (422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."),
    Fault.QUOTA: (429, "QUOTA_LIMITED", "Request quota limit exceeded for plan."),
    Fault.RATE_LIMITED: (429, "RATE_LIMITED", "Request rate limit exceeded for plan."),
    Fault.INVALID: (422, "VALIDATION", "Unable to validate request parameter(s)"),
}


class Brave(Provider):
    """Answers ``GET /res/v1/web/search`` and ``/res/v1/news/search`` as api.search.brave.com does."""

    altered: str | None = None
    """What its spell checker made of the query."""

    def authorized(self, seen: Seen) -> bool:
        return seen.headers.get("x-subscription-token") == self.key

    def answer(self, seen: Seen) -> Answer:
        if seen.method != "GET" or seen.path not in {WEB, NEWS}:
            return self.error(404, "NOT_FOUND", "Not Found")
        news, asked = seen.path == NEWS, seen.params
        wrong = self._invalid(asked, max_count=50 if news else 20)
        if wrong:
            return self.error(422, "VALIDATION", "Unable to validate request parameter(s)", wrong)
        pages = [self.page(number, asked["q"]) for number in range(1, min(int(asked["count"]), self.results) + 1)]
        rows = [
            {
                "type": "news_result" if news else "search_result",
                "title": page["title"],
                "url": page["url"],
                "description": page["snippet"],
                "age": "2 days ago",
                "page_age": f"{page['date']}T08:30:00",
                "meta_url": {"scheme": "https", "hostname": page["url"].split("/")[2]},
            }
            for page in pages
        ]
        query = {"original": asked["q"], "more_results_available": bool(rows)}
        if self.altered:
            query["altered"] = self.altered
        if news:
            return Answer({"type": "news", "query": query, "results": rows})
        # The section is missing, not empty, when nothing was found.
        web = {"web": {"type": "search", "results": rows, "family_friendly": True}} if rows else {}
        return Answer({"type": "search", "query": query, **web, "mixed": {"type": "mixed", "main": []}})

    def unreadable(self, seen: Seen) -> Answer:
        rows = [{"title": "no address"}, 7, None]
        return Answer({"type": "search", "query": {"original": seen.params["q"]}, "web": {"results": rows}})

    def refuse(self, fault: Fault) -> Answer:
        if fault in _CODES:
            return self.error(*_CODES[fault])
        answer = super().refuse(fault)
        return self.error(answer.status, fault.upper(), answer.body["error"])

    @staticmethod
    def error(status: int, code: str, detail: str, wrong: str = "") -> Answer:
        """Word an error as the real service does: one object, although its documentation shows a list."""
        meta = {"errors": [{"loc": ["query", wrong]}]} if wrong else {}
        error = {"id": "00000000-0000", "status": status, "code": code, "detail": detail, "meta": meta}
        return Answer({"type": "ErrorResponse", "error": error, "time": 1794700000}, status)

    @staticmethod
    def _invalid(asked: Any, max_count: int) -> str:
        checks = {
            "q": 1 <= len(asked.get("q", "")) <= 400 and len(asked["q"].split()) <= 50,  # noqa: PLR2004 - Brave's limits
            "count": 1 <= int(asked.get("count", 20)) <= max_count,
            "country": f" {asked.get('country', 'US')} " in f" {_COUNTRIES} ",
            "search_lang": f" {asked.get('search_lang', 'en')} " in f" {_LANGUAGES} ",
            "freshness": asked.get("freshness", "pd") in {"pd", "pw", "pm", "py"},
            "text_decorations": asked.get("text_decorations", "true") in {"true", "false"},
        }
        return next((name for name, valid in checks.items() if not valid), "")
