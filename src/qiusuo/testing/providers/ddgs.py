"""DuckDuckGo's side of the wire: the page for browsers without scripts, and the JSON behind its news."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from qiusuo.testing.server import Answer, Fault, Provider, Seen

FIRST_PAGE = 10
LATER_PAGES = 15
NEWS_PAGE = 30
_TOKEN = "4-123456789012345678901234567890"  # noqa: S105 - no secret: the number that DuckDuckGo gives to every query


class DuckDuckGo(Provider):
    """Answers ``POST /html/`` and, for news, ``GET /`` and ``GET /news.js``."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - there are no keys
        return True

    def answer(self, seen: Seen) -> Answer:
        match seen.method, seen.path:
            case "POST", "/html/":
                return Answer(self._results_page(seen.form))
            case "GET", "/":
                return Answer(f'<!doctype html><title>DuckDuckGo</title><script>vqd="{_TOKEN}";</script>')
            case "GET", "/news.js":
                return self._news(seen)
        return Answer("<!doctype html><title>404</title>", 404)

    def _results_page(self, form: dict[str, str]) -> str:
        query, offset = form["q"], int(form.get("s", "0"))
        last = min(offset + (LATER_PAGES if offset else FIRST_PAGE), self.results)
        boxes = "".join(self._box(number, query) for number in range(offset + 1, last + 1))
        if not boxes:
            boxes = """
              <div class="result results_links result--no-result">
                <div class="links_main result__body"><div class="no-results">No results.</div></div>
              </div>"""
        return f"""<!DOCTYPE html>
<html><head><title>{escape(query)} at DuckDuckGo</title></head>
<body class="body--html">
  <form name="x" action="/html/" method="post"><input name="q" value="{escape(query)}"></form>
  <div class="serp__results"><div id="links" class="results">
    <div class="result results_links result--ad"><div class="links_main result__body">
      <h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=ads.example">Ad</a></h2>
      <a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=ads.example">Buy it.</a>
    </div></div>{boxes}
  </div></div>
</body></html>"""

    def _box(self, number: int, query: str) -> str:
        page = self.page(number, query)
        # Some links come through DuckDuckGo's counter, some do not.
        href = f"//duckduckgo.com/l/?uddg={quote(page['url'], safe='')}&amp;rut=0123" if number % 2 else page["url"]
        return f"""
    <div class="result results_links web-result"><div class="links_main result__body">
      <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{page["title"]}</a></h2>
      <div class="result__extras"><a class="result__url" href="{href}">site{number}.example.com</a></div>
      <a class="result__snippet" href="{href}">{page["snippet"]}</a>
    </div></div>"""

    def _news(self, seen: Seen) -> Answer:
        if seen.params.get("vqd") != _TOKEN:
            return Answer("", 403)
        offset = int(seen.params.get("s", "0"))
        pages = [
            self.page(number, seen.params["q"])
            for number in range(offset + 1, min(offset + NEWS_PAGE, self.results) + 1)
        ]
        return Answer(
            {
                "results": [
                    {
                        "date": int(datetime.fromisoformat(page["date"]).replace(tzinfo=UTC).timestamp()),
                        "excerpt": page["snippet"],
                        "relative_time": "2 hours ago",
                        "source": "Example News",
                        "title": page["title"],
                        "url": page["url"],
                    }
                    for page in pages
                ],
                "vqd": {seen.params["q"]: _TOKEN},
            }
        )

    def unreadable(self, seen: Seen) -> Answer:
        if seen.path == "/html/":
            return Answer('<div class="result__body"><h2>no address</h2></div>')
        return Answer({"results": [{"title": "no address"}, 7]}) if seen.path == "/news.js" else self.answer(seen)

    def refuse(self, fault: Fault) -> Answer:
        answer = super().refuse(fault)
        return Answer(f"<!doctype html><title>{answer.status}</title>", answer.status)

    @staticmethod
    def challenge(status: int = 202) -> Answer:
        """Ask for a person, as DuckDuckGo does: mostly with status 202, now and then with 200."""
        return Answer(
            """<!DOCTYPE html>
<html><head><title>DuckDuckGo</title></head><body><center id="lite_wrapper">
  <form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">
    <div class="anomaly-modal__mask"><div class="anomaly-modal__modal">
      <div class="anomaly-modal__title">Show that you are a person.</div>
      <input type="checkbox" class="anomaly-modal__check" name="image-check_0">
    </div></div>
  </form>
</center></body></html>""",
            status,
        )
