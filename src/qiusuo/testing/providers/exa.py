"""Exa's side of the wire."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

MAX_RESULTS = 100
_TAGS = {
    Fault.AUTH: (401, "INVALID_API_KEY", "Invalid API key"),
    Fault.QUOTA: (402, "NO_MORE_CREDITS", "You have exceeded your credits limit. Please top up your account."),
    Fault.INVALID: (400, "INVALID_REQUEST_BODY", "Invalid request body"),
    Fault.OVERLOADED: (503, "SERVICE_OVERLOADED", "Service overloaded"),
}


class Exa(Provider):
    """Answers ``POST /search`` and ``POST /contents`` as api.exa.ai does."""

    notices: tuple[str, ...] = ()
    """What it says about filters that it relaxed."""

    def authorized(self, seen: Seen) -> bool:
        return seen.headers.get("x-api-key") == self.key

    def answer(self, seen: Seen) -> Answer:
        if seen.method == "POST" and seen.path == "/search":
            return self._search(seen.json)
        if seen.method == "POST" and seen.path == "/contents":
            return self._contents(seen.json)
        return self.error(404, "NOT_FOUND", "Not Found")

    def _search(self, body: dict[str, Any]) -> Answer:
        wanted = body.get("numResults", 10)
        if not isinstance(wanted, int) or not 1 <= wanted <= MAX_RESULTS:
            return self.error(400, "NUM_RESULTS_EXCEEDED", f"numResults must be at most {MAX_RESULTS}")
        rows = [
            self._row(number, body["query"], body.get("contents") or {})
            for number in range(1, min(wanted, self.results) + 1)
        ]
        notices = [{"code": "RESTRICTIONS_RELAXED", "path": "includeDomains", "message": text} for text in self.notices]
        return Answer(
            {
                "requestId": "0" * 32,
                "resolvedSearchType": "neural",
                "results": rows,
                "searchTime": 812.5,
                "costDollars": {"total": 0.007},
                **({"notices": notices} if notices else {}),
            }
        )

    def _row(self, number: int, query: str, contents: dict[str, Any]) -> dict[str, Any]:
        page = self.page(number, query)
        row: dict[str, Any] = {
            "id": page["url"],
            "url": page["url"],
            "title": None if number == 3 else page["title"],  # noqa: PLR2004 - some page has no title
            "publishedDate": f"{page['date']}T00:00:00.000Z",
            "author": None,
        }
        # Nothing that could be a snippet comes unasked.
        if contents.get("highlights"):
            row |= {"highlights": [page["snippet"], f"second passage {number}"], "highlightScores": [0.5, 0.4]}
        if contents.get("summary"):
            row["summary"] = f"Summary of page {number}."
        if contents.get("text"):
            row["text"] = self._text(number, contents["text"])
        return row

    def _contents(self, body: dict[str, Any]) -> Answer:
        rows, statuses = [], []
        for number, url in enumerate(body["urls"], 1):
            if "missing" in url:
                error = {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404}
                statuses.append({"id": url, "status": "error", "error": error})
                continue
            statuses.append({"id": url, "status": "success", "source": "cached"})
            asked = {name: body[name] for name in ("text", "summary") if body.get(name)}
            rows.append(self._row(number, "page", asked) | {"id": url, "url": url})
        return Answer({"requestId": "0" * 32, "results": rows, "statuses": statuses, "costDollars": {"total": 0.001}})

    @staticmethod
    def _text(number: int, asked: Any) -> str:
        text = f"# Page {number}\n\n    def indented() -> List<int>:\n" + "Words and more words. " * 1000
        return text[: asked["maxCharacters"]] if isinstance(asked, dict) else text

    def unreadable(self, seen: Seen) -> Answer:
        return Answer({"requestId": seen.path, "results": [{"id": "x", "title": "no address"}, 7, None]})

    def refuse(self, fault: Fault) -> Answer:
        if fault in _TAGS:
            return self.error(*_TAGS[fault])
        answer = super().refuse(fault)
        # A rejection by the rate limiter has nothing but the sentence.
        return answer if fault is Fault.RATE_LIMITED else self.error(answer.status, fault.upper(), answer.body["error"])

    @staticmethod
    def error(status: int, tag: str, message: str) -> Answer:
        """Word an error as the service does."""
        return Answer({"requestId": "0" * 32, "error": message, "tag": tag}, status)
