"""Google's side of the wire: result pages in the structure of 2026, and what it shows instead of them.

The class names are made up on purpose, as Google's own change all the time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from qiusuo.testing.providers.result_pages import ResultPageSite
from qiusuo.testing.server import Answer, Seen

_AD = '<div data-text-ad="1"><a href="https://ads.example/"><h3>Buy it now</h3></a><div>Advertisement</div></div>'
_PEOPLE_ALSO_ASK = """
  <div class="k3"><div class="related-question-pair" data-q="Why?"><a href="https://asked.example/"><h3>Why?</h3></a>
  </div></div>"""
_FACTS = """
  <div id="rhs"><div data-attrid="title"><a href="https://facts.example/"><h3>Facts</h3></a></div></div>"""
_CAROUSEL = """
  <g-scrolling-carousel><a href="https://video.example/"><h3>A video</h3></a></g-scrolling-carousel>
  <div style="display:none"><a href="https://hidden.example/"><h3>Hidden</h3></a></div>"""
_NOTHING = """
  <div class="z1"><p role="heading" aria-level="3">Your search - <em>{query}</em> - did not match any documents.</p>
  <p>Suggestions:</p><ul><li>Make sure that all words are spelled correctly.</li></ul></div>"""


class Google(ResultPageSite):
    """Answers ``GET /search``. With ``wants_consent`` it sends those without its cookie to the consent page first."""

    wants_consent: bool = False

    def start(self, seen: Seen) -> int:
        return int(seen.params.get("start", "0"))

    def answer(self, seen: Seen) -> Answer:
        if self.wants_consent and "SOCS=" not in seen.headers.get("cookie", ""):
            if seen.path == "/save":
                return Answer(b"", 303, {"Location": "/search?q=x", "Set-Cookie": "SOCS=yes; Path=/; Max-Age=3600"})
            return self.consent()
        if seen.path.startswith("/sorry/"):
            return self.captcha()
        return super().answer(seen)

    def results_page(self, seen: Seen, numbers: range) -> str:
        query = escape(seen.params["q"])
        draw = self._news if seen.params.get("tbm") == "nws" else self._box
        boxes = "".join(draw(number, query) for number in numbers)
        column = (
            f'<div id="topstuff"></div><div id="search"><div id="rso">{boxes}{_PEOPLE_ALSO_ASK}{_CAROUSEL}</div></div>'
            if boxes
            else f'<div id="search"></div><div id="botstuff">{_NOTHING.format(query=query)}</div>'
        )
        return f"""<!DOCTYPE html>
<html lang="en"><head><title>{query} - Google Search</title><style>.q9 {{ color: red }}</style></head><body>
  <form action="/search" role="search"><textarea name="q">{query}</textarea></form>
  <script>document.documentElement.dataset.scripts = "on";</script>
  <div id="main"><div id="rcnt"><div id="center_col" role="main">
    <div id="taw"><div id="tads">{_AD}</div></div>{column}
    <div id="bottomads">{_AD}</div></div>{_FACTS}
  </div></div>
  <a href="/httpservice/retry/enablejs?sei=1">retry</a>
</body></html>"""

    def _box(self, number: int, query: str) -> str:
        page = self.page(number, query)
        # Some links come through Google's counter, some do not.
        href = f"/url?q={quote(page['url'], safe='')}&amp;sa=U&amp;ved=2ah" if number % 2 else page["url"]
        return f"""
      <div class="q1"><div class="q2" data-rpos="{number}"><div class="q3"><div class="q4"><span>
        <a class="q5" href="{href}"><h3 class="q6">{page["title"]}</h3><br>
          <div><span>Site {number}</span><cite>{page["url"]}</cite></div></a></span>
        <div><a href="/search?q=related:{number}">More results</a></div></div>
        <div class="q7" data-sncf="1"><div class="q8"><span>{page["snippet"]}</span><a href="{href}">Read more</a></div>
      </div></div></div></div>"""

    def _news(self, number: int, query: str) -> str:
        page = self.page(number, query)
        seconds = int(datetime.fromisoformat(page["date"]).replace(tzinfo=UTC).timestamp())
        return f"""
      <div class="n1"><div><a class="n2" href="{page["url"]}"><div class="n3"><span>Example News</span>
        <div class="n4" role="heading" aria-level="3">{page["title"]}</div>
        <div class="n5">{page["snippet"]}</div><div><span data-ts="{seconds}">2 days ago</span></div>
      </div></a></div></div>"""

    def unreadable(self, seen: Seen) -> Answer:  # noqa: ARG002 - the same for every query
        return Answer('<div id="search"><div id="rso"><a href="javascript:void(0)"><h3>No address</h3></a></div></div>')

    @staticmethod
    def captcha(status: int = 429) -> Answer:
        """Ask for a person, as Google does behind a redirect to ``/sorry/index``."""
        return Answer(
            """<!DOCTYPE html><html><head><title>https://www.google.com/search?q=x&amp;hl=de</title></head>
<body><form id="captcha-form" action="index" method="post">
  <div id="recaptcha" class="g-recaptcha" data-sitekey="0123"></div><input type="hidden" name="q" value="x"></form>
  <div>Unsere Systeme haben ungewöhnlichen Datenverkehr aus Ihrem Computernetzwerk festgestellt.</div>
</body></html>""",
            status,
        )

    @staticmethod
    def sorry() -> Answer:
        """Send the browser to the page with the CAPTCHA."""
        return Answer(b"", 302, {"Location": "/sorry/index?continue=x"})

    @staticmethod
    def consent() -> Answer:
        """Ask for consent before anything else."""
        return Answer(
            """<!DOCTYPE html><html lang="de"><head><title>Bevor Sie zu Google weitergehen</title></head><body>
  <form action="https://consent.google.com/save" method="POST"><button>Alle ablehnen</button></form>
  <a id="accept" href="/save">Alle akzeptieren</a></body></html>"""
        )

    @staticmethod
    def interstitial(leads_to: str = "") -> Answer:
        """Check the browser first; a browser that passes is led on to ``leads_to``, another stays here."""
        script = f"setTimeout(() => location.replace({leads_to!r}), 100);" if leads_to else ""
        return Answer(
            f"""<!DOCTYPE html><html lang="fr"><head><title>Google Search</title></head><body>
  <noscript><meta content="0;url=/httpservice/retry/enablejs?sei=1" http-equiv="refresh"></noscript>
  <script>{script}</script>
  <div id="yvlrue" style="display:none">Trouble? <a href="/search?q=x&amp;emsg=SG_REL">click here</a></div>
</body></html>"""
        )
