"""国家法律法规数据库: https://flk.npc.gov.cn

What is known of its wire comes from public programs that use it (since its upgrade of August 2025), which agree with
one another; nothing of it was tried by us. Not known: how fast it may be asked (429 and pages of a bot wall are
reported), and whether it answers every program. So it is asked only when it is named.
"""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from qiusuo.engines.base import Feature, HttpEngine, Joins, field_of
from qiusuo.errors import Blocked, EngineError
from qiusuo.http import Reply
from qiusuo.http.statuses import error_detail, error_for_status
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.models import Validity
from qiusuo.legal.reading.names import looks_like_law
from qiusuo.legal.reading.references import LawMention, find_references
from qiusuo.models import Query, SearchResultItem, SearchType
from qiusuo.words import Fact

# It takes these sizes of a page alone.
PAGE_SIZES = (10, 20, 30, 40, 50, 100)
IN_TITLES, IN_TEXTS = 1, 2
FUZZY = 2
STATUS = {
    "1": Validity.REPEALED.value,
    "2": Validity.AMENDED.value,
    "3": Validity.IN_FORCE.value,
    "4": Validity.NOT_YET.value,
}
_OK = 200


class FlkEngine(HttpEngine):
    """The official database of laws, regulations and interpretations: titles with their days and status, no texts."""

    name = "flk"
    label = "国家法律法规数据库"
    title = Fact("law.national")
    docs_url = "https://flk.npc.gov.cn/"
    base_url = "https://flk.npc.gov.cn"
    costs_money = False
    priority = 150
    max_results = 50
    max_query_chars = 100
    joins = Joins.NAMED
    search_types = frozenset({SearchType.REGULATION})
    requests_per_second = 1.0
    features: ClassVar = frozenset({Feature.LANGUAGE, Feature.REGION, Feature.INCLUDE_DOMAINS})

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        law = _law_of(query.own_words)
        if law:
            rows = await self._rows(law, count, IN_TITLES)
            if rows:
                return self.collect(rows, self._item, limit=count)
        rows = await self._rows(self.query_text(query), count, IN_TEXTS)
        return self.collect(rows, self._item, limit=count)

    def query_text(self, query: Query) -> str:
        # The word that is added for engines of the whole web is in every text here.
        return super().query_text(Query(query.own_words))

    async def _rows(self, words: str, count: int, place: int) -> Any:
        body = {
            "searchContent": words,
            "searchRange": place,
            "searchType": FUZZY,
            "sxx": [],
            "gbrq": [],
            "sxrq": [],
            "gbrqYear": [],
            "flfgCodeId": [],
            "zdjgCodeId": [],
            "orderByParam": {"order": "-1", "sort": ""},
            "pageNum": 1,
            "pageSize": next(size for size in PAGE_SIZES if size >= count),
        }
        data = await self.endpoint.post("/law-search/search/list", body)
        code = field_of(data, "code")
        if code not in (None, _OK, str(_OK)):  # an error that came with HTTP 200
            status = int(code) if str(code).isdecimal() else 400
            raise error_for_status(
                Reply(status, {}, b""), self.endpoint.scrub(error_detail(data)), self.name, self.endpoint.host
            )
        return field_of(data, "rows")

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        title = str(row["title"])
        status = STATUS.get(str(row.get("sxx")), "")
        facts = (
            row.get("flxz"),
            row.get("zdjgName"),
            row.get("gbrq") and f"{row['gbrq']} 公布",
            row.get("sxrq") and f"{row['sxrq']} 起施行",
            status,
        )
        address = f"{self.docs_url}detail?{urlencode({'id': str(row['bbbs'])})}"
        details = LawDetails(
            law_name=title,
            article_number="",
            content="",
            effective_date=str(row.get("sxrq") or ""),
            source=self.label,
            status=status,
            version=str(row.get("gbrq") or ""),
            url=address,
        )
        snippet = f"{title}：{'，'.join(str(fact) for fact in facts if fact)}"
        return self.item(title, address, snippet, date=row.get("gbrq"), details=details)

    def auth_headers(self, key: str) -> dict[str, str]:  # noqa: ARG002 - it knows no keys
        return {}

    def classify(self, reply: Reply, detail: str) -> EngineError | None:
        if reply.status not in {401, 403}:
            return None
        known = {"host": self.endpoint.host, "status": reply.status, "site": self.docs_url}
        fact = Fact("legal.turned_away_saying", **known, words=detail) if detail else Fact("legal.turned_away", **known)
        return Blocked(fact, engine=self.name, status=reply.status, commands=("qiusuo legal install",))


def _law_of(words: str) -> str:
    """Return the law that the words name, to be looked for in titles; empty where they are a question."""
    for reference in find_references(words, lambda _name: ()):
        if reference.mention is LawMention.UNKNOWN:  # every name is, to one without an index
            return reference.law_name
    bare = words.strip("《》 ")
    return bare if " " not in bare and looks_like_law(bare) else ""
