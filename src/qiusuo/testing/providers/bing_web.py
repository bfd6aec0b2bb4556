"""Bing's side of the wire: result pages, the page without results, and the one that asks for a person."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from html import escape

from qiusuo.testing.providers.result_pages import ResultPageSite
from qiusuo.testing.server import Answer, Seen

_AROUND = """
  <li class="b_ad"><ul><li><h2><a href="https://www.bing.com/aclk?ld=1">Buy it now</a></h2></li></ul></li>
  <li class="b_ans"><h2><a href="/videos/search?q=x">Videos</a></h2></li>
  <li class="b_pag"><nav><ul><li><a href="/search?q=x&amp;first=11">2</a></li></ul></nav></li>"""


class BingWeb(ResultPageSite):
    """Answers ``GET /search``."""

    def start(self, seen: Seen) -> int:
        return int(seen.params.get("first", "1")) - 1

    def results_page(self, seen: Seen, numbers: range) -> str:
        query = escape(seen.params["q"])
        entries = "".join(self._entry(number, query) for number in numbers)
        nothing = f'<li class="b_no"><h1>There are no results for <strong>{query}</strong></h1></li>'
        return f"""<!DOCTYPE html>
<html lang="en"><head><title>{query} - Search</title></head><body>
  <main><ol id="b_results">{entries + _AROUND if entries else nothing}</ol></main>
</body></html>"""

    def _entry(self, number: int, query: str) -> str:
        page = self.page(number, query)
        wrapped = urlsafe_b64encode(page["url"].encode()).decode().rstrip("=")
        href = f"https://www.bing.com/ck/a?!&amp;&amp;p=0&amp;u=a1{wrapped}&amp;ntb=1" if number % 2 else page["url"]
        return f"""
  <li class="b_algo"><div><a href="{href}"><div>Site {number}</div><cite>{page["url"]}</cite></a></div>
    <h2><a href="{href}">{page["title"]}</a></h2>
    <div class="b_caption"><p>{page["snippet"]}</p></div></li>"""

    def unreadable(self, seen: Seen) -> Answer:  # noqa: ARG002 - the same for every query
        return Answer('<ol id="b_results"><li><h2><a href="javascript:void(0)">No address</a></h2></li></ol>')

    @staticmethod
    def captcha(status: int = 200) -> Answer:
        """Ask for a person."""
        return Answer('<!doctype html><title>Bing</title><div class="cf-turnstile" data-sitekey="0x4"></div>', status)
