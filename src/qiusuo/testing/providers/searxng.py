"""SearXNG's side of the wire."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qiusuo.testing.server import Answer, Fault, Provider, Seen

PAGE_SIZE = 10
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-zA-Z]{2})?|auto")
_FORBIDDEN = "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n<h1>Forbidden</h1>\n"
_TOO_MANY = "<!doctype html>\n<html lang=en>\n<title>429 Too Many Requests</title>\n<h1>Too Many Requests</h1>\n"
_LOGIN = "<html><head><title>401 Authorization Required</title></head><body>nginx</body></html>"


class Searxng(Provider):
    """Answers ``/search``, ``/config`` and ``/healthz`` as SearXNG of 2026 does."""

    json_on: bool = True
    """Whether ``json`` stands in ``search.formats``; off is SearXNG's default."""
    unresponsive: tuple[tuple[str, str], ...] = ()
    """Engines that did not answer, with SearXNG's words for it."""
    suggestions: tuple[str, ...] = ()
    """What its engines say others search for."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - SearXNG itself knows no keys
        return True

    def answer(self, seen: Seen) -> Answer:
        if seen.path == "/healthz":
            return Answer("OK")
        if seen.path == "/config":
            return Answer({"engines": [{"name": "example"}], "version": "2026.8.14", "instance_name": "SearXNG"})
        if seen.path != "/search":
            return Answer("<!doctype html><title>404</title>", 404)
        return self._search(seen.params)

    def _search(self, params: Mapping[str, str]) -> Answer:
        if params.get("format") == "json" and not self.json_on:
            return Answer(_FORBIDDEN, 403)
        text, page = params.get("q", ""), params.get("pageno", "1")
        if not text:
            return Answer({"error": "No query"}, 400)
        for name, value, valid in (
            ("pageno", page, page.isdigit() and page != "0"),
            ("language", params.get("language"), _LANGUAGE.fullmatch(params.get("language", "auto"))),
            (
                "time_range",
                params.get("time_range"),
                params.get("time_range", "day") in {"day", "week", "month", "year"},
            ),
        ):
            if not valid:
                return Answer({"error": f"Invalid value {value!r} for parameter {name}"}, 400)
        if any(word.startswith("!!") for word in text.split()):
            return Answer("", 302, {"Location": "https://elsewhere.example.com/"})
        first = (int(page) - 1) * PAGE_SIZE + 1
        last = min(first + PAGE_SIZE - 1, self.results)
        return Answer(
            {
                "query": text,
                "results": [self._result(number, text) for number in range(first, last + 1)],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": list(self.suggestions),
                "unresponsive_engines": [list(pair) for pair in self.unresponsive],
            }
        )

    def _result(self, number: int, text: str) -> dict[str, object]:
        page = self.page(number, text)
        return {
            "url": page["url"],
            "title": page["title"],
            "content": page["snippet"],
            "publishedDate": f"{page['date']}T00:00:00",
            "thumbnail": "",
            "engine": "example",
            "engines": ["example", "another"],
            "positions": [number],
            "score": 1.0 / number,
            "category": "general",
            "template": "default.html",
            "parsed_url": ["https", f"site{number}.example.com", f"/page/{number}", "", "", ""],
            "img_src": "",
            "priority": "",
        }

    def unreadable(self, seen: Seen) -> Answer:
        return Answer({"query": seen.params["q"], "results": [{"title": "no address"}, 7], "unresponsive_engines": []})

    def refuse(self, fault: Fault) -> Answer:
        page = {
            Fault.AUTH: Answer(_LOGIN, 401),
            Fault.FORBIDDEN: Answer(_FORBIDDEN, 403),
            Fault.RATE_LIMITED: Answer(_TOO_MANY, 429),
        }.get(fault)
        return page or super().refuse(fault)
