"""Tavily's side of the wire."""

from __future__ import annotations

from qiusuo.testing.server import Answer, Fault, Provider, Seen


class Tavily(Provider):
    """Answers ``POST /search`` and ``GET /usage`` as api.tavily.com does."""

    used: int = 150
    """Credits of the plan that are used, of 1000."""

    def answer(self, seen: Seen) -> Answer:
        if (seen.method, seen.path) == ("GET", "/usage"):
            account = {"current_plan": "Researcher", "plan_usage": self.used, "plan_limit": 1000}
            return Answer({"key": {"usage": self.used, "limit": None}, "account": account})
        if (seen.method, seen.path) != ("POST", "/search"):
            return Answer({"detail": "Not Found"}, 404)
        body = seen.json
        wanted = min(body.get("max_results", 5), 20, self.results)
        pages = [self.page(number, body["query"]) for number in range(1, wanted + 1)]
        return Answer(
            {
                "query": body["query"],
                "follow_up_questions": None,
                "answer": None,
                "images": [],
                "results": [
                    {
                        "title": page["title"],
                        "url": page["url"],
                        "content": page["snippet"],
                        "score": 0.9,
                        "raw_content": None,
                        **({"published_date": page["date"]} if body.get("topic") == "news" else {}),
                    }
                    for page in pages
                ],
                "response_time": 0.5,
                "request_id": "00000000-0000-0000-0000-000000000000",
            }
        )

    def unreadable(self, seen: Seen) -> Answer:
        return Answer({"query": seen.json["query"], "results": [{"title": "no address"}, 7, None]})

    def refuse(self, fault: Fault) -> Answer:
        if fault is Fault.QUOTA:
            return Answer({"detail": {"error": "This request exceeds your plan's set usage limit."}}, 432)
        answer = super().refuse(fault)
        return Answer({"detail": {"error": answer.body["error"]}}, answer.status)
