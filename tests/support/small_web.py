"""A small web on loopback: pages about things that do not exist, and a SearXNG that finds them by their words.

A snippet is the beginning of its page, so that what stands deep in a page is known only to who reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.server import Answer, Seen

SNIPPET = 60
_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


@dataclass(frozen=True)
class SmallPage:
    """A page: its title, what stands at its beginning, and in sections what stands deeper."""

    title: str
    beginning: str
    sections: dict[str, str] = field(default_factory=dict)
    date: str = "2026-03-01"

    @property
    def html(self) -> str:
        filler = "".join(f"<p>{_FILLER[is_latin(self.title)]}</p>" for _ in range(4))
        parts = "".join(f"<h2>{head}</h2><p>{text}</p>{filler}" for head, text in self.sections.items())
        return (
            f"<!doctype html><html><head><meta charset=utf-8><title>{self.title}</title></head>"
            f"<body><article><h1>{self.title}</h1><p>{self.beginning}</p>{filler}{parts}</article></body></html>"
        )

    @property
    def snippet(self) -> str:
        return self.beginning[:SNIPPET] if not is_latin(self.title) else self.beginning[: 2 * SNIPPET]


def is_latin(text: str) -> bool:
    return text.isascii()


_FILLER = {
    False: "以下段落介绍周边的风景、气候和交通，供出行的读者参考。沿途有茶园和渡口，四季都有游人来往。",
    True: "The paragraphs around describe the scenery, the weather and the roads for those who travel there. "
    "There are meadows and ferries along the way, and people sell crafts at the market in every season.",
}

PAGES: dict[str, SmallPage] = {
    "yunling": SmallPage(
        "云岭大桥",
        "云岭大桥是云岭县境内的一座悬索桥，跨越青石江，连接东岸与西岸的两座县城，是当地的标志。",
        {
            "结构": "云岭大桥主跨长1196米，桥面宽27.5米，设双向四车道。",
            "建设": "大桥由林致远担任总设计师，历时五年建成，总投资18.6亿元。",
            "维护": "为了防止江风引起的涡振，养护单位在2024年给主梁加装了导流板，因为桥面在大风时明显起伏。",
        },
    ),
    "yunling-toll": SmallPage(
        "云岭大桥收费标准",
        "云岭大桥实行单向收费，标准由县交通局公布，节假日另有规定，详情见下文。",
        {"标准": "小客车通过云岭大桥每次收费15元，货车按轴数计费。", "免费": "春节期间七座以下小客车免收通行费。"},
    ),
    "yunling-news": SmallPage(
        "云岭大桥通车", "云岭大桥于2019年6月18日正式通车，当天有三万多人步行过桥。", date="2019-06-18"
    ),
    "yunling-diary": SmallPage(
        "云岭大桥游记", "云岭大桥于2021年9月2日正式通车，我们在桥头等了很久才过去。", date="2022-05-01"
    ),
    "qingshi": SmallPage(
        "青石隧道",
        "青石隧道位于云岭县北部，是一条公路隧道，2016年贯通。",
        {"数据": "青石隧道全长4380米，限速每小时60公里。", "收费": "青石隧道不收费，全天开放。"},
    ),
    "larkfield": SmallPage(
        "Larkfield Lighthouse",
        "Larkfield Lighthouse stands on the northern cape of Larkfield Island and has guided ships for generations.",
        {
            "Tower": "The tower of Larkfield Lighthouse is 47 metres tall and has 212 steps.",
            "History": "Larkfield Lighthouse was designed by Edith Marlowe and first lit in 1874.",
            "Access": "Larkfield Lighthouse closed to visitors in 2023 because the spiral staircase had become unsafe.",
        },
    ),
    "larkfield-tickets": SmallPage(
        "Larkfield Lighthouse tickets",
        "Tickets for Larkfield Lighthouse are sold at the harbour office on the island, next to the ferry.",
        {"Prices": "A ticket for Larkfield Lighthouse costs 12 dollars for adults and 5 dollars for children."},
    ),
    "dunmore": SmallPage(
        "Dunmore Lighthouse",
        "Dunmore Lighthouse is a small lighthouse at the mouth of the Dunmore River, south of the island.",
        {
            "Tower": "The tower of Dunmore Lighthouse is 19 metres tall.",
            "History": "Dunmore Lighthouse was lit in 1901.",
        },
    ),
}


class SmallWeb(Searxng):
    """Serves the pages, and finds them: those that share most words with a query come first."""

    def __init__(self, pages: dict[str, SmallPage] | None = None) -> None:
        self.pages = PAGES if pages is None else pages

    def answer(self, seen: Seen) -> Answer:
        if seen.path.startswith("/page/"):
            page = self.pages.get(seen.path.removeprefix("/page/"))
            return Answer(page.html) if page else Answer("<title>404</title>", 404)
        if seen.path == "/search" and seen.params.get("q"):
            shown = [] if seen.params.get("pageno", "1") != "1" else self.found(seen.params["q"], seen.headers["host"])
            return Answer({"query": seen.params["q"], "results": shown, "unresponsive_engines": []})
        return super().answer(seen)

    def found(self, query: str, host: str) -> list[dict[str, Any]]:
        words = set(_WORD.findall(query.lower()))
        shares = {name: len(words & set(_WORD.findall(_all(page)))) / len(words) for name, page in self.pages.items()}
        names = sorted((name for name in shares if shares[name] >= 0.3), key=lambda name: -shares[name])[:5]
        return [
            {
                "url": f"http://{host}/page/{name}",
                "title": self.pages[name].title,
                "content": self.pages[name].snippet,
                "publishedDate": f"{self.pages[name].date}T00:00:00",
                "engine": "small",
                "engines": ["small"],
                "score": shares[name],
                "category": "general",
            }
            for name in names
        ]


def _all(page: SmallPage) -> str:
    return " ".join([page.title, page.title, page.beginning, *page.sections, *page.sections.values()]).lower()
