"""Baidu's side of the wire: result pages of the web and the news, and 百度安全验证."""

from __future__ import annotations

from html import escape

from qiusuo.testing.providers.result_pages import ResultPageSite
from qiusuo.testing.server import Answer, Seen

_AROUND = """
  <div tpl="recommend_list" mu="http://nourl.ubs.baidu.com/1"><a href="/s?wd=x">大家还在搜</a></div>"""


class Baidu(ResultPageSite):
    """Answers ``GET /s``."""

    path = "/s"

    def start(self, seen: Seen) -> int:
        return int(seen.params.get("pn", "0"))

    def results_page(self, seen: Seen, numbers: range) -> str:
        query = escape(seen.params["wd"])
        template = "news-normal" if seen.params.get("tn") == "news" else "www_index"
        boxes = "".join(self._box(number, query, template) for number in numbers)
        left = f'<div id="content_left">{boxes}{_AROUND}</div>' if boxes else ""
        nothing = (
            "" if boxes else '<div class="content_none"><div class="nors"><p>抱歉，未找到相关结果。</p></div></div>'
        )
        return f"""<!DOCTYPE html>
<html><head><title>{query}_百度搜索</title></head><body>
  <div id="wrapper"><div id="container">{left}{nothing}<div id="content_right"><h3>热搜榜</h3></div></div></div>
</body></html>"""

    def _box(self, number: int, query: str, template: str) -> str:
        page = self.page(number, query)
        return f"""
  <div class="c-container" id="{number}" tpl="{template}" mu="{page["url"]}"><div>
    <h3><a href="http://www.baidu.com/link?url=0{number}">{page["title"]}</a></h3>
    <div data-module="abstract"><span>{page["snippet"]}</span></div></div></div>"""

    def unreadable(self, seen: Seen) -> Answer:  # noqa: ARG002 - the same for every query
        return Answer('<div id="content_left"><div tpl="www_index"><h3><a href="javascript:;">无</a></h3></div></div>')

    @staticmethod
    def captcha(status: int = 200) -> Answer:
        """Ask for a person."""
        return Answer(
            '<!doctype html><title>百度安全验证</title><div class="passMod_dialog-wrapper">请完成下方验证</div>',
            status,
        )
