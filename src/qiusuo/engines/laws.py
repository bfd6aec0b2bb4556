"""The laws on this machine as an engine: regulation searches are answered without a key and without a network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from qiusuo.engines.base import EngineOptions, EngineResults, Feature, Joins, SearchEngine, Storing
from qiusuo.errors import EngineNotConfigured, SearchError, Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Query, SearchResultItem

if TYPE_CHECKING:
    from qiusuo.legal.index import IndexHandle
    from qiusuo.legal.results import RegulationResult

# What the pipeline adds to regulation queries for engines of the whole web; it only blurs a search in laws.
_ADDED_WORD = " 法律法规"


class LawsEngine(SearchEngine):
    """Articles of the legal index (``qiusuo legal install``). It knows nothing but laws."""

    name = "laws"
    label = "Laws on this machine 本地法律库"
    docs_url = "https://flk.npc.gov.cn/"
    features = frozenset({Feature.LANGUAGE, Feature.REGION, Feature.INCLUDE_DOMAINS})
    costs_money = False
    priority = 5
    storing = Storing.SHARED
    joins = Joins.NAMED

    def __init__(self, handle: IndexHandle) -> None:
        self._handle = handle

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - asks nobody
        from pathlib import Path  # noqa: PLC0415 - with the rest of legal search, loaded when used

        from qiusuo.legal.folder import IndexFolder, legal_folder  # noqa: PLC0415 - loaded when used
        from qiusuo.legal.index import IndexHandle  # noqa: PLC0415 - loaded when used

        named = options.extra.get("folder") or options.lookup("QIUSUO_LEGAL_DIR")
        handle = IndexHandle(IndexFolder(Path(str(named)).expanduser() if named else legal_folder()))
        if not handle.is_there():
            raise EngineNotConfigured(
                "There is no legal index on this machine.", engine=cls.name, fix="Run: qiusuo legal install"
            )
        return cls(handle)

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        from qiusuo.legal.regulations import RegulationSearch  # noqa: PLC0415 - loaded when used

        def look() -> list[SearchResultItem]:
            search = RegulationSearch(self._handle.get(), self._handle.today)
            answer = search.search(query.text.removesuffix(_ADDED_WORD), limit=self.count(num_results))
            found = [item for result in answer.results if (item := self._item(result)) is not None]
            return EngineResults(found, answer.notes)

        try:
            return await asyncio.to_thread(look)
        except SearchError as error:
            raise Unavailable(error.message, engine=self.name, fix=error.fix) from error

    def _item(self, result: RegulationResult) -> SearchResultItem | None:
        facts = "，".join(
            part for part in (result.status, result.effective_date and f"{result.effective_date} 起施行") if part
        )
        title = f"{result.law_name} {result.article_number}".rstrip() + (f"（{facts}）" if facts else "")
        text = " ".join(part for part in (result.content, *result.notes) if part)
        return self.item(title, result.url, text, score=result.score)
