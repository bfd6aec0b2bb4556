"""SerpApi's side of the wire."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

_EMPTY = {
    "google": "Google hasn't returned any results for this query.",
    "google_news": "Google News hasn't returned any results for this query.",
    "bing": "Bing hasn't returned any results for this query.",
    "baidu": "Baidu hasn't returned any results for this query.",
}


class SerpApi(Provider):
    """Answers ``GET /search`` as serpapi.com does, for the engines google, google_news, bing and baidu.

    ``GET /account.json`` tells what is left of the plan.
    """

    used: int = 40
    """Searches of this month, of 250."""

    page_size: int = 10

    def authorized(self, seen: Seen) -> bool:
        return seen.params.get("api_key") == self.key

    def answer(self, seen: Seen) -> Answer:
        params = seen.params
        engine = params.get("engine", "google")
        if (seen.method, seen.path) == ("GET", "/account.json"):
            return Answer(
                {
                    "account_id": "0",
                    "api_key": self.key,
                    "account_email": "owner@example.com",
                    "plan_name": "Free Plan",
                    "searches_per_month": 250,
                    "this_month_usage": self.used,
                    "total_searches_left": 250 - self.used,
                }
            )
        if (seen.method, seen.path) not in {("GET", "/search"), ("GET", "/search.json")}:
            return Answer({"error": "Not Found"}, 404)
        if engine not in _EMPTY:
            return Answer({"error": f"Unsupported `{engine}` search engine."}, 400)
        if not params.get("q"):
            return Answer({"error": "Missing query `q` parameter."}, 400)
        if "mkt" in params and "cc" in params:
            return Answer({"error": "`mkt` and `cc` parameters can't be used together."}, 400)
        first, size = self._window(engine, params)
        numbers = range(first, min(first + size, self.results + 1))
        if not numbers:
            return Answer(
                {
                    "search_metadata": {"id": "0", "status": "Success"},
                    "search_information": {"organic_results_state": "Fully empty"},
                    "error": _EMPTY[engine],
                }
            )
        rows = [self._row(engine, number, params["q"]) for number in numbers]
        body: dict[str, Any] = {
            "search_metadata": {"id": "0", "status": "Success", "total_time_taken": 0.5},
            "search_parameters": {name: value for name, value in params.items() if name != "api_key"},
        }
        if engine == "google_news":
            return Answer(body | {"news_results": _grouped(rows)})
        if numbers[-1] < self.results:
            body["serpapi_pagination"] = {"next": "https://serpapi.com/search.json?..."}
        body["search_information"] = {"organic_results_state": "Results for exact spelling"}
        body["related_questions"] = [{"question": f"What about {params['q']}?", "snippet": "…"}]
        body["related_searches"] = [{"block_position": 1, "query": f"{params['q']} price"}, "?"]
        return Answer(body | {"organic_results": rows})

    def _window(self, engine: str, params: Any) -> tuple[int, int]:
        """Return the number of the page's first result and how many it can hold."""
        if engine == "google":
            return int(params.get("start", 0)) + 1, self.page_size
        if engine == "bing":
            return int(params.get("first", 1)), self.page_size
        if engine == "baidu":
            return int(params.get("pn", 0)) + 1, min(int(params.get("rn", 10)), 50)
        return 1, 100

    def _row(self, engine: str, number: int, query: str) -> dict[str, Any]:
        page = self.page(number, query)
        row: dict[str, Any] = {"position": number, "title": page["title"], "link": page["url"]}
        if engine == "google_news":
            return row | {
                "source": {"name": "Example News"},
                "date": "10/12/2026, 07:00 AM, +0000 UTC",
                "iso_date": f"{page['date']}T07:00:00Z",
            }
        # Rows about videos and forums have no snippet.
        return row | ({"date": "Oct 12, 2026"} if number % 7 == 0 else {"snippet": page["snippet"]})

    def unreadable(self, seen: Seen) -> Answer:
        rows = [{"position": 1, "title": "no address"}, 7, None]
        key = "news_results" if seen.params.get("engine") == "google_news" else "organic_results"
        return Answer({"search_metadata": {"status": "Success"}, key: rows})

    def refuse(self, fault: Fault) -> Answer:
        said = {
            Fault.AUTH: (401, "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"),
            # The same status as for too many requests.
            Fault.QUOTA: (429, "Your account has run out of searches."),
            Fault.RATE_LIMITED: (429, "Your account has reached its hourly throughput limit."),
        }.get(fault)
        return Answer({"error": said[1]}, said[0]) if said else super().refuse(fault)


def _grouped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the first three articles into one group, as Google News does with those on one event."""
    best, *others = rows[:3]
    group = {"position": 1, "title": "One event", "highlight": best, "stories": others, "story_token": "0"}
    return [group, *rows[3:]]
